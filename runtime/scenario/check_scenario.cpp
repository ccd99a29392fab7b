#include "runtime/scenario/check_scenario.hpp"

#include <algorithm>
#include <string>

#include "config/quantity.hpp"
#include "runtime/scenario/detail/check_expectations.hpp"
#include "runtime/scenario/detail/check_faults.hpp"
#include "runtime/scenario/scenario_names.hpp"
#include "runtime/scenario/world_abilities.hpp"

namespace troupe::scenario {
namespace {

outcome<void> bad_line(const script& of, std::uint32_t line, const std::string& what) {
  return fail(errc::bad_configuration, of.file_name + ':' + std::to_string(line) + ": " + what);
}

outcome<void> refused(const script& of, std::uint32_t line, const std::string& what,
                      world_kind where, const std::string& why) {
  return bad_line(of, line, what + " in world " + std::string(to_string(where)) + ": " + why);
}

outcome<void> check_work(const script& of) {
  for (const workload_operation& each : of.work.operations) {
    if (has_root(each.kind) && each.root >= of.machines.ranks)
      return bad_line(of, each.line, detail::no_such("root", each.root, of.machines.ranks));
    if (!has_root(each.kind) && each.root != 0)
      return bad_line(of, each.line, std::string(troupe::to_string(each.kind)) + " has no root");
  }
  return {};
}

}  // namespace

outcome<void> check_world(const script& of, world_kind where) {
  if (const auto why = why_not(where); !why.empty())
    return refused(of, 1, "nothing can be played", where, why);
  if (!of.plays_in(where))
    return bad_line(of, 1,
                    "the script does not play in world " + std::string(to_string(where)) +
                        "; worlds says where it does");
  if (const auto why = why_not(where, of.machines); !why.empty())
    return refused(of, 1, "the topology cannot be played", where, why);
  for (const fault& each : of.faults) {
    const std::string what = std::string(to_string(each.kind)) + " cannot be played";
    if (const auto why = why_not(where, each, of.lanes); !why.empty())
      return refused(of, each.line, what, where, why);
    if (const auto why = why_not(where, each.when); !why.empty())
      return refused(of, each.line, "the trigger cannot be seen", where, why);
  }
  for (const expectation& each : of.expectations) {
    const bool here = each.worlds.empty() ||
                      std::find(each.worlds.begin(), each.worlds.end(), where) != each.worlds.end();
    if (!here) continue;
    if (const auto why = why_not(where, each); !why.empty())
      return refused(of, each.line, "the expectation cannot be judged", where, why);
  }
  return {};
}

outcome<void> check_scenario(const script& of) {
  if (auto done = check_work(of); !done) return done;
  detail::script_checker problems{of, {}};
  detail::check_faults(problems);
  detail::check_expectations(problems);
  if (problems.first) return fail(*problems.first);
  for (const world_kind where : of.worlds)
    if (auto done = check_world(of, where); !done) return done;
  return {};
}

}  // namespace troupe::scenario
