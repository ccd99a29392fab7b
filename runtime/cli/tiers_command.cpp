#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>

#include "config/load.hpp"
#include "config/topology_file.hpp"
#include "runtime/cli/setting_options.hpp"
#include "runtime/cli/sub_command.hpp"
#include "runtime/cli/tier_report.hpp"

namespace troupe::cli {
namespace {

constexpr const char* footer =
    "A peer's class follows from both places; the table says what this rank may have in flight to\n"
    "the peers of each. Where the defaults come from: docs/dqplb.md.\n"
    "\n"
    "Example:\n"
    "  TROUPE_TOPOLOGY_FILE=cluster.toml troupe tiers --peer node017";

struct tiers_request {
  config::load_request load;
  std::string peer;
};

std::string system_host() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

int print_tiers(const tiers_request& request) {
  auto loaded = config::load(request.load);
  if (!loaded) return report_failure(loaded.error());
  const auto& topology = loaded->values.topology;
  const auto here = config::find_place(topology, system_host());
  if (!here) return report_failure(here.error());
  std::string text = describe_place("this rank", *here);
  if (!request.peer.empty()) {
    const auto there = config::find_place({.file = topology.file, .host = request.peer}, {});
    if (!there) return report_failure(there.error());
    text += describe_place("peer", *there);
    text += "class of the peer: " +
            std::string(to_string(tier_between(code_of(here->where), code_of(there->where)))) +
            "\n";
  }
  std::fputs((text + "\n" + tier_table(loaded->values)).c_str(), stdout);
  return 0;
}

}  // namespace

void add_tiers_command(CLI::App& app, action& chosen) {
  CLI::App* command =
      app.add_subcommand("tiers", "Print where this rank stands and what each class of peer gets");
  auto request = std::make_shared<tiers_request>();
  command->footer(footer);
  command->add_option("--config", request->load.config_file, "TOML file (default: TROUPE_CONFIG)");
  command->add_option("--peer", request->peer,
                      "Host of a peer: where it stands by the topology file, and its class");
  add_settings(*command, request->load.settings);
  command->callback([request, &chosen] { chosen = [request] { return print_tiers(*request); }; });
}

}  // namespace troupe::cli
