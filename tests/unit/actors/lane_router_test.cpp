#define BOOST_TEST_MODULE lane_router
#include <boost/test/unit_test.hpp>

#include "actors/endpoint/lane_router.hpp"

namespace troupe::actors {
namespace {

class noted_lane final : public lane {
 public:
  explicit noted_lane(bool& ended) : ended_(ended) {}
  ~noted_lane() override { ended_ = true; }

  lane_kind kind() const override { return lane_kind::fabric; }
  std::uint32_t depth() const override { return 1; }
  post_status post_write(const lane_write&) override { return post_status::lost; }
  post_status post_message(std::span<const std::byte>) override { return post_status::lost; }
  std::size_t poll(std::span<lane_event>) override { return 0; }
  void close() override {}
  std::string describe() const override { return "noted"; }

 private:
  bool& ended_;
};

/// Notes at its turn whether a lane had ended.
class onlooker final : public lane_owner {
 public:
  explicit onlooker(const bool& ended) : ended_(ended) {}
  void on_lane_ready(lane&) override { seen_ = ended_ ? "ended" : "alive"; }
  const std::string& seen() const { return seen_; }

 private:
  const bool& ended_;
  std::string seen_ = "not asked";
};

/// Shows one accepted lane, and in the same batch that another one is ready.
class one_guest_network final : public lane_network {
 public:
  one_guest_network(bool& ended, lane* resident)
      : guest_(std::make_unique<noted_lane>(ended)), resident_(resident) {}

  lane_kind kind() const override { return lane_kind::fabric; }
  lane_address address() const override { return {}; }
  void dial(const lane_address&, std::uint64_t, instant) override {}
  void cancel_dial(std::uint64_t) override {}
  std::size_t poll(instant, std::span<network_event> out) override {
    if (guest_ == nullptr) return 0;
    out[0] = {.what = network_event::kind::accepted, .opened = std::move(guest_)};
    out[1] = {.what = network_event::kind::lane_ready, .ready = resident_};
    return 2;
  }
  instant next_deadline() const override { return never; }
  int wait_descriptor() const override { return -1; }
  std::uint64_t refused_total() const override { return 0; }

 private:
  std::unique_ptr<lane> guest_;
  lane* resident_;
};

BOOST_AUTO_TEST_CASE(a_lane_that_nobody_takes_ends_with_the_poll_that_showed_it_after_its_batch) {
  bool ended = false;
  bool resident_ended = false;
  noted_lane resident(resident_ended);
  onlooker later(ended);
  lane_router::set_owner(resident, &later);
  one_guest_network network(ended, &resident);
  lane_router router(network);
  BOOST_TEST(router.poll(instant{}));
  BOOST_TEST(later.seen() == "alive");
  BOOST_TEST(ended);
}

}  // namespace
}  // namespace troupe::actors
