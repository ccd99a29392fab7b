#include <memory>

#include "runtime/cli/launcher.hpp"
#include "runtime/cli/sub_command.hpp"

namespace troupe::cli {
namespace {

constexpr const char* footer =
    "Every rank gets torchrun's variables (RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE,\n"
    "GROUP_RANK, MASTER_ADDR, MASTER_PORT, ...), TROUPE_CONFIG if --config is given, and a fresh\n"
    "TROUPE_BOOTSTRAP_SECRET unless one is set; with --emulate also LD_LIBRARY_PATH and\n"
    "TROUPE_EMULATION_ variables. When a rank fails, the others may take --grace to\n"
    "end, then get SIGTERM, then SIGKILL; with --keep-going they go on. Ranks read from\n"
    "fault_tolerance.exit_board which of them ended. Exit code: that of the first rank that\n"
    "failed (128 + signal), 124 after --timeout; with --keep-going 0 if any rank ended well.\n"
    "\n"
    "Example:\n"
    "  troupe launch -n 4 --timeout 60 -- ./train --data corpus.txt";

/// CLI11 does not know of the words behind "--".
class launch_formatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: troupe launch -n N [OPTIONS] -- PROGRAM [ARGUMENTS...]\n";
  }
};

}  // namespace

void add_launch_command(CLI::App& app, const command_line& line, action& chosen) {
  CLI::App* command = app.add_subcommand("launch", "Start N ranks of a program on this host");
  auto options = std::make_shared<launch_options>();
  command->footer(footer);
  command->formatter(std::make_shared<launch_formatter>());
  command->add_option("-n,--ranks", options->rank_count, "Number of ranks")
      ->required()
      ->check(CLI::Range(1u, launch_rank_count_max));
  command->add_option("--config", options->config_file, "TOML file for every rank")
      ->check(CLI::ExistingFile);
  add_quantity(*command, "--timeout", options->limits.timeout, parse_duration,
               "End the job after this long with exit code 124 (60, 500ms, 10m)");
  add_quantity(*command, "--grace", options->limits.grace, parse_duration,
               "Time to end between failure, SIGTERM and SIGKILL (default 5)");
  command->add_flag("--keep-going", options->limits.keep_going,
                    "A rank that fails does not end the job: for programs whose communicators go "
                    "on without it");
  command->add_option("--host", options->host, "MASTER_ADDR: where rank 0 is reached")
      ->capture_default_str();
  command->add_option("--port", options->port, "MASTER_PORT (default: a free one)");
  auto* const emulate = command->add_flag(
      "--emulate", options->emulation.is_wanted,
      "Give every rank emulated RDMA cards: a libibverbs of Troupe's own, no card needed");
  command
      ->add_option("--emulated-network", options->emulation.network_file,
                   "What the network between emulated cards is like (docs/emulation.md)")
      ->check(CLI::ExistingFile)
      ->needs(emulate);
  command
      ->add_option("--emulated-hosts", options->emulation.host_count,
                   "Emulated hosts that the ranks are spread over, in blocks (default: 1)")
      ->check(CLI::Range(1u, launch_rank_count_max))
      ->needs(emulate);
  command->add_flag_function(
      "--tag-output,!--no-tag",
      [options](std::int64_t on) { options->tags = on > 0 ? line_tags::rank : line_tags::none; },
      "Put [rank] before every line of output, or not (default: tag)");
  command->callback([options, &line, &chosen] {
    chosen = [options, &line] {
      options->command = line.program;
      auto code = launch(*options);
      return code ? *code : report_failure(code.error());
    };
  });
}

}  // namespace troupe::cli
