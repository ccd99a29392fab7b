#pragma once

#include <cstdint>

namespace troupe::net {

/// What a link did since it began. Read by metrics; the machine itself decides nothing by them.
struct link_counters {
  // bytes and writes
  std::uint64_t segments_sent = 0;  ///< rendezvous writes posted first time
  std::uint64_t segment_bytes_sent = 0;
  std::uint64_t segments_received = 0;  ///< rendezvous writes that arrived, duplicates not
  std::uint64_t segment_bytes_received = 0;
  std::uint64_t segments_refused = 0;  ///< arrived under a dead key: nothing was written
  std::uint64_t eager_sent = 0;
  std::uint64_t eager_bytes_sent = 0;  ///< payload
  std::uint64_t eager_received = 0;
  std::uint64_t eager_bytes_received = 0;
  std::uint64_t eager_parked = 0;        ///< arrived before their accept and were set aside
  std::uint64_t eager_left_in_slot = 0;  ///< arrived before their accept, no parking place
  std::uint64_t retransmitted = 0;       ///< writes posted again after a lane was lost
  // transfers
  std::uint64_t puts_finished = 0;  ///< reported without error
  std::uint64_t accepts_finished = 0;
  std::uint64_t transfers_mismatched = 0;
  std::uint64_t transfers_aborted = 0;    ///< the peer's operation ended early
  std::uint64_t transfers_cancelled = 0;  ///< ours did, or its epoch
  std::uint64_t transfers_lost = 0;       ///< ended with peer_lost
  std::uint64_t transfers_rejected = 0;   ///< more pending than `transfer_count_max`, or bad
  // control
  std::uint64_t control_sent = 0;  ///< messages posted, all kinds, repetitions too
  std::uint64_t control_received = 0;
  std::uint64_t control_repeated = 0;  ///< posted again on another lane
  std::uint64_t acks_sent = 0;         ///< messages that carry nothing else
  std::uint64_t heartbeats_sent = 0;
  std::uint64_t probes_sent = 0;  ///< writes were not acknowledged for a timeout
  std::uint64_t requests_sent = 0;
  std::uint64_t grants_sent = 0;
  std::uint64_t notices_sent = 0;
  std::uint64_t notices_received = 0;
  std::uint64_t notices_rejected = 0;  ///< no room: the owner did not ask `notice_room`
  // what was thrown away
  std::uint64_t duplicates_dropped = 0;  ///< writes
  std::uint64_t control_duplicates_dropped = 0;
  std::uint64_t beyond_window_dropped = 0;
  std::uint64_t stale_epoch_dropped = 0;      ///< messages and transfers of an older epoch
  std::uint64_t stale_operation_dropped = 0;  ///< of an operation that was cancelled
  std::uint64_t stale_lane_dropped = 0;       ///< events of a lane that is closed
  std::uint64_t cancels_forgotten = 0;  ///< cancelled operations that the peer was not told of
  // lanes
  std::uint64_t lanes_opened = 0;
  std::uint64_t lanes_rebuilt = 0;   ///< of those, in place of one that died
  std::uint64_t lanes_rejected = 0;  ///< too shallow, or no such lane
  std::uint64_t lane_failures = 0;   ///< the lane said so
  std::uint64_t lanes_given_up = 0;  ///< we closed it: timeout, or the peer closed its end
  std::uint64_t control_moves = 0;   ///< the control stream changed its lane
  // budget
  std::uint64_t budget_requests = 0;
};

}  // namespace troupe::net
