#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "runtime/cli/process_end.hpp"
#include "runtime/cli/scenario_play.hpp"
#include "runtime/cli/scenario_rank.hpp"
#include "runtime/cli/sub_command.hpp"
#include "runtime/scenario/explain_scenario.hpp"

namespace troupe::cli {
namespace {

constexpr const char* footer =
    "A script says who takes part, what they do, what happens to them and how it has to end\n"
    "(docs/scenarios.md).\n"
    "\n"
    "Example:\n"
    "  troupe scenario explain killed_rank.toml";

int check_scripts(const std::vector<std::string>& paths) {
  int code = static_cast<int>(exit_code::success);
  for (const std::string& path : paths) {
    const auto script = load_script(path);
    if (script)
      std::printf("%s: %zu faults, %zu expectations\n", path.c_str(), script->faults.size(),
                  script->expectations.size());
    else
      code = report_failure(script.error());
  }
  return code;
}

int explain_script(const std::string& path) {
  const auto script = load_script(path);
  if (!script) return report_failure(script.error());
  std::fputs(scenario::explain_scenario(*script).c_str(), stdout);
  return static_cast<int>(exit_code::success);
}

/// A rank of the process world, which `process_world` starts.
void add_rank(CLI::App& scenario, action& chosen) {
  CLI::App* command = scenario.add_subcommand("rank", "One rank of a run")->group("");
  auto path = std::make_shared<std::string>();
  command->add_option("file", *path, "Script")->required();
  command->callback([path, &chosen] {
    chosen = [path] {
      const auto code = run_scenario_rank(*path);
      return code ? *code : report_failure(code.error());
    };
  });
}

void add_check(CLI::App& scenario, action& chosen) {
  CLI::App* command = scenario.add_subcommand("check", "Refuse what is wrong, start nothing");
  auto paths = std::make_shared<std::vector<std::string>>();
  command->add_option("files", *paths, "Scripts")->required();
  command->callback([paths, &chosen] { chosen = [paths] { return check_scripts(*paths); }; });
}

void add_explain(CLI::App& scenario, action& chosen) {
  CLI::App* command = scenario.add_subcommand("explain", "Tell the script's story in words");
  auto path = std::make_shared<std::string>();
  command->add_option("file", *path, "Script")->required();
  command->callback([path, &chosen] { chosen = [path] { return explain_script(*path); }; });
}

}  // namespace

void add_scenario_command(CLI::App& app, action& chosen) {
  CLI::App* command = app.add_subcommand("scenario", "Play scripts of ranks, work and bad luck");
  command->footer(footer);
  command->require_subcommand(1);
  add_scenario_run_command(*command, chosen);
  add_scenario_shrink_command(*command, chosen);
  add_check(*command, chosen);
  add_explain(*command, chosen);
  add_rank(*command, chosen);
}

}  // namespace troupe::cli
