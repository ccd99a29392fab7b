#include <cstdio>
#include <memory>
#include <string>

#include "runtime/cli/process_end.hpp"
#include "runtime/cli/scenario_play.hpp"
#include "runtime/cli/sub_command.hpp"
#include "runtime/scenario/check_scenario.hpp"
#include "runtime/scenario/print_scenario.hpp"
#include "runtime/scenario/shrink_scenario.hpp"

namespace troupe::cli {
namespace {

constexpr const char* footer =
    "Plays variants of the script in the simulated world, always with the same seed, and keeps "
    "what\n"
    "still fails in the same way: with fewer faults, expectations, operations, settings, steps, "
    "ranks\n"
    "and elements. The smallest is printed; what was done is told on standard error.\n"
    "\n"
    "Example:\n"
    "  troupe scenario shrink failing.toml --seed 4711 --output small.toml";

/// What the words say.
struct shrink_request {
  std::string path;
  std::string output;
  std::uint64_t seed = 1;
};

outcome<int> shrink(const shrink_request& request) {
  constexpr auto where = scenario::world_kind::sim;
  const auto script = load_script(request.path);
  if (!script) return fail(script.error());
  if (auto checked = scenario::check_world(*script, where); !checked) return fail(checked.error());
  const auto first = play_once(*script, where, request.seed);
  if (!first) return fail(first.error());
  const auto wanted = scenario::worst_of(first->findings);
  if (wanted == scenario::judgement::good)
    return fail(errc::bad_argument, request.path + " does not fail with seed " +
                                        std::to_string(request.seed) +
                                        "; there is nothing to shrink");
  const auto small = scenario::shrink_scenario(*script, [&](const scenario::script& variant) {
    if (!scenario::check_world(variant, where)) return false;
    const auto run = play_once(variant, where, request.seed);
    return run && scenario::worst_of(run->findings) == wanted;
  });
  std::fprintf(stderr, "troupe: scenario: %u variants played; the smallest ends in: %s\n",
               small.variants_played, std::string(to_string(wanted)).c_str());
  const std::string text = scenario::print_scenario(small.smallest);
  if (request.output.empty())
    std::fputs(text.c_str(), stdout);
  else if (auto done = write_file("--output", request.output, text); !done)
    return fail(done.error());
  return static_cast<int>(exit_code::success);
}

}  // namespace

void add_scenario_shrink_command(CLI::App& scenario, action& chosen) {
  CLI::App* command =
      scenario.add_subcommand("shrink", "Find the smallest variant of a script that still fails");
  auto request = std::make_shared<shrink_request>();
  command->footer(footer);
  command->add_option("file", request->path, "Script")->required();
  command->add_option("--seed", request->seed, "Seed with which it fails")->required();
  command->add_option("-o,--output", request->output, "Write it to this file instead");
  command->callback([request, &chosen] {
    chosen = [request] {
      const auto code = shrink(*request);
      return code ? *code : report_failure(code.error());
    };
  });
}

}  // namespace troupe::cli
