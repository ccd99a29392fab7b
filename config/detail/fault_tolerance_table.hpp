#pragma once

#include "config/option_description.hpp"

#include <array>
#include <chrono>
#include <string_view>

namespace troupe::config::detail {

inline constexpr std::array<std::string_view, 2> world_choices{"fail", "continue"};

constexpr std::int64_t ns_of(duration d) {
  return d.count();
}

/// The options of section [fault_tolerance].
inline constexpr option_description fault_tolerance_table[] = {
    {.name = "fault_tolerance.world",
     .field = field<&options::fault_tolerance, &fault_tolerance_options::world>,
     .choices = world_choices,
     .agrees = agreement::must_agree,
     .sentence = "What the world communicator does when a member ends: fail as a whole, or "
                 "continue with the others in a new epoch."},
    {.name = "fault_tolerance.patience",
     .kind = value_kind::time_length,
     .field = field<&options::fault_tolerance, &fault_tolerance_options::patience>,
     .unit = "time",
     .low = ns_of(std::chrono::milliseconds(1)),
     .high = ns_of(std::chrono::minutes(1)),
     .sentence = "How long the leader of a view change waits for members that do not answer."},
    {.name = "fault_tolerance.succession",
     .kind = value_kind::time_length,
     .field = field<&options::fault_tolerance, &fault_tolerance_options::succession>,
     .unit = "time",
     .low = ns_of(std::chrono::milliseconds(2)),
     .high = ns_of(std::chrono::minutes(5)),
     .sentence = "How long a member waits for a decision before it believes the leader gone; above "
                 "twice fault_tolerance.patience."},
    {.name = "fault_tolerance.decision",
     .kind = value_kind::time_length,
     .field = field<&options::fault_tolerance, &fault_tolerance_options::decision>,
     .unit = "time",
     .low = ns_of(std::chrono::milliseconds(10)),
     .high = ns_of(std::chrono::hours(1)),
     .sentence = "How long a member waits for any decision before it gives up with no_quorum."},
    {.name = "fault_tolerance.invitation",
     .field = field<&options::fault_tolerance, &fault_tolerance_options::invitation>,
     .unset_means = "join a job that begins",
     .form = "text from communicator::invite",
     .sentence = "Come into a communicator that has begun, instead."},
    {.name = "fault_tolerance.exit_board",
     .field = field<&options::fault_tolerance, &fault_tolerance_options::exit_board>,
     .unset_means = "nobody proves that a rank ended; a strict majority decides",
     .form = "path",
     .sentence = "File in which whoever started the ranks notes which of them ended: byte r is not "
                 "zero once rank r has. `troupe launch` sets it."},
    {.name = "fault_tolerance.chunk_bytes",
     .kind = value_kind::bytes,
     .field = field<&options::fault_tolerance, &fault_tolerance_options::chunk_bytes>,
     .unit = "bytes",
     .low = 4 * 1024,
     .high = 1024ll * 1024 * 1024,
     .agrees = agreement::must_agree,
     .sentence = "Longest piece of a fault-tolerant all_reduce on its way."},
    {.name = "fault_tolerance.chunk_count",
     .kind = value_kind::count,
     .field = field<&options::fault_tolerance, &fault_tolerance_options::chunk_count>,
     .unit = "pieces",
     .low = 1,
     .high = 16,
     .agrees = agreement::must_agree,
     .sentence = "Its pieces on their way between two ranks: with fault_tolerance.chunk_bytes, the "
                 "exact bound of bytes in flight."},
};

}  // namespace troupe::config::detail
