#include "net/link/link_options.hpp"

#include <algorithm>
#include <bit>

namespace troupe::net {

namespace {

constexpr std::uint64_t cache_line_bytes = 64;
constexpr std::uint64_t write_bytes_max = 1ull << 30;

// Chosen: one in eight, at least one. Granted slots are the slow way out, one round trip each.
constexpr std::uint32_t granted_share = 8;

// Chosen: bounds the table of places when eager transfers are tiny.
constexpr std::uint64_t parking_place_count_max = 1024;

}  // namespace

std::uint64_t eager_slot_bytes(const link_options& options) {
  const auto bytes = eager_header_bytes + options.eager_bytes_max;
  return (bytes + cache_line_bytes - 1) / cache_line_bytes * cache_line_bytes;
}

std::uint64_t eager_ring_bytes(const link_options& options) {
  return eager_slot_bytes(options) * options.eager_slot_count;
}

std::uint32_t granted_slot_count(const link_options& options) {
  return std::max(1u, options.eager_slot_count / granted_share);
}

std::uint32_t parking_place_count(const link_options& options) {
  const auto places =
      options.parked_bytes_max / std::max<std::uint64_t>(1, options.eager_bytes_max);
  return static_cast<std::uint32_t>(std::min(places, parking_place_count_max));
}

result<void> check(const link_options& o) {
  const bool lanes_good = o.data_lane_count >= 1 && o.data_lane_count < lane_count_max;
  const bool sizes_good = o.segment_bytes >= 1 && o.cut_bytes <= o.segment_bytes &&
                          o.segment_bytes <= write_bytes_max &&
                          o.eager_bytes_max <= write_bytes_max - eager_header_bytes;
  const bool slots_good = o.eager_slot_count >= 2 && o.eager_slot_count <= channel_count;
  const bool window_good = std::has_single_bit(o.window_segment_count) &&
                           o.window_segment_count >= 2 &&
                           o.window_segment_count <= sequence_window_max;
  const bool tables_good = o.transfer_count_max >= 1 && o.transfer_count_max <= 1u << 20 &&
                           o.notice_count_max >= 1 && o.budget_lease_bytes >= 1;
  const bool depth_good = o.lane_depth >= 10 && o.lane_write_count_max >= 1;
  const bool times_good = o.write_timeout.count() > 0 && o.ack_delay.count() >= 0 &&
                          o.announce_delay.count() > 0 && o.budget_hold.count() >= 0 &&
                          o.heartbeat_interval.count() >= 0 && o.silence_timeout.count() >= 0;
  const auto& w = o.window;
  const bool window_fits =
      w.floor_bytes >= 1 && w.floor_bytes <= w.start_bytes && w.start_bytes <= w.ceiling_bytes;
  const bool rings_good = o.receive_ring.size() == eager_ring_bytes(o) &&
                          o.staging_ring.bytes == eager_ring_bytes(o) && o.eager_key != 0;
  const bool first_good = o.first_sequence.value <= sequence_mask;
  if (!lanes_good || !sizes_good || !slots_good || !window_good || !tables_good || !depth_good ||
      !times_good || !window_fits || !rings_good || !first_good) {
    return fail(errc::bad_configuration, 0, o.peer);
  }
  return {};
}

}  // namespace troupe::net
