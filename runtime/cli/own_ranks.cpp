#include "runtime/cli/own_ranks.hpp"

#include <unistd.h>

#include <array>

#include "config/launch_environment.hpp"

namespace troupe::cli {
namespace {

/// Words that tell the processes this one starts that they are ranks.
constexpr const char* rank_flag = "--as-rank";
constexpr const char* progress_flag = "--progress";

outcome<std::string> own_program() {
  std::array<char, 4096> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
  if (length > 0) return std::string(path.data(), static_cast<std::size_t>(length));
  return fail(errc::system_failure, "cannot find the path of this program in /proc/self/exe");
}

}  // namespace

void add_own_ranks(CLI::App& command, own_ranks& request) {
  request.launch.rank_count = 0;
  command.add_option("-n,--ranks", request.launch.rank_count, "Ranks to start on this host")
      ->check(CLI::Range(1u, launch_rank_count_max));
  add_quantity(command, "--timeout", request.launch.limits.timeout, parse_duration,
               "End everything after this long with exit code 124");
  command.add_flag(rank_flag, request.is_rank)->group("");
  command.add_flag(progress_flag, request.draws_progress)->group("");
}

outcome<bool> is_rank_of_a_job(const own_ranks& request) {
  if (request.is_rank) return true;
  const config::environment_variables variables = config::process_environment();
  if (request.launch.rank_count == 0) {
    auto place = config::find_launch_environment({}, variables);
    if (place) return true;
    return fail(errc::bad_configuration,
                "-n N starts N ranks here; without it this process must be a rank of a job, but " +
                    place.error().message);
  }
  // Batch systems describe a job to every script; whoever sets torchrun's variables means it.
  const auto size = variables.find("WORLD_SIZE");
  if (variables.count("RANK") == 0 || size == variables.end()) return false;
  if (size->second == std::to_string(request.launch.rank_count)) return true;
  return fail(errc::bad_configuration, "-n " + std::to_string(request.launch.rank_count) +
                                           " contradicts WORLD_SIZE=" + size->second +
                                           " in the environment; leave -n out, or unset RANK and "
                                           "WORLD_SIZE to start a job of its own");
}

outcome<int> launch_own_ranks(own_ranks& request, const command_line& line) {
  auto program = own_program();
  if (!program) return fail(program.error());
  request.launch.command = {*program};
  request.launch.command.insert(request.launch.command.end(), line.words.begin(), line.words.end());
  request.launch.command.emplace_back(rank_flag);
  if (::isatty(STDERR_FILENO) == 1) request.launch.command.emplace_back(progress_flag);
  request.launch.tags = line_tags::none;
  return launch(request.launch);
}

}  // namespace troupe::cli
