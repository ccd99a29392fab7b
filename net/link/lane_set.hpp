#pragma once

#include <array>
#include <cstdint>

#include "net/link/send_window.hpp"
#include "net/wire/control_wire.hpp"
#include "runtime/instant.hpp"

namespace troupe::net {

inline constexpr std::uint8_t no_lane = 0xff;

/// What a data lane has in flight, beside its depth, when it takes no more; the last write may go
/// beyond `bytes`.
struct lane_limits {
  std::uint32_t write_count = 0;
  std::uint64_t bytes = 0;
};

/// One lane as this side sees it. It may be opened and lost many times; each life has a number on
/// either side (`generation`, `peer_generation`), told in the hello that opens it.
struct lane_record {
  // this life
  bool open = false;
  bool greeted = false;  ///< the peer's hello of this life arrived
  std::uint32_t depth = 0;
  std::uint32_t generation = 0;       ///< openings seen here
  std::uint32_t peer_generation = 0;  ///< openings seen there, as the last hello said
  instant opened_at{};
  instant progressed_at{};  ///< last completion
  std::uint32_t writes_in_flight = 0;
  std::uint64_t bytes_in_flight = 0;  ///< of segments
  segment_chain unfinished;           ///< oldest first
  std::uint32_t messages_posted = 0;
  std::uint32_t messages_consumed = 0;  ///< of those, how many the peer has for certain

  // the last life that ended with writes of ours in it: which of them arrived?
  bool awaiting_fence = false;
  std::uint32_t fence_generation = 0;       ///< ours
  std::uint32_t fence_peer_generation = 0;  ///< theirs: any later end of theirs answers too
  sequence fence_cursor;                    ///< writes before it are settled

  // the last life that ended: what of the peer's writes arrived, still to be told
  bool telling_fence = false;
  std::uint32_t told_generation = 0;
  std::uint32_t told_peer_generation = 0;
  bool page_sent = false;
  sequence page_cursor;

  bool has_message_place() const { return open && messages_posted - messages_consumed < depth; }

  /// May carry writes: both ends know this life, and every write of earlier ones is settled.
  bool usable() const { return open && greeted && !awaiting_fence; }
  bool has_room() const { return usable() && writes_in_flight < depth; }
  bool has_room(const lane_limits& limits) const {
    return has_room() && writes_in_flight < limits.write_count && bytes_in_flight < limits.bytes;
  }
};

/// The lanes of a link and which of them carries the control stream.
struct lane_set {
  std::array<lane_record, lane_count_max> records{};
  std::uint8_t count = 0;                ///< control lane included
  std::uint8_t control = no_lane;        ///< carries the control stream
  std::uint8_t next_data = 1;            ///< round robin
  std::uint32_t control_generation = 0;  ///< life of that lane
  bool reset_due = false;  ///< the stream fled a lane: say first which are closed here

  lane_record& operator[](std::uint8_t lane) { return records[lane]; }
  const lane_record& operator[](std::uint8_t lane) const { return records[lane]; }

  bool any_open() const;

  /// Lowest lane for control messages after a loss: one both ends know, else one that is open.
  std::uint8_t lowest_for_control() const;

  /// Lowest lane that both ends know; `no_lane` if none.
  std::uint8_t lowest_greeted() const;

  /// Lane for an eager write: the lowest with room, since bulk fills the others first.
  std::uint8_t pick_for_eager() const;

  /// Lane for a segment: the data lanes with room in turn; the control lane only if no data lane
  /// is usable.
  std::uint8_t pick_for_data(const lane_limits& limits);
};

}  // namespace troupe::net
