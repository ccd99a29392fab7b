#include "runtime/scenario/detail/check_expectations.hpp"

#include <algorithm>

#include "runtime/scenario/scenario_names.hpp"

namespace troupe::scenario::detail {
namespace {

constexpr rank_outcome fine{};

bool allows(const expectation& what, const rank_outcome& outcome) {
  return std::find(what.outcomes.begin(), what.outcomes.end(), outcome) != what.outcomes.end();
}

bool expects_nothing(const expectation& what) {
  return what.outcomes.empty() && !what.names && !what.within && !what.steps &&
         !what.steps_at_least && !what.data_exact && !what.throughput && what.no_leak.empty() &&
         what.metric.empty() && !what.epoch && what.members.empty() && what.contributors.empty() &&
         what.verdict.empty() && !what.culprit;
}

void check_number(script_checker& problems, const expectation& what, std::string_view name,
                  std::uint32_t number) {
  if (number >= problems.of.machines.ranks)
    problems.note(what.line,
                  std::string(name) + ": " + no_such("rank", number, problems.of.machines.ranks));
}

void check_alone(script_checker& problems, const expectation& what) {
  const std::uint32_t steps = problems.of.work.steps;
  check_selector(problems, what.whom, what.line);
  if (expects_nothing(what)) problems.note(what.line, "expects nothing; write outcome, steps, ...");
  if (what.names) check_number(problems, what, "names", *what.names);
  if (what.culprit) check_number(problems, what, "culprit", *what.culprit);
  for (const std::uint32_t r : what.members)
    check_number(problems, what, "members", r);
  for (const std::uint32_t r : what.contributors)
    check_number(problems, what, "contributors", r);
  if (what.names && what.outcomes == std::vector{fine})
    problems.note(what.line, "outcome = \"ok\" names nobody; leave names out");
  for (const auto& wanted : {what.steps, what.steps_at_least})
    if (wanted && *wanted > steps)
      problems.note(what.line, std::to_string(*wanted) + " steps are more than the " +
                                   std::to_string(steps) + " of the workload");
  if (what.steps && what.steps_at_least && *what.steps < *what.steps_at_least)
    problems.note(what.line, "steps contradicts steps_at_least");
  const bool all_steps = (what.steps && *what.steps == steps) ||
                         (what.steps_at_least && *what.steps_at_least == steps);
  if (all_steps && !what.outcomes.empty() && !allows(what, fine))
    problems.note(what.line, "a rank that finishes all steps is ok; outcome says otherwise");
  if (what.at_least && what.at_most && *what.at_least > *what.at_most)
    problems.note(what.line, "at_least is above at_most");
}

/// What certain faults do to the ranks of an expectation.
void check_against_faults(script_checker& problems, const expectation& what) {
  if (what.outcomes.empty()) return;
  const bool kill_needed = what.outcomes == std::vector{parse_outcome("killed").value()};
  for (const std::uint32_t r : named_ranks(what.whom, problems.of)) {
    bool killed = false, may_be_killed = false;
    std::uint32_t line = 0;
    for (const fault& each : problems.of.faults) {
      if (each.kind != fault_kind::kill && each.kind != fault_kind::power_off) continue;
      const bool surely = surely_hits(problems.of, each, r);
      const auto named = named_ranks(each.whom, problems.of);
      may_be_killed =
          may_be_killed || named.empty() || std::find(named.begin(), named.end(), r) != named.end();
      if (surely) line = each.line;
      killed = killed || surely;
    }
    const std::string whom = "rank " + std::to_string(r);
    if (killed && !allows(what, *parse_outcome("killed")))
      problems.note(what.line, whom + " is killed by the fault of line " + std::to_string(line) +
                                   "; the outcome is \"killed\"");
    if (kill_needed && !may_be_killed)
      problems.note(what.line, "nothing kills " + whom + ", so it cannot end killed");
  }
}

bool share_a_rank(const script& of, const selector& a, const selector& b) {
  const bool symbolic = a.what == selector::kind::victims || a.what == selector::kind::survivors;
  if (symbolic || b.what == selector::kind::victims || b.what == selector::kind::survivors)
    return a.what == b.what;
  const auto left = named_ranks(a, of), right = named_ranks(b, of);
  return std::any_of(left.begin(), left.end(), [&](std::uint32_t r) {
    return std::find(right.begin(), right.end(), r) != right.end();
  });
}

bool share_a_world(const expectation& a, const expectation& b) {
  if (a.worlds.empty() || b.worlds.empty()) return true;
  return std::any_of(a.worlds.begin(), a.worlds.end(), [&](world_kind each) {
    return std::find(b.worlds.begin(), b.worlds.end(), each) != b.worlds.end();
  });
}

std::string contradiction(const expectation& a, const expectation& b) {
  const bool outcomes = !a.outcomes.empty() && !b.outcomes.empty() &&
                        std::none_of(a.outcomes.begin(), a.outcomes.end(),
                                     [&](const rank_outcome& each) { return allows(b, each); });
  if (outcomes) return "outcome";
  if (a.steps && b.steps && *a.steps != *b.steps) return "steps";
  if (a.steps && b.steps_at_least && *a.steps < *b.steps_at_least) return "steps";
  if (b.steps && a.steps_at_least && *b.steps < *a.steps_at_least) return "steps";
  if (a.names && b.names && *a.names != *b.names) return "names";
  if (a.data_exact && b.data_exact && *a.data_exact != *b.data_exact) return "data";
  if (!a.metric.empty() && a.metric == b.metric) {
    if (a.at_least && b.at_most && *a.at_least > *b.at_most) return "at_least";
    if (b.at_least && a.at_most && *b.at_least > *a.at_most) return "at_most";
  }
  return {};
}

}  // namespace

void check_expectations(script_checker& problems) {
  const auto& all = problems.of.expectations;
  for (std::size_t i = 0; i < all.size(); ++i) {
    check_alone(problems, all[i]);
    if (problems.first) return;
    check_against_faults(problems, all[i]);
    for (std::size_t earlier = 0; earlier < i; ++earlier) {
      const auto what = contradiction(all[earlier], all[i]);
      if (what.empty() || !share_a_world(all[earlier], all[i])) continue;
      if (share_a_rank(problems.of, all[earlier].whom, all[i].whom))
        problems.note(all[i].line, what + " contradicts the expectation of line " +
                                       std::to_string(all[earlier].line));
    }
  }
}

}  // namespace troupe::scenario::detail
