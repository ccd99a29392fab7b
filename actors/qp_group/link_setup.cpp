#include "actors/qp_group/link_setup.hpp"

#include <algorithm>

#include "config/tier_options.hpp"

namespace troupe::actors {

namespace {

// Bytes that a link with an adapting window begins with, and never goes below. Chosen: the start
// takes five round trips to the bytes of a whole tier, and that many links that start at once are
// together no more than what one of them may have; below the floor a write costs more than it
// moves.
constexpr std::uint64_t start_share = 64;
constexpr std::uint64_t window_floor_bytes = 32 * 1024;

// Completions of these lanes say that the bytes are in the peer's memory, so that their latency is
// that of the network.
bool completes_on_arrival(lane_kind kind) {
  return kind == lane_kind::verbs || kind == lane_kind::fabric;
}

void set_tier_limits(net::link_options& out, const config::options& all, tier distance,
                     lane_kind lanes) {
  const auto& limits = config::limits_of(all, distance);
  out.cut_bytes = std::min(limits.segment_bytes, all.transport.segment_bytes);
  out.budget_capped = limits.cap != "off";
  out.budget_lease_bytes = config::lease_bytes_of(all, distance);
  out.budget_write_bytes_min = limits.bytes / limits.write_count;
  out.lane_bytes_max = config::lane_bytes_of(all, distance);
  out.lane_write_count_max = limits.lane_write_count;
  if (limits.cap != "adaptive" || !completes_on_arrival(lanes)) return;
  // Eight writes fill a window, however small it is: their number needs no limit of its own.
  out.budget_write_bytes_min = 0;
  out.window = {.adapts = true,
                .start_bytes = std::max(limits.bytes / start_share, window_floor_bytes),
                .floor_bytes = window_floor_bytes,
                .ceiling_bytes = config::most_bytes_of(limits)};
}

}  // namespace

net::link_options make_link_options(const config::options& all, rank peer, tier distance,
                                    lane_kind lanes) {
  net::link_options out;
  const auto& transport = all.transport;
  out.peer = peer;
  out.data_lane_count = transport.data_lane_count;
  out.segment_bytes = transport.segment_bytes;
  out.eager_bytes_max = transport.eager_bytes;
  out.eager_slot_count = transport.eager_slot_count;
  out.window_segment_count = transport.window_segment_count;
  out.transfer_count_max = transport.transfer_count;
  out.parked_bytes_max = transport.parked_bytes;
  out.write_timeout = transport.write_timeout;
  out.ack_delay = transport.ack_delay;
  out.heartbeat_interval = transport.heartbeat_interval;
  out.silence_timeout = transport.silence_timeout;
  set_tier_limits(out, all, distance, lanes);
  return out;
}

}  // namespace troupe::actors
