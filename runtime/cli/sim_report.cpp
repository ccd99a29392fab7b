#include "runtime/cli/sim_report.hpp"

#include <array>
#include <cinttypes>
#include <cstdio>

#include "runtime/cli/units.hpp"

namespace troupe::cli {
namespace {

template <class... Values>
std::string print(const char* format, Values... values) {
  std::array<char, 256> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

/// Messages of one rank for one operation.
double per_rank_and_operation(const simulation_options& options, std::uint64_t total) {
  return static_cast<double>(total) / options.rank_count / options.repetition_count;
}

std::string fact(const char* name, const std::string& value) {
  return print("%-24s", name) + value + "\n";
}

std::string count_text(std::uint64_t count) {
  return std::to_string(count);
}

double seconds(duration d) {
  return std::chrono::duration<double>(d).count();
}

}  // namespace

std::string describe_time(duration d) {
  const auto ns = static_cast<double>(d.count());
  if (ns < 1e3) return print("%.0f ns", ns);
  if (ns < 1e6) return print("%.3f us", ns / 1e3);
  if (ns < 1e9) return print("%.3f ms", ns / 1e6);
  return print("%.3f s", ns / 1e9);
}

std::string describe_report(const simulation_options& options, const simulation_report& report,
                            duration wall) {
  const double each = per_rank_and_operation(options, report.operation_messages);
  std::string text = "# " + to_string(options.operation) + " x " +
                     count_text(options.repetition_count) + " on " +
                     count_text(options.rank_count) + " ranks, seed " + count_text(options.seed) +
                     ", wires of " + describe_time(options.latency) + " and " +
                     print("%g GB/s", static_cast<double>(options.bytes_per_second) / 1e9) + "\n";
  text += fact("join, virtual", describe_time(report.join_time));
  text += fact("operations, virtual", describe_time(report.operation_time));
  if (options.repetition_count > 1)
    text += fact("one operation, virtual",
                 describe_time(report.operation_time / options.repetition_count));
  text += fact("actor messages", count_text(report.actor_messages) + ", " +
                                     count_text(report.operation_messages) +
                                     " of them for the operations");
  text += fact("per rank and operation", print("%.2f actor messages", each));
  text += fact("wire messages", count_text(report.wire_messages));
  text += fact("wire segments",
               count_text(report.wire_segments) + ", " + count_text(report.wire_bytes) + " bytes");
  text += fact("largest fan-in", count_text(report.largest_fan_in) + " connections");
  text += fact("wrong elements", count_text(report.wrong_elements));
  text += fact("path", to_string(report.path));
  text += fact("trace hash", print("%016" PRIx64, report.trace_hash));
  text += fact("wall time", print("%.3f s", seconds(wall)));
  return text;
}

std::string report_json(const simulation_options& options, const simulation_report& report,
                        duration wall) {
  std::string text = "{\"operation\": \"" + std::string(to_string(options.operation.kind)) + "\"";
  text += ", \"type\": \"" + std::string(to_string(options.operation.type)) + "\"";
  text +=
      print(", \"count\": %" PRIu64 ", \"ranks\": %u, \"seed\": %" PRIu64 ", \"repetitions\": %u",
            options.operation.count, options.rank_count, options.seed, options.repetition_count);
  text += print(", \"join_us\": %.3f, \"operations_us\": %.3f", seconds(report.join_time) * 1e6,
                seconds(report.operation_time) * 1e6);
  text += print(", \"actor_messages\": %" PRIu64 ", \"operation_messages\": %" PRIu64,
                report.actor_messages, report.operation_messages);
  text += print(", \"messages_per_rank_and_operation\": %.6f",
                per_rank_and_operation(options, report.operation_messages));
  text += print(", \"wire_messages\": %" PRIu64 ", \"wire_segments\": %" PRIu64
                ", \"wire_bytes\": %" PRIu64,
                report.wire_messages, report.wire_segments, report.wire_bytes);
  text += print(", \"largest_fan_in\": %u, \"wrong\": %" PRIu64, report.largest_fan_in,
                report.wrong_elements);
  text += ", \"algorithm\": \"" + std::string(to_string(report.path.algorithm)) + "\"";
  text += print(", \"trace_hash\": \"%016" PRIx64 "\", \"wall_s\": %.6f}\n", report.trace_hash,
                seconds(wall));
  return text;
}

}  // namespace troupe::cli
