#pragma once

#include "config/detail/option_units.hpp"
#include "config/option_description.hpp"
#include "config/text_forms.hpp"

#include <array>
#include <string_view>

namespace troupe::config::detail {

/// The options of section [worker].
inline constexpr option_description worker_table[] = {
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

/// The options of section [watchdog].
inline constexpr option_description watchdog_table[] = {
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

/// The options of section [metrics].
inline constexpr option_description metrics_table[] = {
    {.name = "metrics.listen",
     .field = field<&options::metrics, &metrics_options::listen>,
     .unset_means = "off",
     .accepts = is_listen_address,
     .form = "address:port, port 0 for any",
     .sentence = "Where the process answers metric scrapes."},
};

inline constexpr std::array<std::string_view, 2> switch_choices{"on", "off"};
inline constexpr std::array<std::string_view, 3> signal_choices{"SIGUSR1", "SIGUSR2", "none"};

/// The options of section [trace].
inline constexpr option_description trace_table[] = {
    {.name = "trace.record_count",
     .kind = value_kind::count,
     .field = field<&options::trace, &trace_options::record_count>,
     .unit = "operations",
     .low = 16,
     .high = 1 * mib,
     .sentence = "Operations that ended and are remembered, for dumps; running ones always are."},
    {.name = "trace.requests",
     .field = field<&options::trace, &trace_options::requests>,
     .choices = switch_choices,
     .sentence = "Whether programs of the same user on this host (`troupe dump`, `troupe top`) may "
                 "ask this process for a dump."},
    {.name = "trace.dump_signal",
     .field = field<&options::trace, &trace_options::dump_signal>,
     .choices = signal_choices,
     .sentence = "Signal at which the process writes a dump of each of its ranks; left alone if "
                 "the program handles it."},
    {.name = "trace.dump_directory",
     .field = field<&options::trace, &trace_options::dump_directory>,
     .unset_means = "the signal writes to the current directory, a failure writes nothing",
     .sentence = "Where a rank writes its dump at the signal and when a communicator fails."},
};

}  // namespace troupe::config::detail
