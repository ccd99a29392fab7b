#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <mutex>
#include <thread>

#include "runtime/cli/bench_shape.hpp"
#include "runtime/cli/process_end.hpp"
#include "runtime/cli/setting_options.hpp"
#include "runtime/cli/sim_report.hpp"
#include "runtime/cli/sub_command.hpp"
#include "runtime/simulation.hpp"

namespace troupe::cli {
namespace {

constexpr const char* footer =
    "Runs the real actors of all ranks in one thread, in virtual time: what happens next is drawn\n"
    "from the seed. Equal options give an equal trace hash.\n"
    "\n"
    "Example:\n"
    "  troupe sim all_reduce -n 1024 --bytes 1M --seed 7 --twice";

/// What the words say.
struct sim_request {
  simulation_options run;
  std::string operation;
  std::string type = "float32";
  std::string op = "sum";
  std::uint64_t bytes = 0;  ///< 0: the count holds
  std::string json_file;
  bool twice = false;
};

outcome<operation_kind> parse_operation(std::string_view name) {
  constexpr std::array<operation_kind, 10> simulated{
      operation_kind::all_reduce,  operation_kind::all_gather, operation_kind::reduce_scatter,
      operation_kind::broadcast,   operation_kind::barrier,    operation_kind::reduce,
      operation_kind::gather,      operation_kind::scatter,    operation_kind::all_to_all,
      operation_kind::all_to_all_v};
  std::string known;
  for (const operation_kind kind : simulated) {
    if (name == to_string(kind)) return kind;
    known += (known.empty() ? "" : ", ") + std::string(to_string(kind));
  }
  return fail(errc::bad_argument,
              "operation '" + std::string(name) + "' cannot be simulated; there are: " + known);
}

/// Says on a terminal that a long run goes on: once a second, while it lives.
class elapsed_line {
 public:
  explicit elapsed_line(std::string what) : what_(std::move(what)) {
    if (::isatty(STDERR_FILENO) == 1) thread_ = std::thread([this] { draw(); });
  }

  ~elapsed_line() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }

 private:
  void draw() {
    std::unique_lock lock(mutex_);
    int seconds = 0;
    while (!wake_.wait_for(lock, std::chrono::seconds(1), [this] { return done_; }))
      std::fprintf(stderr, "\r\x1b[K# %s, %d s", what_.c_str(), ++seconds);
    if (seconds > 0) std::fputs("\r\x1b[K", stderr);
  }

  std::string what_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
  std::thread thread_;
};

/// One run, and how long it took in real time.
struct timed_report {
  simulation_report report;
  duration wall{};
};

outcome<timed_report> run_timed(const simulation_options& options) {
  const elapsed_line line("simulating " + std::to_string(options.rank_count) + " ranks");
  const auto start = std::chrono::steady_clock::now();
  auto report = simulate(options);
  if (!report) return fail(std::move(report.error()));
  return timed_report{*report, std::chrono::steady_clock::now() - start};
}

outcome<void> write_json(const sim_request& request, const timed_report& run) {
  if (request.json_file.empty()) return {};
  std::ofstream file(request.json_file);
  file << report_json(request.run, run.report, run.wall);
  file.close();
  if (file) return {};
  return fail(errc::system_failure,
              "cannot write --json " + request.json_file + ": " + std::strerror(errno));
}

outcome<void> complete(sim_request& request) {
  operation_signature& operation = request.run.operation;
  auto kind = parse_operation(request.operation);
  if (!kind) return fail(kind.error());
  auto type = parse_data_type(request.type);
  if (!type) return fail(type.error());
  auto op = parse_reduction(request.op);
  if (!op) return fail(op.error());
  operation.kind = *kind;
  operation.type = *type;
  operation.op = *op;
  if (request.bytes != 0) operation.count = request.bytes / size_of(*type);
  if (operation.root >= request.run.rank_count)
    return fail(errc::bad_argument, "--root " + std::to_string(operation.root) +
                                        " is no rank; there are 0 to " +
                                        std::to_string(request.run.rank_count - 1));
  return {};
}

outcome<int> run_sim(sim_request& request) {
  if (auto done = complete(request); !done) return fail(std::move(done.error()));
  auto first = run_timed(request.run);
  if (!first) return fail(std::move(first.error()));
  std::fputs(describe_report(request.run, first->report, first->wall).c_str(), stdout);
  if (auto written = write_json(request, *first); !written) return fail(std::move(written.error()));
  bool good = first->report.wrong_elements == 0;
  if (request.twice) {
    auto second = run_timed(request.run);
    if (!second) return fail(std::move(second.error()));
    const bool same = second->report.trace_hash == first->report.trace_hash;
    std::printf("%-24s%016llx, %s\n", "second trace hash",
                static_cast<unsigned long long>(second->report.trace_hash),
                same ? "the same" : "DIFFERENT");
    good = good && same && second->report.wrong_elements == 0;
  }
  return static_cast<int>(good ? exit_code::success : exit_code::wrong_result);
}

}  // namespace

void add_sim_command(CLI::App& app, action& chosen) {
  CLI::App* command = app.add_subcommand("sim", "Run a collective of many ranks in virtual time");
  auto request = std::make_shared<sim_request>();
  simulation_options& run = request->run;
  command->footer(footer);
  command
      ->add_option("operation", request->operation,
                   "all_reduce, all_gather, reduce_scatter, broadcast, reduce, gather, scatter, "
                   "all_to_all, all_to_all_v or barrier")
      ->required();
  command->add_option("-n,--ranks", run.rank_count, "Ranks")
      ->check(CLI::Range(1u, 1u << 20))
      ->capture_default_str();
  CLI::Option* count = command->add_option("--count", run.operation.count, "Elements of the call");
  count->capture_default_str();
  add_quantity(*command, "--bytes", request->bytes, parse_size, "The same in bytes (4K, 1M)")
      ->excludes(count);
  command->add_option("-d,--type", request->type, "Element type")->capture_default_str();
  command->add_option("-o,--op", request->op, "Reduction")->capture_default_str();
  command->add_option("-r,--root", run.operation.root, "Root of broadcast, reduce, gather, scatter")
      ->capture_default_str();
  command->add_option("--seed", run.seed, "Seed of everything random")->capture_default_str();
  command->add_option("--repeat", run.repetition_count, "Operations, one after the other")
      ->check(CLI::Range(1u, 1'000'000u))
      ->capture_default_str();
  add_quantity(*command, "--latency", run.latency, parse_duration,
               "Of every wire, one way (default 5us)");
  add_quantity(*command, "--bandwidth", run.bytes_per_second, parse_rate,
               "Of every wire, one way (default 25GB/s)");
  add_algorithm(*command, run.call.algorithm);
  add_settings(*command, run.settings);
  command->add_option("--json", request->json_file, "Write the facts to this file, too");
  command->add_flag("--twice", request->twice, "Run again and compare the trace hash");
  command->callback([request, &chosen] {
    chosen = [request] {
      auto code = run_sim(*request);
      return code ? *code : report_failure(code.error());
    };
  });
}

}  // namespace troupe::cli
