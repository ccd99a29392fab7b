#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/buffer_table.hpp"
#include "runtime/lane.hpp"
#include "tests/conformance/lane_world.hpp"

namespace troupe::conformance {

/// What the cases write: the byte at `position` of the text with number `text`.
constexpr std::byte pattern(std::uint64_t text, std::uint64_t position) {
  return static_cast<std::byte>(position * 131 + (position >> 8) * 7 + text * 17 + 1);
}

/// An event as it is remembered: the message is a copy.
struct seen_event {
  lane_event::kind what = lane_event::kind::lane_lost;
  std::uint32_t immediate = 0;
  std::uint64_t bytes = 0;
  std::uint64_t context = 0;
  std::vector<std::byte> message;
  error cause{};
};

/// Lanes between the two endpoints of a world, memory at both, and everything that was polled.
/// Endpoint 0 dials.
class lane_pair {
 public:
  /// `memory_bytes` of source and of exposed target at each endpoint; the target is filled with
  /// `untouched`, the source with text 0.
  explicit lane_pair(lane_world& world, std::uint64_t memory_bytes = 256 * 1024);
  ~lane_pair();
  lane_pair(const lane_pair&) = delete;
  lane_pair& operator=(const lane_pair&) = delete;

  static constexpr std::byte untouched{0xee};

  /// Opens `count` lanes. False if they do not stand within the world's patience.
  bool connect(std::size_t count = 1);

  lane_world& world() { return world_; }
  lane& at(int side, std::size_t index = 0) { return *side_[side].lanes[index]; }
  void destroy(int side, std::size_t index) { side_[side].lanes[index].reset(); }

  // Memory.
  std::vector<std::byte>& source(int side) { return side_[side].source; }
  std::vector<std::byte>& target(int side) { return side_[side].target; }
  std::uint64_t key(int side) const { return side_[side].key; }
  void restore_source(int side);  ///< makes it known again after a case released it
  void withdraw(int side) { world_.buffers(side).withdraw(side_[side].key); }
  void fill_source(int side, std::uint64_t text, std::uint64_t offset, std::uint64_t bytes);
  bool target_holds(int side, std::uint64_t text, std::uint64_t offset, std::uint64_t bytes) const;
  bool target_untouched(int side, std::uint64_t offset, std::uint64_t bytes) const;

  /// Bytes [offset, offset + bytes) of the source, to the same place in the peer's target.
  lane_write write(int side, std::uint64_t offset, std::uint64_t bytes, std::uint32_t immediate,
                   std::uint64_t context = 0) const;

  // Time. `pump` polls both endpoints once and says whether anything happened.
  bool pump();
  bool wait_until(const std::function<bool()>& done);
  void be_quiet();

  /// Polls lane `index` of `side` dry, whether it was announced or not.
  void poll_dry(int side, std::size_t index);

  // What was polled.
  std::vector<seen_event>& log(int side, std::size_t index = 0) { return side_[side].logs[index]; }
  std::size_t count(int side, lane_event::kind what, std::size_t index = 0) const;
  std::size_t total(int side, lane_event::kind what) const {
    return side_[side].totals[static_cast<std::size_t>(what)];
  }
  std::vector<network_event>& dial_events() { return dial_events_; }
  std::size_t accepted() const { return side_[1].lanes.size(); }

  /// Called with every event before it is remembered.
  std::function<void(int side, std::size_t index, const lane_event&)> observer;

  /// Events a lane is asked for in one call; 0: any number, until nothing comes.
  bool polls_one_event_per_announcement = false;
  bool remembers = true;
  std::array<bool, 2> sleeps{};  ///< this endpoint is not polled

 private:
  struct endpoint {
    std::vector<std::byte> source;
    std::vector<std::byte> target;
    buffer_view source_view;
    buffer_view target_view;
    std::uint64_t key = 0;
    std::vector<std::unique_ptr<lane>> lanes;
    std::vector<std::vector<seen_event>> logs;
    std::array<std::size_t, 5> totals{};
  };

  void take(int side, network_event& event);
  std::size_t poll_once(int side, std::size_t index, std::size_t events_max);

  lane_world& world_;
  std::array<endpoint, 2> side_;
  std::vector<network_event> dial_events_;
};

}  // namespace troupe::conformance
