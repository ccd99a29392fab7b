#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "tests/conformance/faulty_lane.hpp"

namespace troupe::conformance {

namespace {

// A network with a bug around one without; its lanes are faulty ones.
class faulty_network final : public lane_network {
 public:
  faulty_network(lane_network& inner, bug_state& state, int side)
      : inner_(inner),
        state_(state),
        side_(side),
        deaf_(::eventfd(0, EFD_CLOEXEC)),
        noisy_(::eventfd(1, EFD_CLOEXEC)) {}
  ~faulty_network() override {
    ::close(deaf_);
    ::close(noisy_);
  }

  lane_kind kind() const override { return inner_.kind(); }
  lane_address address() const override { return inner_.address(); }

  void dial(const lane_address& to, std::uint64_t context, instant deadline) override {
    if (state_.is(lane_bug::forgets_dial_deadlines)) deadline = never;
    if (state_.is(lane_bug::ends_dials_early))
      deadline = state_.world->now() + (deadline - state_.world->now()) / 2;
    inner_.dial(to, context, deadline);
  }

  void cancel_dial(std::uint64_t context) override {
    if (!state_.is(lane_bug::ignores_cancel)) inner_.cancel_dial(context);
  }

  std::size_t poll(instant now, std::span<network_event> out) override;
  instant next_deadline() const override { return inner_.next_deadline(); }
  instant prepare_to_wait() override { return inner_.prepare_to_wait(); }

  int wait_descriptor() const override {
    if (state_.is(lane_bug::waits_on_a_deaf_descriptor)) return deaf_;
    if (state_.is(lane_bug::waits_on_a_noisy_descriptor)) return noisy_;
    return inner_.wait_descriptor();
  }

  std::uint64_t refused_total() const override { return inner_.refused_total(); }

 private:
  bool keep(network_event& event, instant now);
  bool keep_failure(network_event& event, instant now);
  bool keep_ready(network_event& event);

  lane_network& inner_;
  bug_state& state_;
  int side_;
  int deaf_;
  int noisy_;
  std::set<lane*> announced_;
  std::deque<network_event> later_;
  instant not_before_{};
};

std::size_t faulty_network::poll(instant now, std::span<network_event> out) {
  const auto polled = inner_.poll(now, out);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < polled; ++i) {
    if (!keep(out[i], now)) continue;
    if (kept != i) out[kept] = std::move(out[i]);
    ++kept;
  }
  for (; kept < out.size() && !later_.empty() && now >= not_before_; ++kept) {
    out[kept] = std::move(later_.front());
    later_.pop_front();
  }
  for (auto* lane : state_.lanes[side_])
    if (kept < out.size() && lane->has_more())
      out[kept++] = {.what = network_event::kind::lane_ready, .ready = lane};
  return kept;
}

bool faulty_network::keep(network_event& event, instant now) {
  if (event.what == network_event::kind::lane_ready) return keep_ready(event);
  if (event.what == network_event::kind::dial_failed) return keep_failure(event, now);
  event.opened = std::make_unique<faulty_lane>(std::move(event.opened), state_, side_);
  return true;
}

bool faulty_network::keep_ready(network_event& event) {
  auto* const lane = reinterpret_cast<faulty_lane*>(event.ready->tag());
  event.ready = lane;
  if (lane->is_closed()) {
    lane->drain();
    return false;
  }
  return !state_.is(lane_bug::announces_once) || announced_.insert(lane).second;
}

bool faulty_network::keep_failure(network_event& event, instant now) {
  if (state_.is(lane_bug::hides_failed_dials)) return false;
  if (state_.is(lane_bug::changes_dial_context)) ++event.context;
  if (state_.is(lane_bug::changes_dial_cause)) event.cause = {errc::internal_failure};
  if (state_.is(lane_bug::repeats_failed_dials))
    later_.push_back({.what = event.what, .context = event.context, .cause = event.cause});
  if (!state_.is(lane_bug::says_failed_dials_late)) return true;
  not_before_ = now + std::chrono::milliseconds(500);
  later_.push_back(std::move(event));
  return false;
}

}  // namespace

faulty_world::faulty_world(lane_world& inner, planted_bug bug) : inner_(inner) {
  state_.bug = bug;
  state_.world = &inner;
  for (int side = 0; side < 2; ++side)
    networks_[side] = std::make_unique<faulty_network>(inner.network(side), state_, side);
}

faulty_world::~faulty_world() = default;

}  // namespace troupe::conformance
