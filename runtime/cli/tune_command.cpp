#include <memory>

#include "config/load.hpp"
#include "runtime/cli/own_ranks.hpp"
#include "runtime/cli/setting_options.hpp"
#include "runtime/cli/sub_command.hpp"
#include "runtime/cli/tune_run.hpp"

namespace troupe::cli {
namespace {

constexpr const char* footer =
    "Measures every algorithm of all_reduce, all_gather, reduce_scatter, broadcast and reduce at\n"
    "every size, algorithms in turn, and writes the thresholds of [collective] that take the "
    "least\n"
    "time. Like bench it starts N ranks here, or is one rank of a job and takes no -n. The file is "
    "a\n"
    "part of a configuration: pass it with --config or TROUPE_CONFIG, or copy its lines.\n"
    "\n"
    "Example:\n"
    "  troupe tune -n 4 -o tuned.toml\n"
    "  troupe config check tuned.toml";

/// What the words say.
struct tune_request {
  tune_options run;
  own_ranks ranks;
  std::string lanes;
};

outcome<int> run_tune(tune_request& request, const command_line& line) {
  if (!request.lanes.empty()) request.run.settings.emplace_back("transport.lanes", request.lanes);
  // What needs no second rank to be wrong is said before any is started.
  const size_range& sizes = request.run.sizes;
  auto shapes = shapes_of(bench_kind::all_reduce, data_type::float32, 2, sizes);
  if (!shapes) return fail(shapes.error());
  auto loaded = config::load({.config_file = request.run.config_file,
                              .settings = request.run.settings,
                              .environment = {}});
  if (!loaded) return fail(loaded.error());
  auto is_rank = is_rank_of_a_job(request.ranks);
  if (!is_rank) return fail(is_rank.error());
  if (*is_rank) return run_tune_rank(request.run);
  if (request.ranks.launch.rank_count < 2)
    return fail(errc::bad_argument,
                "-n 1 has nothing to tune: one rank alone only copies; give at least 2");
  return launch_own_ranks(request.ranks, line);
}

}  // namespace

void add_tune_command(CLI::App& app, const command_line& line, action& chosen) {
  CLI::App* command = app.add_subcommand("tune", "Measure which algorithm is best at which size");
  auto request = std::make_shared<tune_request>();
  tune_options& run = request->run;
  command->footer(footer);
  add_own_ranks(*command, request->ranks);
  add_quantity(*command, "-b,--minbytes", run.sizes.first_bytes, parse_size,
               "First size (default 1K)");
  add_quantity(*command, "-e,--maxbytes", run.sizes.last_bytes, parse_size,
               "Last size (default 16M)");
  command->add_option("-f,--stepfactor", run.sizes.factor, "Size grows by this factor")
      ->capture_default_str();
  command
      ->add_option("--iterations", run.iteration_count,
                   "Timed calls of each algorithm; above 1M at most 5")
      ->check(CLI::Range(1u, 1'000'000u))
      ->capture_default_str();
  command->add_option("--lanes", request->lanes, "Lane kind (default: transport.lanes)");
  command->add_option("-o,--output", run.output_file, "File for the thresholds (default: print)");
  command->add_option("--config", run.config_file, "TOML file")->check(CLI::ExistingFile);
  add_settings(*command, run.settings);
  command->callback([request, &line, &chosen] {
    chosen = [request, &line] {
      auto code = run_tune(*request, line);
      return code ? *code : report_failure(code.error());
    };
  });
}

}  // namespace troupe::cli
