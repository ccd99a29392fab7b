#pragma once

#include "config/detail/option_units.hpp"
#include "config/option_description.hpp"
#include "config/text_forms.hpp"

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

}  // namespace troupe::config::detail
