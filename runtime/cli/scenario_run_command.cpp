#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "runtime/cli/process_end.hpp"
#include "runtime/cli/scenario_play.hpp"
#include "runtime/cli/scenario_report.hpp"
#include "runtime/cli/sub_command.hpp"
#include "runtime/scenario/check_scenario.hpp"

namespace troupe::cli {
namespace {

constexpr const char* footer =
    "Exit codes: 0 as expected, 1 wrong result, 2 bad script, 4 crash, 124 missed deadline.\n"
    "\n"
    "Example:\n"
    "  troupe scenario run killed_rank.toml --world sim --seeds 1..100 --json runs.json";

/// What the words say.
struct run_request {
  std::string path;
  std::string world = "sim";
  std::uint64_t seed = 1;
  std::string seeds;  ///< "A..B"; empty: `seed` alone
  std::string json_file;
  std::string junit_file;
  bool twice = false;
};

struct seed_range {
  std::uint64_t first = 1;
  std::uint64_t last = 1;
};

outcome<seed_range> seeds_of(const run_request& request) {
  if (request.seeds.empty()) return seed_range{request.seed, request.seed};
  const std::string& text = request.seeds;
  const char* end = text.data() + text.size();
  seed_range out;
  const auto first = std::from_chars(text.data(), end, out.first);
  const bool dots =
      first.ec == std::errc() && end - first.ptr > 2 && first.ptr[0] == '.' && first.ptr[1] == '.';
  const auto last = dots ? std::from_chars(first.ptr + 2, end, out.last) : first;
  if (!dots || last.ec != std::errc() || last.ptr != end || out.last < out.first)
    return fail(errc::bad_argument, "--seeds '" + text + "' is no range; write 1..100");
  return out;
}

/// Plays a seed again and notes a trace that is not the same.
outcome<void> compare_traces(const scenario::script& of, scenario_run& run) {
  const auto again = play_once(of, scenario::world_kind::sim, run.seed);
  if (!again) return fail(again.error());
  if (again->record.trace_hash != run.record.trace_hash)
    run.findings.push_back({scenario::judgement::wrong_result, 0,
                            "played twice, the trace hash differs: the run is not repeatable"});
  return {};
}

outcome<int> run_scenario(const run_request& request) {
  const auto where = parse_world(request.world);
  if (!where) return fail(where.error());
  const auto seeds = seeds_of(request);
  if (!seeds) return fail(seeds.error());
  if (request.twice && *where != scenario::world_kind::sim)
    return fail(errc::bad_argument, "--twice compares traces, which only the world sim has");
  const auto script = load_script(request.path);
  if (!script) return fail(script.error());
  if (auto checked = scenario::check_world(*script, *where); !checked) return fail(checked.error());

  const bool many = seeds->last > seeds->first;
  std::vector<scenario_run> runs;
  scenario::judgement worst = scenario::judgement::good;
  for (std::uint64_t seed = seeds->first;; ++seed) {
    auto run = play_once(*script, *where, seed);
    if (!run) return fail(run.error());
    if (request.twice)
      if (auto same = compare_traces(*script, *run); !same) return fail(same.error());
    worst = std::max(worst, scenario::worst_of(run->findings));
    const bool tell = !many || !run->findings.empty();
    std::fputs(
        describe_run(*script, *where, *run, tell ? report_detail::story : report_detail::line)
            .c_str(),
        stdout);
    std::fflush(stdout);
    runs.push_back(*std::move(run));
    if (seed == seeds->last) break;
  }
  if (auto done = write_file("--json", request.json_file, runs_json(*script, *where, runs)); !done)
    return fail(done.error());
  if (auto done = write_file("--junit", request.junit_file, runs_junit(*script, *where, runs));
      !done)
    return fail(done.error());
  return static_cast<int>(exit_code_of(worst));
}

}  // namespace

void add_scenario_run_command(CLI::App& scenario, action& chosen) {
  CLI::App* command = scenario.add_subcommand("run", "Play a script and judge what happened");
  auto request = std::make_shared<run_request>();
  command->footer(footer);
  command->add_option("file", request->path, "Script")->required();
  command->add_option("-w,--world", request->world, "sim, process or gpu")->capture_default_str();
  CLI::Option* seed = command->add_option("--seed", request->seed, "Seed of everything random")
                          ->capture_default_str();
  command->add_option("--seeds", request->seeds, "First and last seed, A..B")->excludes(seed);
  command->add_option("--json", request->json_file, "Write the runs to this file, too");
  command->add_option("--junit", request->junit_file, "The same as JUnit XML");
  command->add_flag("--twice", request->twice, "Play each seed again and compare the trace hash");
  command->callback([request, &chosen] {
    chosen = [request] {
      const auto code = run_scenario(*request);
      return code ? *code : report_failure(code.error());
    };
  });
}

}  // namespace troupe::cli
