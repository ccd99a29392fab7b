#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "net/link/control_stream.hpp"
#include "net/link/eager_slots.hpp"
#include "net/link/flight_window.hpp"
#include "net/link/lane_set.hpp"
#include "net/link/link_counters.hpp"
#include "net/link/link_options.hpp"
#include "net/link/operation_memory.hpp"
#include "net/link/receive_window.hpp"
#include "net/link/send_window.hpp"
#include "net/link/transfer_table.hpp"
#include "net/wire/control_wire.hpp"
#include "runtime/error.hpp"
#include "runtime/instant.hpp"

namespace troupe::net {

/// Effects of one step at most. Chosen: a full lane of 32 writes and what goes with them fits in
/// one step; more work ends the step in `resume_soon`.
inline constexpr std::size_t link_effects_max = 64;

/// What the peer was told of what we have, and when it must be told more.
struct acknowledgement_ledger {
  std::uint32_t told_control = 0;
  sequence told_data;
  std::uint32_t told_consumed = 0;
  instant deadline = never;
  bool at_once = false;
};

/// Channels of our puts. A channel is free again when the peer has every write on it and has
/// processed its `begin`.
struct put_channels {
  std::uint64_t free = ~0ull;
  std::uint64_t closing = 0;  ///< all writes done, `begin` not yet acknowledged
  std::array<std::uint32_t, channel_count> begin_number{};
};

/// One channel of the peer's puts, between two notifications on it.
struct accept_channel {
  bool begun = false;                 ///< `begin` arrived
  bool ended = false;                 ///< the notification was released
  bool refused = false;               ///< some write was refused
  std::uint32_t transfer = no_index;  ///< none: nobody wants it any more
  std::uint64_t bytes = 0;            ///< that landed
};

/// Bytes of segments in flight, and what the tier allows.
struct budget_account {
  std::uint64_t granted = 0;
  std::uint64_t used = 0;
  std::uint64_t requested = 0;  ///< asked for and not yet granted
  bool capped = true;
  instant idle_deadline = never;

  std::uint64_t available() const {
    if (!capped) return ~0ull;
    return granted > used ? granted - used : 0;
  }
};

/// Notices of the owner that wait for room in the control stream.
struct notice_queue {
  struct entry {
    std::uint16_t length = 0;
    std::array<std::byte, notice_bytes_max> bytes{};
  };
  std::pmr::vector<entry> entries;
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// Cancelled puts whose sources lanes still read.
struct held_puts {
  std::uint32_t count = 0;
  instant since{};  ///< when the last of them was cancelled
};

/// Clock readings.
struct link_clock {
  instant last_heard{};
  instant last_sent{};
  instant control_progress{};     ///< last acknowledgement of a control message, or first one due
  bool control_waits = false;     ///< the peer owes an answer
  instant control_moved{};        ///< the stream came to its lane
  instant data_progress{};        ///< last acknowledgement of a write
  bool probed = false;            ///< the peer was asked for one since, or
  bool probe_due = false;         ///< will be when the control stream has room
  instant starved_since = never;  ///< eager puts wait for credit and the peer does not know
  instant patience_until{};       ///< we slept: give up nothing before
  instant armed = never;
  std::uint64_t generation = 0;
  bool started = false;  ///< the first lane was opened
};

/// The connection of two ranks, as a value: what `step` works on. Everything is reserved here.
/// Not for the driver to touch, but to read (`counters`).
struct link_state {
  /// `options` passed `check`. All that the state holds beyond itself comes from `memory`.
  explicit link_state(const link_options& options,
                      std::pmr::memory_resource* memory = std::pmr::get_default_resource());

  link_options options;
  link_counters counters;

  lane_set lanes;
  control_stream control;
  send_window sending;
  segment_chain repeats;  ///< writes to be posted again
  receive_window receiving;
  transfer_table transfers;
  eager_sender eager_out;
  eager_receiver eager_in;
  parking_lot parking;
  std::pmr::vector<std::uint32_t> slot_transfers;  ///< by slot: the early message left in it
  std::uint32_t left_in_slots = 0;
  std::uint64_t declines = 0;  ///< bit per slot: a grant of it is to be declined
  put_channels channels_out;
  std::array<accept_channel, channel_count> channels_in{};
  operation_memory memory;
  budget_account budget;
  flight_window window;
  held_puts held;
  acknowledgement_ledger acks;
  notice_queue notices;
  link_clock clock;

  std::uint64_t peer_eager_key = 0;
  instant report_unmatched_before{};  ///< the last `unmatched_requested`
  bool lost = false;
  bool lost_reported = false;
  error lost_cause{};
};

}  // namespace troupe::net
