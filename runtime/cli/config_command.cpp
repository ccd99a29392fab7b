#include <cstdio>
#include <map>
#include <memory>

#include "config/configuration_page.hpp"
#include "config/load.hpp"
#include "config/option_text.hpp"
#include "config/print.hpp"
#include "runtime/cli/config_table.hpp"
#include "runtime/cli/setting_options.hpp"
#include "runtime/cli/sub_command.hpp"

namespace troupe::cli {
namespace {

constexpr const char* print_footer =
    "Code goes before environment, environment before file, file before default.\n"
    "\n"
    "Example:\n"
    "  troupe config print --config troupe.toml";

constexpr const char* check_footer =
    "The environment does not count here.\n"
    "\n"
    "Example:\n"
    "  troupe config check troupe.toml";

// What this build cannot do whatever the options say, or does not do for a reason that no option
// shows; comments, so that they may stand in a file.
const char* left_out(const config::options& options) {
  if (!TROUPE_HAS_VERBS)
    return "# This build has no RDMA (transport.lanes = verbs): infiniband/verbs.h was not "
           "found.\n";
  if (options.transport.lanes == "auto")
    return "# transport.lanes = auto takes no RDMA queue pairs; verbs takes them, to every rank.\n";
  return "";
}

/// What the words of all three commands say.
struct config_request {
  config::load_request load;
  bool as_toml = false;
  std::string file;
};

int print_options(const config_request& request) {
  auto loaded = config::load(request.load);
  if (!loaded) return report_failure(loaded.error());
  const std::string text =
      request.as_toml ? config::print_effective(*loaded) : config_table(*loaded);
  std::fputs(text.c_str(), stdout);
  std::fputs(left_out(loaded->values), stdout);
  return 0;
}

int check_file(const config_request& request) {
  config::load_request load;
  load.config_file = request.file;
  load.environment = config::environment_variables();
  auto loaded = config::load(load);
  if (!loaded) return report_failure(loaded.error());
  std::printf("%s: ok, %zu options set\n", request.file.c_str(), loaded->origins.size());
  return 0;
}

}  // namespace

void add_config_command(CLI::App& app, action& chosen) {
  CLI::App* command = app.add_subcommand("config", "Show or check the configuration");
  command->require_subcommand(1);
  auto request = std::make_shared<config_request>();

  CLI::App* print = command->add_subcommand("print", "Print every effective value and its origin");
  print->footer(print_footer);
  print->add_option("--config", request->load.config_file, "TOML file (default: TROUPE_CONFIG)");
  print->add_flag("--toml", request->as_toml, "As a file that loads to the same values");
  add_settings(*print, request->load.settings);
  print->callback([request, &chosen] { chosen = [request] { return print_options(*request); }; });

  CLI::App* page = command->add_subcommand("page", "Print the reference page of all options");
  page->footer("Example:\n  troupe config page > configuration.md");
  page->callback([&chosen] {
    chosen = [] {
      std::fputs(config::configuration_page().c_str(), stdout);
      return 0;
    };
  });

  CLI::App* check = command->add_subcommand("check", "Check a file without starting anything");
  check->footer(check_footer);
  check->add_option("file", request->file, "TOML file")->required();
  check->callback([request, &chosen] { chosen = [request] { return check_file(*request); }; });
}

}  // namespace troupe::cli
