#include "runtime/cli/scenario_play.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <memory>
#include <utility>

#include "runtime/cli/process_world.hpp"
#include "runtime/scenario/check_scenario.hpp"
#include "runtime/scenario/read_scenario.hpp"
#include "runtime/scenario/scenario_names.hpp"
#include "runtime/scenario/world.hpp"

namespace troupe::cli {
namespace {

outcome<std::unique_ptr<scenario::world>> open_world(const scenario::script& of,
                                                     scenario::world_kind where,
                                                     std::uint64_t seed) {
  if (where == scenario::world_kind::sim) return scenario::make_simulated_world(of, seed);
  auto world = process_world::open(of);
  if (!world) return fail(world.error());
  return *std::move(world);
}

}  // namespace

outcome<scenario::world_kind> parse_world(const std::string& name) {
  for (const auto kind :
       {scenario::world_kind::sim, scenario::world_kind::process, scenario::world_kind::gpu})
    if (name == to_string(kind)) return kind;
  return fail(errc::bad_argument, "world '" + name + "' is unknown; there are: sim, process, gpu");
}

outcome<scenario::script> load_script(const std::string& path) {
  auto script = scenario::read_scenario_file(path);
  if (!script) return script;
  if (auto checked = scenario::check_scenario(*script); !checked) return fail(checked.error());
  return script;
}

outcome<scenario_run> play_once(const scenario::script& of, scenario::world_kind where,
                                std::uint64_t seed) {
  const auto began = std::chrono::steady_clock::now();
  auto world = open_world(of, where, seed);
  if (!world) return fail(world.error());
  auto state = scenario::make_conduct_state(of, seed);
  scenario_run run;
  run.seed = seed;
  run.record = scenario::conduct(state, **world);
  run.plan = std::move(state.plan);
  run.findings = scenario::judge_run(of, run.plan, run.record, where);
  run.wall = std::chrono::steady_clock::now() - began;
  return run;
}

outcome<void> write_file(const char* option, const std::string& path, const std::string& text) {
  if (path.empty()) return {};
  std::ofstream file(path);
  file << text;
  file.close();
  if (file) return {};
  return fail(errc::system_failure,
              std::string("cannot write ") + option + ' ' + path + ": " + std::strerror(errno));
}

}  // namespace troupe::cli
