#include "runtime/cli/bench_table.hpp"

#include <array>
#include <cinttypes>
#include <cstdio>
#include <string_view>

namespace troupe::cli {
namespace {

template <class... Values>
std::string print(const char* format, Values... values) {
  std::array<char, 512> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

/// snprintf wants terminated text.
std::string word(std::string_view text) {
  return std::string(text);
}

std::string half_of_row(const std::optional<bench_measure>& half) {
  if (!half) return print("  %7s  %6s  %6s  %6s", "N/A", "N/A", "N/A", "N/A");
  const std::string wrong =
      half->wrong ? print("%6g", static_cast<double>(*half->wrong)) : word("   N/A");
  return "  " + fit_number(half->time_us, 7) + "  " + fit_number(half->algbw_gbs, 6) + "  " +
         fit_number(half->busbw_gbs, 6) + "  " + wrong;
}

std::string step_of(const size_range& sizes) {
  return sizes.step_bytes != 0 ? print("%" PRIu64 "(bytes)", sizes.step_bytes)
                               : print("%g(factor)", sizes.factor);
}

std::string json_row(const bench_heading& heading, const bench_row& row, const bench_measure& half,
                     bool in_place) {
  const std::string wrong = half.wrong ? std::to_string(*half.wrong) : "null";
  std::string text = "  {\"library\": \"troupe\", \"lanes\": \"" + heading.lanes + "\"";
  text += ", \"operation\": \"" + word(to_string(heading.kind)) + "\"";
  text += ", \"type\": \"" + word(to_string(heading.type)) + "\"";
  text += ", \"algorithm\": \"" + word(to_string(half.algorithm)) + "\"";
  if (reduces(heading.kind)) text += ", \"op\": \"" + word(to_string(heading.op)) + "\"";
  text += print(", \"ranks\": %u, \"bytes\": %" PRIu64 ", \"count\": %" PRIu64, heading.rank_count,
                row.shape.bytes(), row.shape.count);
  text += print(", \"in_place\": %s, \"time_us\": %.3f, \"p50_us\": %.3f",
                in_place ? "true" : "false", half.time_us, half.p50_us);
  text += print(", \"algbw_gbs\": %.6f, \"busbw_gbs\": %.6f, \"wrong\": %s}", half.algbw_gbs,
                half.busbw_gbs, wrong.c_str());
  return text;
}

}  // namespace

bench_measure measure_of(bench_kind kind, const bench_shape& shape, std::uint32_t rank_count,
                         double time_us) {
  bench_measure measure;
  measure.time_us = time_us;
  if (time_us > 0) measure.algbw_gbs = static_cast<double>(shape.bytes()) / time_us / 1e3;
  measure.busbw_gbs = measure.algbw_gbs * bus_factor(kind, rank_count);
  return measure;
}

std::string fit_number(double value, int width) {
  for (int digits = 2; digits >= 0; --digits) {
    std::string text = print("%*.*f", width, digits, value);
    if (text.size() <= static_cast<std::size_t>(width)) return text;
  }
  return print("%*.0e", width, value);
}

std::string table_heading(const bench_heading& heading, const std::vector<bench_device>& devices) {
  const std::string name = word(to_string(heading.kind)) + "_perf";
  std::string text = "# troupe version " TROUPE_VERSION " lanes=" + heading.lanes + "\n";
  text += "# Collective test starting: " + name + "\n";
  text +=
      print("# nThread 1 nGpus 1 minBytes %" PRIu64 " maxBytes %" PRIu64 " step: %s",
            heading.sizes.first_bytes, heading.sizes.last_bytes, step_of(heading.sizes).c_str());
  text += print(" warmup iters: %u iters: %u agg iters: 1 validation: %d graph: 0 unalign: 0\n#\n",
                heading.warmup_count, heading.iteration_count, heading.checks ? 1 : 0);
  text += "# Using devices\n";
  for (std::size_t r = 0; r < devices.size(); ++r)
    text += print("#  Rank %2zu Group %2d Pid %6d on %10s device %2zu [0000:00:00] CPU\n", r, 0,
                  devices[r].pid, devices[r].host.c_str(), r);
  text += print("#\n#%74s%31s\n", "out-of-place", "in-place");
  const char* columns = "# %10s  %12s  %8s  %6s  %6s  %7s  %6s  %6s  %6s  %7s  %6s  %6s  %6s\n";
  text += print(columns, "size", "count", "type", "redop", "root", "time", "algbw", "busbw",
                "#wrong", "time", "algbw", "busbw", "#wrong");
  text += print(columns, "(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "(us)",
                "(GB/s)", "(GB/s)", "");
  return text;
}

std::string table_row(const bench_heading& heading, const bench_row& row) {
  const bool rooted = has_root(heading.kind);
  const bool moves = heading.kind != bench_kind::barrier;
  const std::string type = moves ? word(table_name(heading.type)) : "none";
  const std::string op = reduces(heading.kind) ? word(table_name(heading.op)) : "none";
  const std::string root = std::to_string(rooted ? static_cast<int>(heading.root) : -1);
  return print("%12" PRIu64 "  %12" PRIu64 "  %8s  %6s  %6s", row.shape.bytes(), row.shape.count,
               type.c_str(), op.c_str(), root.c_str()) +
         half_of_row(row.out_of_place) + half_of_row(row.in_place) + "\n";
}

std::uint64_t out_of_bounds_count(const std::vector<bench_row>& rows) {
  std::uint64_t count = 0;
  for (const bench_row& row : rows)
    for (const auto& half : {row.out_of_place, row.in_place})
      if (half && half->wrong.value_or(0) != 0) ++count;
  return count;
}

std::string table_end(const bench_heading& heading, const std::vector<bench_row>& rows) {
  double sum = 0;
  int half_count = 0;
  for (const bench_row& row : rows) {
    for (const auto& half : {row.out_of_place, row.in_place}) {
      if (!half) continue;
      sum += half->busbw_gbs;
      ++half_count;
    }
  }
  const std::uint64_t bad = out_of_bounds_count(rows);
  return print("# Out of bounds values : %" PRIu64 " %s\n", bad, bad == 0 ? "OK" : "FAILED") +
         print("# Avg bus bandwidth    : %g\n", half_count == 0 ? 0 : sum / half_count) +
         "#\n# Collective test concluded: " + word(to_string(heading.kind)) + "_perf\n";
}

std::string table_json(const bench_heading& heading, const std::vector<bench_row>& rows) {
  std::string text;
  for (const bench_row& row : rows) {
    for (const bool in_place : {false, true}) {
      const auto& half = in_place ? row.in_place : row.out_of_place;
      if (!half) continue;
      text += (text.empty() ? "" : ",\n") + json_row(heading, row, *half, in_place);
    }
  }
  return "[\n" + text + "\n]\n";
}

}  // namespace troupe::cli
