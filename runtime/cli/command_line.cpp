#include "runtime/cli/command_line.hpp"

#include <algorithm>
#include <cstdio>

#include "runtime/cli/process_end.hpp"
#include "runtime/cli/sub_command.hpp"

namespace troupe::cli {
namespace {

constexpr const char* description =
    "Troupe: collective communication as a company of actors.\n"
    "Exit codes: 0 ok, 1 wrong result, 2 usage, 3 runtime failure, 4 crash, 124 timeout,\n"
    "128+n signal n; launch returns the code of the first rank that failed, analyze 10 + its "
    "verdict.";

/// The one line of an error of the command line, whatever CLI11 made of it.
int report_usage(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* asked = &app;
  while (!asked->get_subcommands().empty())
    asked = asked->get_subcommands().front();
  std::string text = error.what();
  std::replace(text.begin(), text.end(), '\n', ' ');
  const std::string name = asked == &app ? "troupe" : "troupe " + asked->get_name();
  std::fprintf(stderr, "troupe: error: %s; see %s --help\n", text.c_str(), name.c_str());
  return static_cast<int>(exit_code::usage);
}

/// CLI11 calls an unknown command a missing one.
outcome<void> check_first_word(const CLI::App& app, const command_line& line) {
  if (line.words.empty() || line.words.front().starts_with('-')) return {};
  std::string known;
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (each->get_name() == line.words.front()) return {};
    known += (known.empty() ? "" : ", ") + each->get_name();
  }
  return fail(errc::bad_argument, "command '" + line.words.front() +
                                      "' is unknown; there are: " + known + "; see troupe --help");
}

}  // namespace

command_line split_command_line(int count, const char* const* words) {
  command_line line;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (line.has_program)
      line.program.push_back(word);
    else if (word == "--")
      line.has_program = true;
    else
      line.words.push_back(word);
  }
  return line;
}

int report_failure(const failure& f) {
  std::fflush(stdout);
  std::fprintf(stderr, "troupe: error: %s\n", f.message.c_str());
  const bool usage = f.code() == errc::bad_argument || f.code() == errc::bad_configuration;
  return static_cast<int>(usage ? exit_code::usage : exit_code::failure);
}

int run_command_line(const command_line& line) {
  CLI::App app(description, "troupe");
  app.set_version_flag("--version", "troupe " TROUPE_VERSION);
  app.require_subcommand(1);
  action chosen;
  add_launch_command(app, line, chosen);
  add_bench_command(app, line, chosen);
  add_tune_command(app, line, chosen);
  add_sim_command(app, chosen);
  add_scenario_command(app, chosen);
  add_config_command(app, chosen);
  add_dump_command(app, chosen);
  add_analyze_command(app, chosen);
  add_tiers_command(app, chosen);
  add_top_command(app, chosen);
  if (auto known = check_first_word(app, line); !known) return report_failure(known.error());
  try {
    // CLI11 wants the words last to first.
    app.parse(std::vector<std::string>(line.words.rbegin(), line.words.rend()));
  } catch (const CLI::Success& done) {
    return app.exit(done);  // help or version, printed to standard output
  } catch (const CLI::ParseError& error) {
    return report_usage(app, error);
  }
  return chosen();
}

}  // namespace troupe::cli
