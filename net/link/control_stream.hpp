#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "net/wire/control_wire.hpp"

namespace troupe::net {

/// Control messages of both directions: ours in a ring until the peer has them, the peer's by the
/// number that comes next.
///
/// Bound:  at most `limit` of ours are unacknowledged. The last place is kept for an
///         acknowledgement of something new, so that two full rings cannot wait for each other.
/// Moving: on another lane everything unacknowledged is posted again from the oldest; a lane
///         carries an unbroken run of numbers, so the peer sees repetitions but never a gap.
class control_stream {
 public:
  enum class verdict : std::uint8_t { fresh, duplicate, gap };

  struct frame {
    control_kind kind = control_kind::acknowledge;
    std::uint8_t lane = 0;  ///< where it was posted last
    bool posted = false;
    bool posted_elsewhere = false;  ///< also on another lane: its ack proves nothing about this one
    std::uint16_t length = 0;
    std::uint32_t lane_place = 0;  ///< how many messages were posted on the lane up to it
    std::array<std::byte, control_body_bytes_max> body{};
  };

  control_stream(std::uint32_t limit, std::uint32_t first_number,
                 std::pmr::memory_resource* memory = std::pmr::get_default_resource());

  std::uint32_t limit() const { return limit_; }

  // -- ours
  std::uint32_t outstanding() const { return end_ - base_; }
  bool settled() const { return base_ == end_; }
  std::uint32_t base() const { return base_; }
  std::uint32_t end() const { return end_; }

  /// Places for messages that are more than an acknowledgement.
  std::uint32_t room() const;
  bool has_room() const { return room() > 0; }

  /// Room for an acknowledgement that may say nothing new (`false`) or acknowledges a message.
  bool has_room_to_acknowledge(bool new_to_peer) const;

  /// Takes the message into the ring and returns its number.
  std::uint32_t append(const control_body& body);

  bool has_unposted() const { return cursor_ != end_; }
  std::uint32_t unposted_number() const { return cursor_; }
  frame& unposted() { return at(cursor_); }
  void note_posted();

  /// The stream goes on over another lane: everything unacknowledged is to be posted again.
  void move();

  /// True if the peer owes an answer: it acknowledges within its delay whatever is more than an
  /// acknowledgement, and at once when it has taken `answered_count` messages of any kind.
  bool awaits_answer() const { return answerable_ > 0 || outstanding() >= answered_count(); }
  std::uint32_t answered_count() const { return limit_ / 2; }

  /// Messages under way that are more than acknowledgements.
  std::uint32_t answerable() const { return answerable_; }

  /// True if the peer has the message with this number of ours.
  bool has_reached(std::uint32_t number) const {
    return static_cast<std::int32_t>(base_ - number) > 0;
  }

  frame& at(std::uint32_t number) { return ring_[number % ring_.size()]; }

  /// The peer has everything before `number`. False if that cannot be: it was never posted.
  bool acknowledge(std::uint32_t number);

  // -- the peer's
  std::uint32_t expected() const { return expected_; }
  verdict receive(std::uint32_t number);

 private:
  std::uint32_t limit_;
  std::uint32_t base_;
  std::uint32_t cursor_;
  std::uint32_t end_;
  std::uint32_t highest_posted_;  ///< one past the highest number ever posted
  std::uint32_t answerable_ = 0;
  std::uint32_t expected_;
  std::pmr::vector<frame> ring_;
};

/// Largest `limit`. Chosen: one round trip of 50 us then carries 640,000 messages a second.
inline constexpr std::uint32_t control_limit_max = 32;

/// `limit` for lanes of at least `lane_depth`. A lane that takes the stream over may hold as many
/// repetitions as new messages, one hello and one reset.
constexpr std::uint32_t control_limit(std::uint32_t lane_depth) {
  const auto half = (lane_depth - 2) / 2;
  return half < control_limit_max ? half : control_limit_max;
}

}  // namespace troupe::net
