#include "runtime/cli/scenario_report.hpp"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <map>

#include "runtime/cli/sim_report.hpp"
#include "runtime/scenario/explain_scenario.hpp"
#include "runtime/scenario/scenario_names.hpp"

namespace troupe::cli {
namespace {

using scenario::judgement;

template <class... Values>
std::string print(const char* format, Values... values) {
  std::array<char, 256> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

double seconds(duration d) {
  return std::chrono::duration<double>(d).count();
}

duration length_of(const scenario::run_record& record) {
  return record.ended - record.work_began.value_or(record.ended);
}

std::string end_of(const scenario::rank_record& each) {
  if (!each.crash.empty()) return "crash (" + each.crash + ')';
  return each.outcome ? to_string(*each.outcome) : "not ended";
}

std::string strikes_text(const scenario::script& of, const scenario_run& run) {
  std::string text;
  const instant zero = run.record.work_began.value_or(run.record.ended);
  for (std::size_t i = 0; i < run.plan.strikes.size(); ++i) {
    const auto& each = run.plan.strikes[i];
    const auto& record = run.record.strikes[i];
    scenario::fault what = of.faults[each.fault];
    if (what.whom.what != scenario::selector::kind::link) {
      what.whom.what = scenario::selector::kind::ranks;
      what.whom.numbers = each.targets;
    }
    what.repeat = 1;
    const std::string when = !record.struck          ? "never"
                             : *record.struck < zero ? "while joining"
                                                     : describe_time(*record.struck - zero);
    text += "  " + when + ": " + describe(what) + '\n';
  }
  return text;
}

/// Ranks that ended alike in one line.
std::string ends_text(const scenario_run& run) {
  std::map<std::string, std::vector<std::uint32_t>> alike;
  for (std::uint32_t r = 0; r < run.record.ranks.size(); ++r) {
    const auto& each = run.record.ranks[r];
    alike[end_of(each) + " after " + std::to_string(each.steps_done) + " steps"].push_back(r);
  }
  std::string text;
  for (const auto& [end, ranks] : alike) {
    const auto& first = run.record.ranks[ranks.front()];
    text += "  " + std::string(ranks.size() == 1 ? "rank " : "ranks ") + describe_ranks(ranks) +
            ": " + end;
    if (!first.why.message.empty()) text += ": " + first.why.message;
    text += '\n';
  }
  return text;
}

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + '"';
}

std::string xml_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string rank_json(std::uint32_t r, const scenario::run_record& record) {
  const auto& each = record.ranks[r];
  std::string text =
      "{\"rank\": " + std::to_string(r) + ", \"outcome\": " + json_text(end_of(each));
  text += ", \"steps\": " + std::to_string(each.steps_done);
  text += ", \"wrong_elements\": " + std::to_string(each.wrong_elements);
  if (each.why.code() != errc::ok) text += ", \"message\": " + json_text(each.why.message);
  if (each.outcome && record.work_began)
    text += print(", \"ended_s\": %.9f", seconds(each.ended - *record.work_began));
  return text + '}';
}

}  // namespace

std::string reproduction(const scenario::script& of, scenario::world_kind where,
                         std::uint64_t seed) {
  return "troupe scenario run " + of.file_name + " --world " + std::string(to_string(where)) +
         " --seed " + std::to_string(seed);
}

std::string describe_run(const scenario::script& of, scenario::world_kind where,
                         const scenario_run& run, report_detail detail) {
  const judgement worst = scenario::worst_of(run.findings);
  std::string text = of.file_name + ", world " + std::string(to_string(where)) + ", seed " +
                     std::to_string(run.seed) + ": " + std::string(to_string(worst)) + ", " +
                     describe_time(length_of(run.record));
  if (where == scenario::world_kind::sim)
    text += print(" virtual, trace hash %016" PRIx64, run.record.trace_hash);
  text += print(", wall time %.3f s\n", seconds(run.wall));
  if (detail == report_detail::story) text += strikes_text(of, run) + ends_text(run);
  for (const scenario::finding& each : run.findings) {
    text += "  " + std::string(to_string(each.how)) + ": ";
    if (each.line != 0) text += of.file_name + ':' + std::to_string(each.line) + ": ";
    text += each.text + '\n';
  }
  if (worst != judgement::good) text += "  reproduce: " + reproduction(of, where, run.seed) + '\n';
  return text;
}

std::string runs_json(const scenario::script& of, scenario::world_kind where,
                      const std::vector<scenario_run>& runs) {
  std::string text = "[";
  for (const scenario_run& run : runs) {
    text += text.size() == 1 ? "\n" : ",\n";
    text += "{\"script\": " + json_text(of.file_name) +
            ", \"world\": " + json_text(to_string(where)) +
            ", \"seed\": " + std::to_string(run.seed);
    text += ", \"result\": " + json_text(to_string(scenario::worst_of(run.findings)));
    text += print(", \"run_s\": %.9f, \"wall_s\": %.6f", seconds(length_of(run.record)),
                  seconds(run.wall));
    if (where == scenario::world_kind::sim)
      text += print(", \"trace_hash\": \"%016" PRIx64 "\"", run.record.trace_hash);
    text += ", \"reproduce\": " + json_text(reproduction(of, where, run.seed));
    text += ",\n \"findings\": [";
    for (std::size_t i = 0; i < run.findings.size(); ++i)
      text += (i == 0 ? "" : ", ") + std::string("{\"how\": ") +
              json_text(to_string(run.findings[i].how)) +
              ", \"line\": " + std::to_string(run.findings[i].line) +
              ", \"text\": " + json_text(run.findings[i].text) + '}';
    text += "],\n \"ranks\": [";
    for (std::uint32_t r = 0; r < run.record.ranks.size(); ++r)
      text += (r == 0 ? "" : ",\n  ") + rank_json(r, run.record);
    text += "]}";
  }
  return text + "\n]\n";
}

std::string runs_junit(const scenario::script& of, scenario::world_kind where,
                       const std::vector<scenario_run>& runs) {
  const auto failures = std::count_if(
      runs.begin(), runs.end(), [](const scenario_run& run) { return !run.findings.empty(); });
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"" +
                     xml_text(of.file_name) + "\" tests=\"" + std::to_string(runs.size()) +
                     "\" failures=\"" + std::to_string(failures) + "\">\n";
  for (const scenario_run& run : runs) {
    text += "  <testcase classname=\"" + xml_text(of.file_name) + "\" name=\"" +
            std::string(to_string(where)) + " seed " + std::to_string(run.seed) +
            print("\" time=\"%.6f\">\n", seconds(run.wall));
    for (const scenario::finding& each : run.findings)
      text += "    <failure type=\"" + std::string(to_string(each.how)) + "\" message=\"" +
              xml_text(each.text) + "\">" + xml_text(reproduction(of, where, run.seed)) +
              "</failure>\n";
    text += "  </testcase>\n";
  }
  return text + "</testsuite>\n";
}

exit_code exit_code_of(judgement worst) {
  switch (worst) {
    case judgement::good: return exit_code::success;
    case judgement::missed_deadline: return exit_code::timed_out;
    case judgement::wrong_result: return exit_code::wrong_result;
    case judgement::crash: return exit_code::crashed;
  }
  return exit_code::failure;
}

}  // namespace troupe::cli
