#include "runtime/scenario/world_abilities.hpp"

#include <algorithm>

#include "runtime/scenario/scenario_names.hpp"

namespace troupe::scenario {
namespace {

/// Most ranks of the process world. Chosen: one process each, and a machine of two cores still
/// ends in time.
constexpr std::uint32_t process_count_max = 64;

std::string why_not_simulated(const fault& what) {
  switch (what.kind) {
    case fault_kind::failed_registration:
      return "the simulated network has no registration of memory that could fail";
    case fault_kind::no_descriptors: return "simulated ranks open no descriptors";
    default: return {};
  }
}

std::string why_not_by_processes(const fault& what, process_lanes lanes) {
  const std::string cards =
      lanes == process_lanes::verbs
          ? std::string()
          : "real lanes of this kind cannot be disturbed; write [process] lanes = \"verbs\", which "
            "uses emulated cards";
  switch (what.kind) {
    case fault_kind::kill:
    case fault_kind::stop:
    case fault_kind::slow:
    case fault_kind::no_descriptors:
    case fault_kind::garbage: return {};
    case fault_kind::lane_down:
      return lanes == process_lanes::tcp
                 ? std::string()
                 : "only sockets can be cut from outside; write [process] lanes = \"tcp\"";
    case fault_kind::loss:
    case fault_kind::delay:
    case fault_kind::reorder:
    case fault_kind::duplicate:
    case fault_kind::nic_down:
    case fault_kind::lost_completion:
    case fault_kind::failed_registration: return cards;
    case fault_kind::power_off: return "no process can make its host fall silent";
    case fault_kind::corrupt: return "neither sockets nor emulated cards corrupt bytes";
    case fault_kind::partition: return "all processes are on one host";
    case fault_kind::failed_allocation: return "nobody can take a process's memory from outside";
    case fault_kind::throwing_actor: return "actors of another process cannot be reached";
    case fault_kind::refused_dials: return "a process's backlog cannot be closed from outside";
  }
  return {};
}

}  // namespace

std::string why_not(world_kind where) {
  return where == world_kind::gpu ? "GPUs are not reachable through the communicator yet" : "";
}

std::string why_not(world_kind where, const fault& what, process_lanes lanes) {
  return where == world_kind::sim ? why_not_simulated(what) : why_not_by_processes(what, lanes);
}

std::string why_not(world_kind where, const trigger& when) {
  if (where == world_kind::sim) return {};
  if (when.what == trigger_kind::phase && when.phase != phase_kind::join)
    return "phases inside of an operation cannot be seen from another process";
  if (when.what == trigger_kind::event && when.event == event_kind::segment_sent)
    return "segments cannot be counted from another process";
  return {};
}

std::string why_not(world_kind where, const expectation& what) {
  if (where == world_kind::process && (!what.verdict.empty() || what.culprit))
    return "dumps of other processes are not read: verdict and culprit cannot be judged";
  const bool process_things = std::any_of(what.no_leak.begin(), what.no_leak.end(),
                                          [](leak_kind each) { return each != leak_kind::memory; });
  if (where == world_kind::sim && process_things)
    return "simulated ranks have neither descriptors nor threads of their own";
  if (where == world_kind::process && !what.metric.empty())
    return "metrics of another process are not read";
  return {};
}

std::string why_not(world_kind where, const topology& machines) {
  if (where == world_kind::process && machines.ranks > process_count_max)
    return std::to_string(machines.ranks) + " ranks are more than the " +
           std::to_string(process_count_max) + " processes that one host gets";
  return {};
}

}  // namespace troupe::scenario
