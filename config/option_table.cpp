#include "config/detail/fault_tolerance_table.hpp"
#include "config/detail/lane_tables.hpp"
#include "config/option_description.hpp"
#include "config/text_forms.hpp"

#include <array>
#include <chrono>

// Ranges are chosen: the low end is the smallest value with which the part still works, the high
// end is where a value is more likely a slip of the unit than a wish. Where a number follows from
// something else, the line says so.

namespace troupe::config {
namespace {

using namespace std::chrono_literals;
using detail::field;

constexpr std::int64_t kib = 1ll << 10;
constexpr std::int64_t mib = 1ll << 20;
constexpr std::int64_t gib = 1ll << 30;
constexpr std::int64_t tib = 1ll << 40;

constexpr std::int64_t in_ns(duration d) {
  return d.count();
}

constexpr std::array<std::string_view, 4> lane_choices{"auto", "tcp", "shm", "verbs"};

constexpr option_description bootstrap_table[] = {
    {.name = "bootstrap.rendezvous",
     .field = field<&options::bootstrap, &bootstrap_options::rendezvous>,
     .unset_means = "MASTER_ADDR:MASTER_PORT, or the launcher's first host",
     .accepts = is_peer_address,
     .form = "host:port",
     .sentence = "Where rank 0 serves the rendezvous and every other rank finds it."},
    {.name = "bootstrap.interface",
     .field = field<&options::bootstrap, &bootstrap_options::interface>,
     .unset_means = "the interface of the route to the rendezvous",
     .accepts = is_interface,
     .form = "address or exact interface name",
     .sentence = "The one interface to listen on; peers connect to its address."},
    {.name = "bootstrap.secret",
     .field = field<&options::bootstrap, &bootstrap_options::secret>,
     .unset_means = "whoever reaches the port may join",
     .agrees = agreement::must_agree,
     .shows = visibility::secret,
     .sentence = "The job's secret: both ends of every connection prove that they know it; it is "
                 "never sent and never printed."},
    {.name = "bootstrap.port_first",
     .kind = value_kind::count,
     .field = field<&options::bootstrap, &bootstrap_options::port_first>,
     .unit = "port",
     .low = 1,
     .high = 65535,
     .unset_means = "any port",
     .sentence = "Lowest port to listen on; set it together with bootstrap.port_last."},
    {.name = "bootstrap.port_last",
     .kind = value_kind::count,
     .field = field<&options::bootstrap, &bootstrap_options::port_last>,
     .unit = "port",
     .low = 1,
     .high = 65535,
     .unset_means = "any port",
     .sentence = "Highest port to listen on; not below bootstrap.port_first."},
    {.name = "bootstrap.timeout",
     .kind = value_kind::time_length,
     .field = field<&options::bootstrap, &bootstrap_options::timeout>,
     .unit = "time",
     .low = in_ns(10ms),
     .high = in_ns(24h),
     .sentence = "Longest wait from `join` to the world communicator, stragglers included."},
    {.name = "bootstrap.step_timeout",
     .kind = value_kind::time_length,
     .field = field<&options::bootstrap, &bootstrap_options::step_timeout>,
     .unit = "time",
     .low = in_ns(10ms),
     .high = in_ns(1h),
     .sentence = "Longest wait for one handshake or one exchange with a process that answers."},
    {.name = "bootstrap.connect_timeout",
     .kind = value_kind::time_length,
     .field = field<&options::bootstrap, &bootstrap_options::connect_timeout>,
     .unit = "time",
     .low = in_ns(10ms),
     .high = in_ns(1h),
     .sentence = "Longest wait for a link to a peer, all its lanes."},
    {.name = "bootstrap.rendezvous_fan_out",
     .kind = value_kind::count,
     .field = field<&options::bootstrap, &bootstrap_options::rendezvous_fan_out>,
     .unit = "ranks",
     .low = 2,
     .high = 65536,
     .agrees = agreement::must_agree,
     .sentence = "Ranks that one rendezvous serves before a tree of them is used."},
    {.name = "bootstrap.pending_connection_count",
     .kind = value_kind::count,
     .field = field<&options::bootstrap, &bootstrap_options::pending_connection_count>,
     .unit = "connections",
     .low = 1,
     .high = 65536,
     .sentence = "Connections held at once that have not proved the secret yet."},
};

constexpr option_description transport_table[] = {
    {.name = "transport.lanes",
     .field = field<&options::transport, &transport_options::lanes>,
     .choices = lane_choices,
     .agrees = agreement::must_agree,
     .sentence =
         "What the lanes between two ranks are made of: auto is shared memory on one host and "
         "sockets between hosts; shm refuses ranks of other hosts; verbs is RDMA queue pairs to "
         "every rank."},
    // Every lane costs a descriptor at both ends of every link.
    {.name = "transport.data_lane_count",
     .kind = value_kind::count,
     .field = field<&options::transport, &transport_options::data_lane_count>,
     .unit = "lanes",
     .low = 1,
     .high = 16,
     .agrees = agreement::must_agree,
     .sentence = "Data lanes of a link, beside its control lane."},
    {.name = "transport.segment_bytes",
     .kind = value_kind::bytes,
     .field = field<&options::transport, &transport_options::segment_bytes>,
     .unit = "bytes",
     .low = 4 * kib,
     .high = 64 * mib,
     .agrees = agreement::must_agree,
     .sentence = "Largest single write; longer transfers are cut into segments of this size."},
    {.name = "transport.eager_bytes",
     .kind = value_kind::bytes,
     .field = field<&options::transport, &transport_options::eager_bytes>,
     .unit = "bytes",
     .low = 0,
     .high = 1 * mib,
     .agrees = agreement::must_agree,
     .sentence = "Transfers up to this size are sent without asking first; not above "
                 "transport.segment_bytes."},
    // 64: six bits of an immediate name the slot; 2: one of them is kept for small transfers.
    {.name = "transport.eager_slot_count",
     .kind = value_kind::count,
     .field = field<&options::transport, &transport_options::eager_slot_count>,
     .unit = "messages",
     .low = 2,
     .high = 64,
     .agrees = agreement::must_agree,
     .sentence = "Messages a peer may have sent without asking and not seen taken."},
    // The window must stay below half of the sequence space, 2^24 numbers.
    {.name = "transport.window_segment_count",
     .kind = value_kind::count,
     .field = field<&options::transport, &transport_options::window_segment_count>,
     .unit = "segments",
     .low = 16,
     .high = 65536,
     .shape = number_shape::power_of_two,
     .agrees = agreement::must_agree,
     .sentence = "Segments of a link in flight at once; the receiver's reorder window."},
    {.name = "transport.parked_bytes",
     .kind = value_kind::bytes,
     .field = field<&options::transport, &transport_options::parked_bytes>,
     .unit = "bytes",
     .low = 4 * kib,
     .high = 1 * gib,
     .sentence = "Memory per link for messages that came before their receive; room for at least "
                 "one of transport.eager_bytes."},
    {.name = "transport.transfer_count",
     .kind = value_kind::count,
     .field = field<&options::transport, &transport_options::transfer_count>,
     .unit = "transfers",
     .low = 64,
     .high = 1 * mib,
     .agrees = agreement::must_agree,
     .sentence = "Transfers of one link that may be pending; a 64th of it is how many collectives "
                 "run at once."},
    {.name = "transport.write_timeout",
     .kind = value_kind::time_length,
     .field = field<&options::transport, &transport_options::write_timeout>,
     .unit = "time",
     .low = in_ns(10ms),
     .high = in_ns(10min),
     .sentence = "A lane that does not complete a write for this long is lost."},
    {.name = "transport.ack_delay",
     .kind = value_kind::time_length,
     .field = field<&options::transport, &transport_options::ack_delay>,
     .unit = "time",
     .low = 0,
     .high = in_ns(1s),
     .sentence = "Longest wait of an acknowledgement for something to travel with; not "
                 "above transport.write_timeout."},
    {.name = "transport.heartbeat_interval",
     .kind = value_kind::time_length,
     .field = field<&options::transport, &transport_options::heartbeat_interval>,
     .unit = "time",
     .low = in_ns(1ms),
     .high = in_ns(1min),
     .sentence = "Silence on a link after which this side says something."},
    {.name = "transport.silence_timeout",
     .kind = value_kind::time_length,
     .field = field<&options::transport, &transport_options::silence_timeout>,
     .unit = "time",
     .low = in_ns(10ms),
     .high = in_ns(1h),
     .sentence = "Silence of a peer after which it is lost; at least twice "
                 "transport.heartbeat_interval."},
};

constexpr option_description tcp_table[] = {
    {.name = "tcp.congestion_control",
     .field = field<&options::tcp, &tcp_options::congestion_control>,
     .unset_means = "reno within a host if allowed, else the system's",
     .accepts = is_kernel_name,
     .form = "name of a congestion control that the kernel has",
     .sentence = "Congestion control of every socket."},
    {.name = "tcp.send_buffer_bytes",
     .kind = value_kind::bytes,
     .field = field<&options::tcp, &tcp_options::send_buffer_bytes>,
     .unit = "bytes",
     .low = 4 * kib,
     .high = 1 * gib,
     .unset_means = "the system tunes it",
     .sentence = "Send buffer of every socket (SO_SNDBUF)."},
    {.name = "tcp.receive_buffer_bytes",
     .kind = value_kind::bytes,
     .field = field<&options::tcp, &tcp_options::receive_buffer_bytes>,
     .unit = "bytes",
     .low = 4 * kib,
     .high = 1 * gib,
     .unset_means = "the system tunes it",
     .sentence = "Receive buffer of every socket (SO_RCVBUF)."},
    {.name = "tcp.backlog",
     .kind = value_kind::count,
     .field = field<&options::tcp, &tcp_options::backlog>,
     .unit = "connections",
     .low = 1,
     .high = 65535,
     .sentence = "Connections the kernel keeps until they are accepted."},
    // 10: with less a link has no room for its control messages.
    {.name = "tcp.lane_depth",
     .kind = value_kind::count,
     .field = field<&options::tcp, &tcp_options::lane_depth>,
     .unit = "writes",
     .low = 10,
     .high = 4096,
     .sentence = "Writes that one lane takes at once."},
};

// A size above which another algorithm is taken.
constexpr option_description threshold(std::string_view name, field_access access,
                                       std::string_view sentence) {
  return {.name = name,
          .kind = value_kind::bytes,
          .field = access,
          .unit = "bytes",
          .low = 0,
          .high = 1 * tib,
          .agrees = agreement::must_agree,
          .sentence = sentence};
}

constexpr option_description collective_table[] = {
    threshold(
        "collective.all_reduce_halving_above_bytes",
        field<&options::collective, &collective_options::all_reduce_halving_above_bytes>,
        "An all-reduce above this size takes recursive halving instead of recursive doubling, "
        "up to where the ring begins."),
    threshold("collective.all_reduce_ring_above_bytes",
              field<&options::collective, &collective_options::all_reduce_ring_above_bytes>,
              "An all-reduce above this size takes the ring."),
    threshold("collective.all_gather_ring_above_bytes",
              field<&options::collective, &collective_options::all_gather_ring_above_bytes>,
              "An all-gather above this size takes the ring instead of the direct algorithm."),
    {.name = "collective.all_gather_bruck_above_ranks",
     .kind = value_kind::count,
     .field = field<&options::collective, &collective_options::all_gather_bruck_above_ranks>,
     .unit = "ranks",
     .low = 1,
     .high = 1 << 24,
     .agrees = agreement::must_agree,
     .sentence = "An all-gather below the ring among more ranks than this takes Bruck's algorithm "
                 "instead of the direct one."},
    threshold("collective.reduce_scatter_ring_above_bytes",
              field<&options::collective, &collective_options::reduce_scatter_ring_above_bytes>,
              "A reduce-scatter above this size takes the ring instead of the direct algorithm."),
    threshold("collective.broadcast_chain_above_bytes",
              field<&options::collective, &collective_options::broadcast_chain_above_bytes>,
              "A broadcast above this size takes a chain instead of a binomial tree, unless the "
              "ranks are so many that it would be slower."),
    threshold("collective.reduce_chain_above_bytes",
              field<&options::collective, &collective_options::reduce_chain_above_bytes>,
              "A reduce above this size takes a chain instead of a binomial tree, unless the ranks "
              "are so many that it would be slower."),
    // A multiple of 64: no element of any type straddles two chunks, and chunks start on a line.
    {.name = "collective.chunk_bytes",
     .kind = value_kind::bytes,
     .field = field<&options::collective, &collective_options::chunk_bytes>,
     .unit = "bytes",
     .low = 64,
     .high = 1 * gib,
     .shape = number_shape::multiple_of_64,
     .agrees = agreement::must_agree,
     .sentence = "Largest piece of a pipelined transfer: while one is reduced the next travels."},
    {.name = "collective.pipeline_chunk_count",
     .kind = value_kind::count,
     .field = field<&options::collective, &collective_options::pipeline_chunk_count>,
     .unit = "chunks",
     .low = 1,
     .high = 16,
     .agrees = agreement::must_agree,
     .sentence = "Chunks of one operation in flight in each direction."},
    {.name = "collective.outstanding_operation_count",
     .kind = value_kind::count,
     .field = field<&options::collective, &collective_options::outstanding_operation_count>,
     .unit = "operations",
     .low = 1,
     .high = 65536,
     .sentence = "Operations of one communicator that may run or wait; one more is queue_full."},
    {.name = "collective.timeout",
     .kind = value_kind::time_length,
     .field = field<&options::collective, &collective_options::timeout>,
     .unit = "time",
     .low = in_ns(1ms),
     .high = in_ns(24h * 7),
     .sentence = "Longest life of one operation, unless the call says otherwise."},
};

// A budget below one lease could never be lent out.
constexpr option_description budget(std::string_view name, field_access access,
                                    std::string_view sentence) {
  return {.name = name,
          .kind = value_kind::bytes,
          .field = access,
          .unit = "bytes",
          .low = 64 * kib,
          .high = 1 * tib,
          .sentence = sentence};
}

constexpr option_description dqplb_table[] = {
    budget("dqplb.same_rack_bytes", field<&options::dqplb, &dqplb_options::same_rack_bytes>,
           "Bytes in flight to all peers of the same rack."),
    budget("dqplb.same_zone_bytes", field<&options::dqplb, &dqplb_options::same_zone_bytes>,
           "Bytes in flight to all peers of the same zone in other racks."),
    budget("dqplb.cross_zone_bytes", field<&options::dqplb, &dqplb_options::cross_zone_bytes>,
           "Bytes in flight to all peers of other zones in the same data centre."),
    budget("dqplb.cross_data_center_bytes",
           field<&options::dqplb, &dqplb_options::cross_data_center_bytes>,
           "Bytes in flight to all peers of other data centres."),
    budget("dqplb.unknown_bytes", field<&options::dqplb, &dqplb_options::unknown_bytes>,
           "Bytes in flight to all peers whose place is not known."),
    {.name = "dqplb.lease_bytes",
     .kind = value_kind::bytes,
     .field = field<&options::dqplb, &dqplb_options::lease_bytes>,
     .unit = "bytes",
     .low = 4 * kib,
     .high = 1 * gib,
     .sentence =
         "Part of a tier's budget that a link gets at a time; at least one segment, at most "
         "the smallest budget."},
};

constexpr option_description worker_table[] = {
    {.name = "worker.spin",
     .kind = value_kind::time_length,
     .field = field<&options::worker, &worker_options::spin>,
     .unit = "time",
     .low = 0,
     .high = in_ns(1s),
     .sentence = "How long the worker polls without a pause after the last work."},
    {.name = "worker.yield",
     .kind = value_kind::time_length,
     .field = field<&options::worker, &worker_options::yield>,
     .unit = "time",
     .low = 0,
     .high = in_ns(1s),
     .sentence = "How long it then lets others run between polls before it parks."},
    {.name = "worker.cpus",
     .field = field<&options::worker, &worker_options::cpus>,
     .unset_means = "near NIC and GPU if known, else anywhere",
     .accepts = is_cpu_list,
     .form = "CPU numbers in increasing order, such as 0-3,8",
     .sentence = "CPUs that the worker may run on."},
    {.name = "worker.byte_slice",
     .kind = value_kind::time_length,
     .field = field<&options::worker, &worker_options::byte_slice>,
     .unit = "time",
     .low = in_ns(1us),
     .high = in_ns(10ms),
     .sentence = "Longest copy or reduction at a stretch, so that small operations and aborts are "
                 "not held up."},
    {.name = "worker.scratch_bytes",
     .kind = value_kind::bytes,
     .field = field<&options::worker, &worker_options::scratch_bytes>,
     .unit = "bytes",
     .low = 64 * kib,
     .high = 1 * tib,
     .sentence = "Staging memory of running operations; room for the one that needs most of it, "
                 "which follows from chunk_bytes and pipeline_chunk_count of [collective]."},
    {.name = "worker.control_bytes",
     .kind = value_kind::bytes,
     .field = field<&options::worker, &worker_options::control_bytes>,
     .unit = "bytes",
     .low = 16 * kib,
     .high = 1 * tib,
     .sentence = "Works, and as much again of messages and records of operations; past it calls "
                 "end in queue_full."},
};

constexpr option_description watchdog_table[] = {
    {.name = "watchdog.interval",
     .kind = value_kind::time_length,
     .field = field<&options::watchdog, &watchdog_options::interval>,
     .unit = "time",
     .low = in_ns(1ms),
     .high = in_ns(10s),
     .sentence = "Time between two looks at the deadlines of running operations."},
    {.name = "watchdog.mismatch_after",
     .kind = value_kind::time_length,
     .field = field<&options::watchdog, &watchdog_options::mismatch_after>,
     .unit = "time",
     .low = in_ns(1ms),
     .high = in_ns(1h),
     .sentence = "Age at which an unmatched transfer is compared with what the peer is doing."},
};

constexpr option_description metrics_table[] = {
    {.name = "metrics.listen",
     .field = field<&options::metrics, &metrics_options::listen>,
     .unset_means = "off",
     .accepts = is_listen_address,
     .form = "address:port, port 0 for any",
     .sentence = "Where the process answers metric scrapes."},
};

constexpr section_description all_sections[] = {
    {"bootstrap", "How ranks find each other.", bootstrap_table},
    {"transport", "The link between two ranks.", transport_table},
    {"tcp", "Sockets.", tcp_table},
    {"shm", "Shared memory between processes of one host.", detail::shm_table},
    {"verbs", "Queue pairs of RDMA devices.", detail::verbs_table},
    {"collective", "Choice and shape of algorithms, and limits on operations.", collective_table},
    {"dqplb", "Bytes in flight per distance tier of an endpoint.", dqplb_table},
    {"fault_tolerance", "Communicators that go on without members that end.",
     detail::fault_tolerance_table},
    {"worker", "The worker thread of an endpoint.", worker_table},
    {"watchdog", "Who looks after deadlines.", watchdog_table},
    {"metrics", "What the process shows of itself.", metrics_table},
};

}  // namespace

std::span<const section_description> sections() {
  return all_sections;
}

const option_description* find_option(std::string_view name) {
  for (const section_description& section : all_sections)
    for (const option_description& option : section.entries)
      if (option.name == name) return &option;
  return nullptr;
}

}  // namespace troupe::config
