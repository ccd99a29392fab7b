#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>

#include "config/load.hpp"
#include "runtime/cli/bench_run.hpp"
#include "runtime/cli/cost_fit.hpp"
#include "runtime/cli/json_rows.hpp"
#include "runtime/cli/own_ranks.hpp"
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

constexpr const char* fit_footer =
    "Least squares of T = Tc * steps + bytes / BW over measured rows, for each lane kind; steps "
    "and\n"
    "bytes of an algorithm are those of docs/algorithms.md.\n"
    "\n"
    "Example:\n"
    "  troupe bench all_reduce -n 4 -b 8 -e 16M -f 8 --json rows.json\n"
    "  troupe bench fit rows.json";

/// What the words say, before it is known whether this process is a rank.
struct bench_request {
  std::string collective;
  std::string type = "float32";
  std::string op = "sum";
  std::string lanes;
  bench_options run;
  own_ranks ranks;
};

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
  const std::uint32_t rank_count = std::max(request.ranks.launch.rank_count, 1u);
  if (auto shapes = shapes_of(*kind, *type, rank_count, heading.sizes); !shapes)
    return fail(shapes.error());
  if (!request.lanes.empty()) request.run.settings.emplace_back("transport.lanes", request.lanes);
  auto loaded = config::load({.config_file = request.run.config_file,
                              .settings = request.run.settings,
                              .environment = {}});
  if (!loaded) return fail(loaded.error());
  heading.lanes = loaded->values.transport.lanes;

  auto is_rank = is_rank_of_a_job(request.ranks);
  if (!is_rank) return fail(is_rank.error());
  if (request.ranks.draws_progress) request.run.shows = progress::shown;
  return *is_rank ? run_bench_rank(request.run) : launch_own_ranks(request.ranks, line);
}

void add_what_is_measured(CLI::App& command, bench_request& request) {
  bench_heading& heading = request.run.heading;
  command.add_option("collective", request.collective,
                     "all_reduce, all_gather, reduce_scatter, broadcast, reduce, gather, scatter, "
                     "all_to_all, all_to_all_v, sendrecv or barrier");
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
  command.add_option("-r,--root", heading.root, "Root of broadcast, reduce, gather, scatter")
      ->capture_default_str();
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
  add_own_ranks(command, request.ranks);
}

/// What the words of `bench fit` say.
struct fit_request {
  std::vector<std::string> files;
  std::string json_file;
};

outcome<std::vector<cost_fit>> fit_files(const fit_request& request) {
  std::vector<cost_sample> samples;
  for (const std::string& name : request.files) {
    std::ifstream file(name);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file) return fail(errc::system_failure, "cannot read " + name);
    auto rows = parse_json_rows(text);
    if (!rows) return fail(errc::bad_argument, name + ": " + rows.error().message);
    auto some = samples_of(*rows);
    if (!some) return fail(errc::bad_argument, name + ": " + some.error().message);
    samples.insert(samples.end(), some->begin(), some->end());
  }
  return fit_costs(samples);
}

outcome<int> run_fit(const fit_request& request) {
  const auto fits = fit_files(request);
  if (!fits) return fail(fits.error());
  std::fputs(describe_fits(*fits).c_str(), stdout);
  if (request.json_file.empty()) return 0;
  std::ofstream file(request.json_file);
  file << fits_json(*fits);
  file.close();
  if (file) return 0;
  return fail(errc::system_failure, "cannot write --json " + request.json_file);
}

void add_bench_fit(CLI::App& bench, action& chosen) {
  CLI::App* command = bench.add_subcommand("fit", "Find the cost of a step and of a byte");
  auto request = std::make_shared<fit_request>();
  command->footer(fit_footer);
  command->add_option("rows", request->files, "Files that --json wrote")->required();
  command->add_option("--json", request->json_file, "Write what was found to this file, too");
  command->callback([request, &chosen] {
    chosen = [request] {
      auto code = run_fit(*request);
      return code ? *code : report_failure(code.error());
    };
  });
}

}  // namespace

void add_bench_command(CLI::App& app, const command_line& line, action& chosen) {
  CLI::App* command = app.add_subcommand("bench", "Measure a collective and check its results");
  auto request = std::make_shared<bench_request>();
  command->footer(footer);
  add_what_is_measured(*command, *request);
  add_how_it_is_measured(*command, *request);
  add_bench_fit(*command, chosen);
  add_bench_memory_command(*command, chosen);
  command->callback([command, request, &line, &chosen] {
    if (!command->get_subcommands().empty()) return;
    if (request->collective.empty()) throw CLI::RequiredError("collective");
    chosen = [request, &line] {
      auto code = run_bench(*request, line);
      return code ? *code : report_failure(code.error());
    };
  });
}

}  // namespace troupe::cli
