#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <variant>
#include <vector>

#include "runtime/error.hpp"

namespace troupe::net {

/// When memory becomes known to devices.
enum class registration_mode : std::uint8_t {
  none,        ///< never: everything is copied through the bounce pool
  lazy,        ///< at its first use, which waits for it
  eager,       ///< when it is announced
  background,  ///< after its first use, which is copied: copy now, register later
};

/// One physical piece of memory, and which life of its addresses it is: an address that was given
/// back and allocated again has another generation, so that nothing of the old life is used.
struct segment_name {
  std::uint64_t base = 0;
  std::uint64_t generation = 0;

  friend constexpr bool operator==(const segment_name&, const segment_name&) = default;
};

/// Part of a range in one segment, under the key that the devices gave it.
struct registered_piece {
  segment_name segment;
  std::uint64_t offset = 0;  ///< in the segment
  std::uint64_t bytes = 0;
  std::uint64_t key = 0;  ///< what `segment_registered` brought

  friend constexpr bool operator==(const registered_piece&, const registered_piece&) = default;
};

// -- events ---------------------------------------------------------------------------------------

/// Physical memory [base, base + bytes) exists: an allocator said so, or whoever uses it asked the
/// system. Segments do not overlap; one virtual range may be many of them, side by side. Comes
/// before any communicator exists, too.
struct segment_announced {
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
};

/// The segment that begins at `base` is about to be unmapped. Ends in one `report_withdrawn`.
struct segment_ending {
  std::uint64_t base = 0;
};

/// Somebody wants to let a device read or write [base, base + bytes). Ends in one `use_registered`
/// or `use_bounce` with the same token, or in one `report_unusable`.
struct range_wanted {
  std::uint64_t token = 0;
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
};

/// No device uses the range of that `use_registered` any more.
struct range_done {
  std::uint64_t token = 0;
};

/// The devices know the segment; `key` is theirs.
struct segment_registered {
  segment_name segment;
  std::uint64_t key = 0;
};

/// They refused it.
struct segment_refused {
  segment_name segment;
  error cause{};
};

/// They have forgotten it.
struct segment_forgotten {
  segment_name segment;
};

using registration_event = std::variant<segment_announced, segment_ending, range_wanted, range_done,
                                        segment_registered, segment_refused, segment_forgotten>;

// -- effects --------------------------------------------------------------------------------------

/// Make the segment known to the devices, on no thread that anything waits for; answered by
/// `segment_registered` or `segment_refused`.
struct register_segment {
  segment_name segment;
  std::uint64_t bytes = 0;
};

/// Make the devices forget it, likewise; answered by `segment_forgotten`.
struct forget_segment {
  segment_name segment;
  std::uint64_t key = 0;
};

/// The range is registered: these pieces, in order. They stay so until `range_done`.
struct use_registered {
  std::uint64_t token = 0;
  std::vector<registered_piece> pieces;
};

/// The range is not registered now: copy it through the bounce pool.
struct use_bounce {
  std::uint64_t token = 0;
};

/// The range cannot be used now. `cause` is
///   bad_argument        the range is empty or its addresses wrap
///   queue_full          as many ranges wait for their registration as may
///   aborted             its memory ended while it waited
struct report_unusable {
  std::uint64_t token = 0;
  error cause{};
};

/// No device knows the segment that ended: its memory may be unmapped.
struct report_withdrawn {
  std::uint64_t base = 0;
};

using registration_effect = std::variant<register_segment, forget_segment, use_registered,
                                         use_bounce, report_unusable, report_withdrawn>;

using registration_effects = std::vector<registration_effect>;

// -- the machine ----------------------------------------------------------------------------------

struct registration_options {
  registration_mode mode = registration_mode::background;
  std::uint64_t bytes_max = 1ull << 40;  ///< registered at once; beyond it ranges are copied
  std::uint32_t at_once = 2;             ///< registrations under way; the others wait in order
  std::uint32_t waiting_max = 1024;      ///< ranges that wait (mode lazy)
};

/// What the machine did, for metrics.
struct registration_counters {
  std::uint64_t registered_bytes = 0;  ///< now
  std::uint64_t registered_count = 0;  ///< segments, now
  std::uint64_t registrations_total = 0;
  std::uint64_t refusals_total = 0;
  std::uint64_t forgotten_total = 0;
  std::uint64_t hits_total = 0;    ///< ranges that were registered when they were wanted
  std::uint64_t misses_total = 0;  ///< ranges that were copied, or waited
  std::uint64_t stale_dropped = 0;
};

/// Which memory the devices of this process know, shared by all communicators of it.
///
/// A range is usable when every segment that it touches is registered; the pieces name each. Work
/// on one segment never waits for another: a segment that ends waits for its own uses and its own
/// registration alone.
struct registration_state {
  explicit registration_state(const registration_options& from) : options(from) {}

  enum class phase : std::uint8_t { known, queued, registering, registered, forgetting, refused };

  struct segment {
    std::uint64_t bytes = 0;
    std::uint64_t generation = 0;
    std::uint64_t key = 0;
    std::uint32_t uses = 0;
    phase now = phase::known;
    bool ending = false;
  };

  struct waiting_range {
    std::uint64_t token = 0;
    std::uint64_t base = 0;
    std::uint64_t bytes = 0;
  };

  registration_options options;
  registration_counters counters;
  std::map<std::uint64_t, segment> segments;  ///< by base
  std::deque<segment_name> queue;             ///< to be registered, in order
  std::uint32_t under_way = 0;
  std::uint64_t next_generation = 1;
  std::deque<waiting_range> waiting;                        ///< mode lazy
  std::map<std::uint64_t, std::vector<segment_name>> uses;  ///< by token
};

/// Total: every event is defined in every state (table in docs/protocols/registration.md).
/// Cost:   O(log segments + pieces) an event. It allocates: what it works on changes with an
///         allocator's segments and not with operations.
/// Bound:  `waiting` has at most `waiting_max` entries, `queue` one for each segment.
void step(registration_state& state, const registration_event& event, registration_effects& out);

}  // namespace troupe::net
