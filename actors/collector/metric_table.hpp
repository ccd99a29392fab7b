#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::actors {

enum class metric_type : std::uint8_t { counter, gauge, histogram, summary };

/// The one list of metrics: enumerator, type, name, labels, what it says. In the order of the page.
/// A label's values are kinds, fixed by the program: never a peer, an address or an actor.
#define TROUPE_METRICS(X)                                                                          \
  X(rank_info, gauge, "troupe_rank_info", "rank, world_size, version",                             \
    "1; what the other series of this process belong to.")                                         \
  X(endpoint_phase, gauge, "troupe_endpoint_phase", "phase",                                       \
    "1 for the phase the endpoint is in, 0 for the others.")                                       \
  X(operations_started, counter, "troupe_operations_started_total", "operation",                   \
    "Operations that were called.")                                                                \
  X(operations_finished, counter, "troupe_operations_finished_total", "operation",                 \
    "Operations that ended without error.")                                                        \
  X(operations_failed, counter, "troupe_operations_failed_total", "operation",                     \
    "Operations that ended in an error.")                                                          \
  X(operations_running, gauge, "troupe_operations_running", "", "Operations in flight.")           \
  X(calls_waiting, gauge, "troupe_calls_waiting", "",                                              \
    "Operations that the trainer called and that are not done.")                                   \
  X(oldest_operation, gauge, "troupe_oldest_operation_timestamp_seconds", "",                      \
    "When the oldest operation in flight was called; 0 if none is.")                               \
  X(last_progress, gauge, "troupe_last_progress_timestamp_seconds", "",                            \
    "When an operation was taken or ended last; 0 before the first.")                              \
  X(operation_seconds, histogram, "troupe_operation_seconds", "operation, algorithm, lanes, size", \
    "Time from the start of an operation's algorithm to its end, of those that ended well.")       \
  X(operation_bytes, counter, "troupe_operation_bytes_total", "operation, algorithm, lanes, size", \
    "Bytes of the larger buffer of those operations.")                                             \
  X(operation_bus_bytes, counter, "troupe_operation_bus_bytes_total",                              \
    "operation, algorithm, lanes, size",                                                           \
    "Bytes that a rank's link carries for them at least; by their time: bus bandwidth.")           \
  X(operation_failures, counter, "troupe_operation_failures_total",                                \
    "operation, algorithm, lanes, size", "Operations of this path that ended in an error.")        \
  X(communicators, gauge, "troupe_communicators", "", "Communicators of this endpoint.")           \
  X(communicators_failed, gauge, "troupe_communicators_failed", "",                                \
    "Communicators that failed for good and are not destroyed yet.")                               \
  X(links, gauge, "troupe_links", "", "Links to peers, connecting ones included.")                 \
  X(links_opened, counter, "troupe_links_opened_total", "", "Links to peers that opened.")         \
  X(links_lost, counter, "troupe_links_lost_total", "", "Links to peers that were lost.")          \
  X(lanes_lost, counter, "troupe_lanes_lost_total", "", "Lanes that died or were given up.")       \
  X(lanes_rebuilt, counter, "troupe_lanes_rebuilt_total", "",                                      \
    "Lanes that took the place of one that died.")                                                 \
  X(segments_sent, counter, "troupe_segments_sent_total", "",                                      \
    "Segments of large transfers posted.")                                                         \
  X(segment_bytes_sent, counter, "troupe_segment_bytes_sent_total", "",                            \
    "Bytes of those segments.")                                                                    \
  X(eager_messages_sent, counter, "troupe_eager_messages_sent_total", "",                          \
    "Small transfers posted.")                                                                     \
  X(control_messages_sent, counter, "troupe_control_messages_sent_total", "",                      \
    "Control messages posted.")                                                                    \
  X(stale_dropped, counter, "troupe_stale_messages_dropped_total", "",                             \
    "Messages of ended operations or epochs dropped.")                                             \
  X(duplicates_dropped, counter, "troupe_duplicate_writes_dropped_total", "",                      \
    "Writes that had arrived before.")                                                             \
  X(leases_throttled, counter, "troupe_leases_throttled_total", "tier",                            \
    "Budget requests of a tier that had to wait.")                                                 \
  X(tier_segment_bytes_sent, counter, "troupe_tier_segment_bytes_sent_total", "tier",              \
    "Bytes of segments posted to peers of a tier.")                                                \
  X(tier_leased_bytes, gauge, "troupe_tier_leased_bytes", "tier",                                  \
    "What links may have in flight to peers of a tier.")                                           \
  X(view_changes, counter, "troupe_view_changes_total", "",                                        \
    "Epochs that fault-tolerant communicators entered after their first.")                         \
  X(members_left_out, counter, "troupe_members_left_out_total", "",                                \
    "Members that a next epoch went on without.")                                                  \
  X(operations_repeated, counter, "troupe_operations_repeated_total", "",                          \
    "Promised operations that began again in a next epoch.")                                       \
  X(foreign_frames, counter, "troupe_foreign_frames_total", "",                                    \
    "Frames of view changes refused: of no member, or not what the format says.")                  \
  X(stale_frames, counter, "troupe_stale_frames_total", "",                                        \
    "Frames of view changes of an older epoch or ballot.")                                         \
  X(strangers_refused, counter, "troupe_strangers_refused_total", "",                              \
    "Connections that could not prove themselves.")                                                \
  X(refused_connections, gauge, "troupe_refused_connections", "",                                  \
    "Connections refused before a lane existed, since start.")                                     \
  X(network_notices, counter, "troupe_network_notices_total", "",                                  \
    "Times that lanes were not of the kind that was wished; the log says why.")                    \
  X(bootstrap_messages_sent, counter, "troupe_bootstrap_messages_sent_total", "",                  \
    "Messages of start-up and connecting sent.")                                                   \
  X(bootstrap_messages_received, counter, "troupe_bootstrap_messages_received_total", "",          \
    "Messages of start-up and connecting received.")                                               \
  X(bootstrap_accepted, counter, "troupe_bootstrap_connections_accepted_total", "",                \
    "Connections that others dialled.")                                                            \
  X(bootstrap_dialled, counter, "troupe_bootstrap_connections_dialled_total", "",                  \
    "Connections dialled that stood.")                                                             \
  X(actor_messages, counter, "troupe_actor_messages_handled_total", "kind",                        \
    "Messages that actors of a kind handled.")                                                     \
  X(actor_mailbox_depth, gauge, "troupe_actor_mailbox_depth", "kind",                              \
    "Mailbox depth of the actor of a kind that handled a message last.")                           \
  X(actor_restarts, counter, "troupe_actor_restarts_total", "kind",                                \
    "Actors of a kind that failed and were replaced.")                                             \
  X(actor_turn_seconds, summary, "troupe_actor_turn_seconds", "kind",                              \
    "Time of an actor's turn on the worker; one turn in 64 is timed.")                             \
  X(worker_rounds, counter, "troupe_worker_rounds_total", "",                                      \
    "Rounds of polls and messages of the worker.")                                                 \
  X(worker_parks, counter, "troupe_worker_parks_total", "",                                        \
    "Times that it slept because nothing was to do.")                                              \
  X(worker_parked, gauge, "troupe_worker_parked", "", "1 while it sleeps.")                        \
  X(worker_last_round, gauge, "troupe_worker_last_round_timestamp_seconds", "",                    \
    "When it began its last round.")                                                               \
  X(worker_round_gap, histogram, "troupe_worker_round_gap_seconds", "",                            \
    "Time between two rounds, sleeping left out: the jitter of the host shows here.")              \
  X(worker_switches, counter, "troupe_worker_involuntary_switches_total", "",                      \
    "Times that the kernel took the processor from the worker threads of this process.")           \
  X(memory, gauge, "troupe_memory_bytes", "purpose", "Memory that the endpoint holds.")            \
  X(scratch_taken, gauge, "troupe_scratch_bytes_taken", "",                                        \
    "Staging memory of running operations.")                                                       \
  X(scratch_kept, gauge, "troupe_scratch_bytes_kept", "",                                          \
    "Staging memory kept for the next ones.")                                                      \
  X(control_used, gauge, "troupe_control_bytes_used", "",                                          \
    "Messages and records of operations in use.")                                                  \
  X(control_peak, gauge, "troupe_control_bytes_peak", "", "The most that were in use at once.")    \
  X(buffers, gauge, "troupe_buffers", "", "Buffers the endpoint knows.")                           \
  X(exposed_regions, gauge, "troupe_exposed_regions", "", "Regions that peers may write.")         \
  X(process_threads, gauge, "troupe_process_threads", "", "Threads of the process.")               \
  X(process_descriptors, gauge, "process_open_fds", "", "Open file descriptors of the process.")   \
  X(process_resident, gauge, "process_resident_memory_bytes", "",                                  \
    "Resident memory of the process.")                                                             \
  X(scrape_seconds, gauge, "troupe_scrape_seconds", "", "What collecting this page took.")

enum class metric : std::uint8_t {
#define TROUPE_METRIC_ENTRY(id, type, name, labels, help) id,
  TROUPE_METRICS(TROUPE_METRIC_ENTRY)
#undef TROUPE_METRIC_ENTRY
};

struct metric_description {
  metric_type type = metric_type::counter;
  std::string_view name;
  std::string_view labels;  ///< "operation, algorithm"
  std::string_view help;
};

inline constexpr std::array metric_table{
#define TROUPE_METRIC_ENTRY(id, type, name, labels, help) \
  metric_description{metric_type::type, name, labels, help},
    TROUPE_METRICS(TROUPE_METRIC_ENTRY)
#undef TROUPE_METRIC_ENTRY
};

constexpr const metric_description& describe(metric m) {
  return metric_table[static_cast<std::size_t>(m)];
}

/// `docs/metrics.md`, whole.
std::string metrics_page();

}  // namespace troupe::actors
