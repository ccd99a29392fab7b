#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/buffer_table.hpp"
#include "runtime/lane.hpp"
#include "tests/conformance/lane_world.hpp"

namespace troupe::conformance {

/// Bugs a lane or a network could have. The suite must see each.
enum class lane_bug : std::uint8_t {
  none,
  // Frames on their way.
  drops_write,
  drops_message,
  drops_empty_frames,
  swaps_two_frames,
  repeats_write,
  repeats_message,
  corrupts_write,
  corrupts_message,
  truncates_long_messages,
  tells_before_bytes_are_there,
  clears_top_bit_of_immediates,
  mixes_two_lanes,
  // Completions and bounds.
  loses_completion,
  repeats_completion,
  changes_context,
  completes_before_reading,
  takes_more_than_depth,
  is_full_too_early,
  takes_what_it_refuses,
  forgets_what_it_takes_when_full,
  stays_full,
  allocates,
  // Refusals.
  shows_refused_as_arrived,
  writes_though_refused,
  dies_of_a_refusal,
  forgets_refusals,
  // Ends.
  hides_its_end,
  ends_twice,
  speaks_after_its_end,
  ends_without_cause,
  takes_after_its_end,
  speaks_after_close,
  writes_after_close,
  drops_the_last_message_on_close,
  // The network.
  announces_once,
  hides_failed_dials,
  repeats_failed_dials,
  changes_dial_context,
  changes_dial_cause,
  says_failed_dials_late,
  ends_dials_early,
  forgets_dial_deadlines,
  ignores_cancel,
  waits_on_a_deaf_descriptor,
  waits_on_a_noisy_descriptor,
};

/// A bug and when it strikes: the nth time it could, once; bugs that are a way of being (such as
/// `stays_full`) from then on.
struct planted_bug {
  lane_bug what = lane_bug::none;
  std::uint32_t nth = 1;
};

class faulty_lane;

/// What the faulty lanes of a world share.
struct bug_state {
  planted_bug bug;
  std::uint32_t chances = 0;
  std::byte* target_memory = nullptr;  ///< of the last write that had a live key
  std::vector<faulty_lane*> lanes[2];
  lane_world* world = nullptr;

  bool is(lane_bug what) const { return bug.what == what; }
  bool strikes(lane_bug what) { return is(what) && ++chances == bug.nth; }
  bool strikes_from_now_on(lane_bug what) { return is(what) && ++chances >= bug.nth; }
};

/// A lane with a bug around one without.
class faulty_lane final : public lane {
 public:
  faulty_lane(std::unique_ptr<lane> inner, bug_state& state, int side);
  ~faulty_lane() override;
  faulty_lane(const faulty_lane&) = delete;
  faulty_lane& operator=(const faulty_lane&) = delete;

  lane_kind kind() const override { return inner_->kind(); }
  std::uint32_t depth() const override { return inner_->depth(); }
  post_status post_write(const lane_write& write) override;
  post_status post_message(std::span<const std::byte> message) override;
  std::size_t poll(std::span<lane_event> out) override;
  void close() override;
  std::string describe() const override { return "faulty " + inner_->describe(); }

  bool has_more() const { return !extra_.empty() && !closed_; }
  bool is_closed() const { return closed_; }
  void drain();

 private:
  struct kept_message {
    std::vector<std::byte> bytes;
  };

  void remember_target(const lane_write& write);
  post_status when_full(const lane_write& write);
  void complete(std::uint64_t context);
  void post_held();
  void post_delayed();
  bool keep(lane_event& event);
  bool keep_ending(lane_event& event);
  std::size_t poll_neighbour(std::span<lane_event> out);

  std::unique_ptr<lane> inner_;
  bug_state& state_;
  int side_;
  bool closed_ = false;
  bool spoke_after_close_ = false;
  std::deque<lane_event> extra_;
  std::deque<lane_write> delayed_;
  std::optional<lane_write> held_write_;
  std::optional<kept_message> held_message_;
};

/// A world whose lanes and networks have a bug.
class faulty_world final : public lane_world {
 public:
  faulty_world(lane_world& inner, planted_bug bug);
  ~faulty_world() override;

  lane_kind kind() const override { return inner_.kind(); }
  lane_network& network(int side) override { return *networks_[side]; }
  buffer_table& buffers(int side) override { return inner_.buffers(side); }
  instant now() override { return inner_.now(); }
  void wait(instant until) override { inner_.wait(until); }
  lane_address nobody() override { return inner_.nobody(); }
  lane_address silence() override { return inner_.silence(); }
  std::uint64_t large_bytes() const override {
    return std::min<std::uint64_t>(inner_.large_bytes(), 16ull << 20);
  }
  duration patience() const override { return std::chrono::seconds(1); }
  duration quiet() const override { return inner_.quiet(); }

  lane_world& inner() { return inner_; }

 private:
  lane_world& inner_;
  bug_state state_;
  std::unique_ptr<lane_network> networks_[2];
};

}  // namespace troupe::conformance
