#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "runtime/cli/memory_run.hpp"
#include "runtime/cli/own_ranks.hpp"
#include "runtime/cli/setting_options.hpp"
#include "runtime/cli/sub_command.hpp"

namespace troupe::cli {
namespace {

constexpr const char* footer =
    "Starts jobs of 2, 8 and 64 processes and one of 1,024 simulated ranks, or those of -n and\n"
    "--simulated, and prints what a rank holds when it has joined (idle) and after reductions\n"
    "along the ring (used; simulated: broadcasts along a chain). Rows are the purposes of the\n"
    "ledger; below it stand what malloc says and the difference. Simulated ranks have small\n"
    "rings, as thousands of them share one process.\n"
    "\n"
    "Example:\n"
    "  troupe bench memory -n 8 --json memory.json";

/// What is measured if nothing is asked for.
constexpr std::array<std::uint32_t, 3> default_process_counts{2, 8, 64};
constexpr std::uint32_t default_simulated_count = 1024;

/// A word that tells a rank where its job's rows go.
constexpr const char* rows_option = "--rows";

/// What the words say.
struct memory_request {
  own_ranks ranks;
  std::uint32_t simulated_count = 0;
  std::string lanes;
  std::string json_file;
  memory_run_options run;
};

/// A file that goes away with this object.
class temporary_file {
 public:
  static outcome<temporary_file> make() {
    // The six last letters are what mkstemp replaces.
    std::string name = std::filesystem::temp_directory_path() / "troupe_memory.XXXXXX";
    const int file = ::mkstemp(name.data());
    if (file < 0)
      return fail(errc::system_failure, "cannot make " + name + ": " + std::strerror(errno));
    ::close(file);
    return temporary_file(std::move(name));
  }
  ~temporary_file() {
    if (!name_.empty()) ::unlink(name_.c_str());
  }
  temporary_file(temporary_file&& other) noexcept : name_(std::exchange(other.name_, {})) {}
  temporary_file& operator=(temporary_file&&) = delete;

  const std::string& name() const { return name_; }

 private:
  explicit temporary_file(std::string name) : name_(std::move(name)) {}
  std::string name_;
};

/// Runs one job of processes. An exit code other than 0 is that of the job, which said why.
outcome<int> measure_processes(memory_request& request, std::uint32_t count,
                               std::vector<memory_case>& out) {
  const auto rows = temporary_file::make();
  if (!rows) return fail(rows.error());
  command_line line;
  line.words = {"bench", "memory", rows_option, rows->name()};
  for (const auto& [name, value] : request.run.settings)
    line.words.insert(line.words.end(), {"--set", name + "=" + value});
  request.ranks.launch.rank_count = count;
  auto code = launch_own_ranks(request.ranks, line);
  if (!code || *code != 0) return code;
  std::ifstream file(rows->name());
  auto read = parse_json_rows(std::string(std::istreambuf_iterator<char>(file), {}));
  if (!read) return fail(read.error());
  auto cases = memory_cases_of(*read);
  if (!cases) return fail(cases.error());
  out.insert(out.end(), cases->begin(), cases->end());
  return 0;
}

outcome<void> write_json(const std::string& name, const std::vector<memory_case>& cases) {
  if (name.empty()) return {};
  std::ofstream file(name);
  file << memory_json(cases);
  file.close();
  if (file) return {};
  return fail(errc::system_failure, "cannot write --json " + name + ": " + std::strerror(errno));
}

outcome<int> run_memory(memory_request& request) {
  if (!request.lanes.empty()) request.run.settings.emplace_back("transport.lanes", request.lanes);
  if (request.ranks.is_rank) return run_memory_rank(request.run);
  std::vector<std::uint32_t> process_counts;
  if (request.ranks.launch.rank_count != 0)
    process_counts.push_back(request.ranks.launch.rank_count);
  else if (request.simulated_count == 0)
    process_counts.assign(default_process_counts.begin(), default_process_counts.end());
  if (request.ranks.launch.rank_count == 0 && request.simulated_count == 0)
    request.simulated_count = default_simulated_count;
  std::vector<memory_case> cases;
  for (const std::uint32_t count : process_counts)
    if (auto code = measure_processes(request, count, cases); !code || *code != 0) return code;
  if (request.simulated_count != 0) {
    auto simulated = simulate_memory(request.simulated_count);
    if (!simulated) return fail(simulated.error());
    cases.insert(cases.end(), simulated->begin(), simulated->end());
  }
  std::fputs(describe_memory(cases).c_str(), stdout);
  if (auto written = write_json(request.json_file, cases); !written) return fail(written.error());
  return 0;
}

}  // namespace

void add_bench_memory_command(CLI::App& bench, action& chosen) {
  CLI::App* command = bench.add_subcommand("memory", "Print what a rank holds, by purpose");
  auto request = std::make_shared<memory_request>();
  command->footer(footer);
  add_own_ranks(*command, request->ranks);
  command->add_option("--simulated", request->simulated_count, "Ranks to simulate")
      ->check(CLI::Range(2u, 1u << 20));
  command->add_option("--lanes", request->lanes, "Lane kind (default: transport.lanes)");
  command->add_option("--json", request->json_file, "Write the cases to this file, too");
  command->add_option(rows_option, request->run.rows_file)->group("");
  add_settings(*command, request->run.settings);
  command->callback([request, &chosen] {
    chosen = [request] {
      auto code = run_memory(*request);
      return code ? *code : report_failure(code.error());
    };
  });
}

}  // namespace troupe::cli
