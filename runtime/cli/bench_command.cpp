#include <unistd.h>

#include <array>
#include <memory>

#include "config/launch_environment.hpp"
#include "runtime/cli/bench_run.hpp"
#include "runtime/cli/launcher.hpp"
#include "runtime/cli/setting_options.hpp"
#include "runtime/cli/sub_command.hpp"

namespace troupe::cli {
namespace {

constexpr const char* footer =
    "Starts N ranks on this host and prints nccl-tests' columns; inside a job (torchrun, Slurm,\n"
    "Open MPI, troupe launch) it is one rank of it and takes no -n. Sizes are those of "
    "nccl-tests:\n"
    "the larger of a rank's two buffers. Time is the mean of calls that are waited for one by "
    "one,\n"
    "averaged over ranks. Every size is checked with inputs whose result is exact in any order;\n"
    "#wrong counts elements that differ in any bit, and one makes the exit code 1.\n"
    "\n"
    "Example:\n"
    "  troupe bench all_reduce -n 4 -b 8 -e 128M -f 2 --json all_reduce.json";

/// What the words say, before it is known whether this process is a rank.
struct bench_request {
  std::string collective;
  std::string type = "float32";
  std::string op = "sum";
  std::string lanes;
  bench_options run;
  launch_options launch;
  bool is_rank = false;  ///< started by the branch below
};

/// Words that tell the processes this one starts that they are ranks.
constexpr const char* rank_flag = "--as-rank";
constexpr const char* progress_flag = "--progress";

outcome<std::string> own_program() {
  std::array<char, 4096> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
  if (length > 0) return std::string(path.data(), static_cast<std::size_t>(length));
  return fail(errc::system_failure, "cannot find the path of this program in /proc/self/exe");
}

/// Whether this process is a rank of somebody else's job. Errors: bad_configuration.
outcome<bool> is_rank_of_a_job(const bench_request& request) {
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

outcome<int> launch_ranks(bench_request& request, const command_line& line) {
  auto program = own_program();
  if (!program) return fail(program.error());
  request.launch.command = {*program};
  request.launch.command.insert(request.launch.command.end(), line.words.begin(), line.words.end());
  request.launch.command.emplace_back(rank_flag);
  if (::isatty(STDERR_FILENO) == 1) request.launch.command.emplace_back(progress_flag);
  request.launch.tags = line_tags::none;
  return launch(request.launch);
}

outcome<int> run_bench(bench_request& request, const command_line& line) {
  bench_heading& heading = request.run.heading;
  auto kind = parse_bench_kind(request.collective);
  if (!kind) return fail(kind.error());
  auto type = parse_data_type(request.type);
  if (!type) return fail(type.error());
  auto op = parse_reduction(request.op);
  if (!op) return fail(op.error());
  heading.kind = *kind;
  heading.type = *type;
  heading.op = *op;
  // What needs no second rank to be wrong is said before any is started.
  const std::uint32_t rank_count = std::max(request.launch.rank_count, 1u);
  if (auto shapes = shapes_of(*kind, *type, rank_count, heading.sizes); !shapes)
    return fail(shapes.error());
  if (!request.lanes.empty()) request.run.settings.emplace_back("transport.lanes", request.lanes);
  auto loaded = config::load({.config_file = request.run.config_file,
                              .settings = request.run.settings,
                              .environment = {}});
  if (!loaded) return fail(loaded.error());
  heading.lanes = loaded->values.transport.lanes;

  auto is_rank = is_rank_of_a_job(request);
  if (!is_rank) return fail(is_rank.error());
  return *is_rank ? run_bench_rank(request.run) : launch_ranks(request, line);
}

void add_what_is_measured(CLI::App& command, bench_request& request) {
  bench_heading& heading = request.run.heading;
  command
      .add_option("collective", request.collective,
                  "all_reduce, all_gather, reduce_scatter, broadcast, sendrecv or barrier")
      ->required();
  command.add_option("-n,--ranks", request.launch.rank_count, "Ranks to start on this host")
      ->check(CLI::Range(1u, launch_rank_count_max));
  add_quantity(command, "-b,--minbytes", heading.sizes.first_bytes, parse_size,
               "First size (default 8)");
  add_quantity(command, "-e,--maxbytes", heading.sizes.last_bytes, parse_size,
               "Last size (default 128M)");
  command.add_option("-f,--stepfactor", heading.sizes.factor, "Size grows by this factor")
      ->capture_default_str();
  add_quantity(command, "-i,--stepbytes", heading.sizes.step_bytes, parse_size,
               "Size grows by this many bytes instead");
  command.add_option("-d,--type", request.type, "Element type")->capture_default_str();
  command.add_option("-o,--op", request.op, "Reduction")->capture_default_str();
  command.add_option("-r,--root", heading.root, "Root of a broadcast")->capture_default_str();
}

void add_how_it_is_measured(CLI::App& command, bench_request& request) {
  static const std::map<std::string, bench_places> places{{"both", bench_places::both},
                                                          {"out", bench_places::out_of_place},
                                                          {"only", bench_places::in_place}};
  bench_heading& heading = request.run.heading;
  command.add_option("--iterations", heading.iteration_count, "Calls that are timed")
      ->check(CLI::Range(1u, 1'000'000u))
      ->capture_default_str();
  command.add_option("-w,--warmup", heading.warmup_count, "Calls before, for every size")
      ->check(CLI::Range(0u, 1'000'000u))
      ->capture_default_str();
  command.add_flag("--check,!--no-check", heading.checks, "Compare results (default: yes)");
  command
      .add_option_function<std::string>(
          "--in-place",
          [&request](const std::string& word) { request.run.places = places.at(word); },
          "Halves of the table: only in place, only out of place, or both (default)")
      ->check(CLI::IsMember(places));
  command.add_option("--lanes", request.lanes, "Lane kind (default: transport.lanes)");
  add_algorithm(command, request.run.wanted_algorithm);
  add_settings(command, request.run.settings);
  command.add_option("--json", request.run.json_file, "Write the rows to this file, too");
  command.add_option("--config", request.run.config_file, "TOML file")->check(CLI::ExistingFile);
  add_quantity(command, "--timeout", request.launch.limits.timeout, parse_duration,
               "End everything after this long with exit code 124");
  command.add_flag(rank_flag, request.is_rank)->group("");
  command
      .add_flag_function(progress_flag,
                         [&request](std::int64_t) { request.run.shows = progress::shown; })
      ->group("");
}

}  // namespace

void add_bench_command(CLI::App& app, const command_line& line, action& chosen) {
  CLI::App* command = app.add_subcommand("bench", "Measure a collective and check its results");
  auto request = std::make_shared<bench_request>();
  request->launch.rank_count = 0;
  command->footer(footer);
  add_what_is_measured(*command, *request);
  add_how_it_is_measured(*command, *request);
  command->callback([request, &line, &chosen] {
    chosen = [request, &line] {
      auto code = run_bench(*request, line);
      return code ? *code : report_failure(code.error());
    };
  });
}

}  // namespace troupe::cli
