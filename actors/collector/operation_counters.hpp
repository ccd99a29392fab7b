#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "actors/collector/operation_cells.hpp"
#include "actors/worker/worker_counters.hpp"
#include "runtime/operation.hpp"
#include "runtime/place.hpp"

namespace troupe::actors {

/// What an endpoint counts about operations and wire, for metrics and tests. Written by the
/// worker's thread only, read by anyone.
struct operation_counters {
  static constexpr std::size_t kind_slots = 16;  ///< `operation_kind` values are below

  std::array<single_writer_counter, kind_slots> started;
  std::array<single_writer_counter, kind_slots> finished;
  std::array<single_writer_counter, kind_slots> failed;

  operation_cells by_path;

  single_writer_counter links_open;
  single_writer_counter links_lost;
  single_writer_counter lanes_lost;
  single_writer_counter lanes_rebuilt;
  single_writer_counter strangers_refused;
  single_writer_counter network_notices;
  single_writer_counter bootstrap_messages_sent;
  single_writer_counter bootstrap_messages_received;
  single_writer_counter bootstrap_connections_accepted;
  single_writer_counter bootstrap_connections_dialled;
  single_writer_counter segments_sent;
  single_writer_counter segment_bytes_sent;
  single_writer_counter eager_messages_sent;
  single_writer_counter control_messages_sent;
  single_writer_counter stale_dropped;
  single_writer_counter duplicates_dropped;
  std::array<single_writer_counter, tier_count> throttled_leases;  ///< by tier
  std::array<single_writer_counter, tier_count> segment_bytes_to;  ///< by tier, sent
  std::array<single_writer_counter, tier_count> leased_bytes;      ///< by tier, a gauge

  // View changes of all fault-tolerant communicators of the endpoint.
  single_writer_counter view_changes;
  single_writer_counter members_left_out;
  single_writer_counter operations_repeated;
  single_writer_counter foreign_frames;  ///< of the view change, refused
  single_writer_counter stale_frames;    ///< of the view change, of an older epoch or ballot

  // Gauges, sampled by the collector.
  single_writer_counter operations_running;
  single_writer_counter links_known;
  single_writer_counter communicators;
  single_writer_counter scratch_bytes_taken;
  single_writer_counter scratch_bytes_kept;
  single_writer_counter control_bytes_used;
  single_writer_counter control_bytes_peak;
  single_writer_counter buffers_known;
  single_writer_counter regions_exposed;
  single_writer_counter connections_refused;

  static std::size_t index(operation_kind kind) { return static_cast<std::size_t>(kind); }
};

}  // namespace troupe::actors
