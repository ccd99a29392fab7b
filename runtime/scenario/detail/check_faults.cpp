#include "runtime/scenario/detail/check_faults.hpp"

#include <algorithm>

#include "config/quantity.hpp"
#include "runtime/scenario/scenario_names.hpp"

namespace troupe::scenario::detail {
namespace {

std::string time_text(duration d) {
  return config::format_time_length(d.count());
}

bool draws_ranks(const selector& whom) {
  return whom.what == selector::kind::random || whom.what == selector::kind::percent;
}

/// Operations of the work in which an event can happen.
bool has_ring_all_reduce(const script& of) {
  return std::any_of(
      of.work.operations.begin(), of.work.operations.end(), [](const workload_operation& each) {
        return each.kind == operation_kind::all_reduce && each.algorithm == algorithm::ring;
      });
}

std::string why_never(const script& of, const trigger& when) {
  switch (when.what) {
    case trigger_kind::time:
      if (when.at >= of.limit)
        return "at " + time_text(when.at) + " comes after the limit of " + time_text(of.limit);
      return {};
    case trigger_kind::step:
      if (when.step > of.work.steps)
        return "there is no step " + std::to_string(when.step) + "; there are 1 to " +
               std::to_string(of.work.steps);
      return {};
    case trigger_kind::event: {
      const std::uint64_t calls = std::uint64_t{of.work.steps} * of.work.operations.size();
      if (when.event != event_kind::segment_sent && when.nth > calls)
        return "a rank makes " + std::to_string(calls) +
               " calls, so nth = " + std::to_string(when.nth) + " never comes";
      return {};
    }
    case trigger_kind::phase:
      if (when.phase == phase_kind::join) return {};
      if (when.step > of.work.steps)
        return "there is no step " + std::to_string(when.step) + "; there are 1 to " +
               std::to_string(of.work.steps);
      if (of.machines.ranks < 2) return "a rank alone has no phases";
      if (!has_ring_all_reduce(of))
        return "only a ring has this phase; write an operation with kind = \"all_reduce\" and "
               "algorithm = \"ring\"";
      return {};
    case trigger_kind::probability:
      return when.probability > 0 ? std::string() : "its probability is zero";
    case trigger_kind::mtbf: return when.at > duration::zero() ? std::string() : "mtbf is zero";
  }
  return {};
}

void check_aim(script_checker& problems, const fault& what) {
  const script& of = problems.of;
  const auto ranks = of.machines.ranks;
  check_selector(problems, what.whom, what.line);
  if (problems.first) return;
  const auto named = named_ranks(what.whom, of);
  const std::string kind(to_string(what.kind));
  const bool link = what.whom.what == selector::kind::link;
  const bool takes_link = what.kind == fault_kind::lane_down || what.kind == fault_kind::loss ||
                          what.kind == fault_kind::delay || what.kind == fault_kind::reorder ||
                          what.kind == fault_kind::duplicate || what.kind == fault_kind::corrupt ||
                          what.kind == fault_kind::partition;
  if (link && !takes_link)
    problems.note(what.line, kind + " strikes ranks, not a link; write rank or ranks");
  if (!link && what.kind == fault_kind::lane_down)
    problems.note(what.line, "lane_down strikes a link; write link = [0, 1]");
  if (what.kind == fault_kind::partition && !link && named.size() == ranks)
    problems.note(what.line, "a partition of all ranks cuts nobody off, so it can never strike");
  if (what.kind == fault_kind::nic_down && what.nic >= of.machines.nics_per_host)
    problems.note(what.line, no_such("nic", what.nic, of.machines.nics_per_host));
  if (what.whom.what == selector::kind::random && what.whom.count > ranks)
    problems.note(what.line, "there are no " + std::to_string(what.whom.count) +
                                 " ranks to draw; there are " + std::to_string(ranks));
  if (what.whom.what == selector::kind::root &&
      std::none_of(of.work.operations.begin(), of.work.operations.end(),
                   [](const workload_operation& each) { return has_root(each.kind); }))
    problems.note(what.line, "no operation has a root, so it can never strike");
}

/// A fault of ranks that an earlier one has surely ended never strikes.
void check_alive(script_checker& problems, std::size_t index) {
  const script& of = problems.of;
  const fault& what = of.faults[index];
  const auto named = named_ranks(what.whom, of);
  if (named.empty() || draws_ranks(what.whom)) return;
  for (const fault& other : of.faults) {
    if (&other == &what || other.kind == fault_kind::stop || !ends_ranks(other)) continue;
    const bool same_kind = other.when.what == what.when.what;
    const bool by_time =
        same_kind && what.when.what == trigger_kind::time && other.when.at < what.when.at;
    const bool by_step = same_kind && what.when.what == trigger_kind::step &&
                         other.when.step < what.when.step && other.when.after == duration::zero();
    if (!by_time && !by_step) continue;
    const bool all_gone = std::all_of(named.begin(), named.end(),
                                      [&](std::uint32_t r) { return surely_hits(of, other, r); });
    if (all_gone)
      problems.note(what.line, "can never trigger: " + describe(what.whom) +
                                   " ended before, by the fault of line " +
                                   std::to_string(other.line));
  }
}

}  // namespace

void script_checker::note(std::uint32_t line, const std::string& what) {
  if (first) return;
  first = failure(errc::bad_configuration, of.file_name + ':' + std::to_string(line) + ": " + what);
}

std::string no_such(std::string_view what, std::uint32_t number, std::uint32_t count) {
  return std::string(what) + ' ' + std::to_string(number) + " does not exist; there are 0 to " +
         std::to_string(count - 1);
}

void check_selector(script_checker& problems, const selector& whom, std::uint32_t line) {
  const topology& machines = problems.of.machines;
  const std::uint32_t last = machines.ranks - 1;
  const auto check = [&](std::string_view what, std::uint32_t count) {
    for (const std::uint32_t number : whom.numbers)
      if (number >= count) problems.note(line, no_such(what, number, count));
  };
  switch (whom.what) {
    case selector::kind::ranks:
    case selector::kind::link: return check("rank", machines.ranks);
    case selector::kind::host: return check("host", machines.host_of(last) + 1);
    case selector::kind::rack: return check("rack", machines.rack_of(last) + 1);
    case selector::kind::zone: return check("zone", machines.zone_of(last) + 1);
    case selector::kind::data_center:
      return check("data_center", machines.data_center_of(last) + 1);
    default: return;
  }
}

bool surely_hits(const script& of, const fault& what, std::uint32_t r) {
  const bool certain = what.when.what != trigger_kind::probability &&
                       what.when.what != trigger_kind::mtbf && !draws_ranks(what.whom);
  if (!certain) return false;
  const auto named = named_ranks(what.whom, of);
  return std::find(named.begin(), named.end(), r) != named.end();
}

void check_faults(script_checker& problems) {
  for (std::size_t i = 0; i < problems.of.faults.size(); ++i) {
    const fault& what = problems.of.faults[i];
    if (const auto why = why_never(problems.of, what.when); !why.empty())
      problems.note(what.line, "can never trigger: " + why);
    check_aim(problems, what);
    check_alive(problems, i);
  }
}

}  // namespace troupe::scenario::detail
