#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>

#include "runtime/cli/chrome_trace.hpp"
#include "runtime/cli/diagnosis_text.hpp"
#include "runtime/cli/flight_recorder.hpp"
#include "runtime/cli/process_end.hpp"
#include "runtime/cli/report_source.hpp"
#include "runtime/cli/sub_command.hpp"
#include "runtime/diagnosis.hpp"
#include "runtime/rank_dump_json.hpp"

namespace troupe::cli {
namespace {

constexpr const char* dump_footer =
    "Asks ranks of yours on this host what they know of themselves, or reads what they wrote\n"
    "before; a rank answers also when it joins, is stuck, aborts or ends. Formats: json is a line\n"
    "for each rank (docs/protocols/dump.md), flight-recorder what PyTorch's analyser reads, "
    "chrome\n"
    "a timeline of all ranks for Perfetto.\n"
    "\n"
    "Examples:\n"
    "  troupe dump 4711\n"
    "  troupe dump --format chrome --output timeline.json\n"
    "  troupe dump dumps/ --format flight-recorder --output traces/rank_";

constexpr const char* analyze_footer =
    "Exit code: 0 nothing is wrong; 11 mismatched_call, 12 process_dead, 13 lane_dead,\n"
    "14 rank_silent, 15 never_joined, 16 stuck_in_operation, 17 communicator_deadlock,\n"
    "18 stuck_outside, 19 slow_rank, 20 join_incomplete.\n"
    "\n"
    "Examples:\n"
    "  troupe analyze\n"
    "  troupe analyze 4711 4712\n"
    "  troupe analyze dumps/ --json";

enum class dump_format { json, flight_recorder, chrome };

struct dump_words {
  dump_request from;
  dump_format format = dump_format::json;
  std::string output;
  bool as_json = false;
  diagnosis_options judged;
};

void add_source(CLI::App& command, dump_words& words) {
  command.add_option("target", words.from.targets,
                     "Process numbers, files or directories of dumps (default: all ranks of this "
                     "user on this host)");
  command.add_option("--job", words.from.job, "Only dumps of this job");
  add_quantity<duration>(command, "--wait", words.from.limit, &parse_duration,
                         "Longest wait for answers (default: 2s)");
}

outcome<void> write_file(const std::string& name, const std::string& text) {
  std::ofstream file(name, std::ios::binary);
  file << text;
  file.close();
  if (file) return {};
  return fail(errc::system_failure, "cannot write " + name + ": " + std::strerror(errno));
}

outcome<void> write_out(const std::string& name, const std::string& text) {
  if (!name.empty()) return write_file(name, text);
  std::fputs(text.c_str(), stdout);
  return {};
}

/// One file a rank: the analyser takes the rank from the end of the name.
outcome<void> write_flight_recorder(const std::string& prefix,
                                    const std::vector<rank_dump>& dumps) {
  if (prefix.empty())
    return fail(errc::bad_argument,
                "--format flight-recorder writes a file for each rank: say with --output how "
                "their names begin, such as traces/rank_");
  std::set<std::uint32_t> written;
  for (const auto& dump : dumps) {
    if (!written.insert(dump.self.value).second)
      return fail(errc::bad_argument, "there are several dumps of rank " +
                                          std::to_string(dump.self.value) +
                                          "; choose with --job or by process");
    if (auto done = write_file(prefix + std::to_string(dump.self.value), to_flight_recorder(dump));
        !done)
      return done;
  }
  return {};
}

outcome<void> write_dumps(const dump_words& words, const std::vector<rank_dump>& dumps) {
  switch (words.format) {
    case dump_format::chrome: return write_out(words.output, to_chrome_trace(dumps) + "\n");
    case dump_format::flight_recorder: return write_flight_recorder(words.output, dumps);
    case dump_format::json: break;
  }
  std::string lines;
  for (const auto& dump : dumps)
    lines += troupe::to_json(dump) + "\n";
  return write_out(words.output, lines);
}

outcome<int> run_dump(const dump_words& words) {
  const auto gathered = gather_dumps(words.from);
  if (!gathered) return fail(gathered.error());
  for (const auto& note : gathered->notes)
    std::fprintf(stderr, "troupe: dump: %s\n", note.c_str());
  if (auto written = write_dumps(words, gathered->dumps); !written) return fail(written.error());
  // A dump that is missing is not a dump: who runs this from a script has to see it.
  return gathered->notes.empty() ? 0 : static_cast<int>(exit_code::failure);
}

outcome<int> run_analyze(const dump_words& words) {
  const auto gathered = gather_dumps(words.from);
  if (!gathered) return fail(gathered.error());
  const auto found = diagnose(gathered->dumps, words.judged);
  const auto text =
      words.as_json ? to_json(found, gathered->notes) : describe(found, gathered->notes);
  std::fputs(text.c_str(), stdout);
  return exit_code_of(found.verdict);
}

}  // namespace

void add_dump_command(CLI::App& app, action& chosen) {
  CLI::App* command = app.add_subcommand("dump", "Print what ranks know of themselves");
  command->footer(dump_footer);
  auto words = std::make_shared<dump_words>();
  add_source(*command, *words);
  command->add_option("--format", words->format, "json, flight-recorder or chrome (default: json)")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, dump_format>{{"json", dump_format::json},
                                             {"flight-recorder", dump_format::flight_recorder},
                                             {"chrome", dump_format::chrome}}));
  command->add_option("--output", words->output,
                      "File to write; flight-recorder: how the names of its files begin");
  command->callback([words, &chosen] {
    chosen = [words] {
      auto code = run_dump(*words);
      return code ? *code : report_failure(code.error());
    };
  });
}

void add_analyze_command(CLI::App& app, action& chosen) {
  CLI::App* command =
      app.add_subcommand("analyze", "Say what is wrong with a job, and who is to blame");
  command->footer(analyze_footer);
  auto words = std::make_shared<dump_words>();
  add_source(*command, *words);
  command->add_flag("--json", words->as_json, "The verdict as JSON");
  add_quantity<duration>(*command, "--stuck-after", words->judged.stuck_after, &parse_duration,
                         "Age from which an operation counts as stuck (default: 2s)");
  add_quantity<duration>(*command, "--outside-after", words->judged.outside_after, &parse_duration,
                         "Time without a call from which a job counts as stuck (default: 60s)");
  command->callback([words, &chosen] {
    chosen = [words] {
      auto code = run_analyze(*words);
      return code ? *code : report_failure(code.error());
    };
  });
}

}  // namespace troupe::cli
