#include "runtime/cli/tier_report.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "config/quantity.hpp"
#include "config/tier_options.hpp"

namespace troupe::cli {
namespace {

constexpr std::size_t column_count = 8;
using row = std::array<std::string, column_count>;

std::string level(std::string_view what, const std::string& name) {
  return std::string(what) + ' ' + (name.empty() ? "not known" : name);
}

std::string size_text(std::uint64_t bytes) {
  return config::format_bytes(static_cast<std::int64_t>(bytes));
}

row row_of(const config::options& values, tier which) {
  const auto& limits = config::limits_of(values, which);
  const bool off = limits.cap == "off";
  return {std::string(to_string(which)),
          limits.cap,
          off ? "-" : size_text(limits.bytes),
          off ? "-" : std::to_string(limits.write_count),
          size_text(std::min(limits.segment_bytes, values.transport.segment_bytes)),
          size_text(config::lane_bytes_of(values, which)),
          std::to_string(limits.lane_write_count),
          off ? "-" : size_text(config::lease_bytes_of(values, which))};
}

}  // namespace

std::string describe_place(std::string_view whose, const config::found_place& found) {
  const place& where = found.where;
  return std::string(whose) + ": " + level("data centre", where.data_center) + ", " +
         level("zone", where.zone) + ", " + level("rack", where.rack) + ", " +
         level("host", where.host) + " (" + found.said_by + ")\n";
}

std::string tier_table(const config::options& values) {
  std::vector<row> rows{
      {"CLASS", "CAP", "BYTES", "WRITES", "SEGMENT", "LANE BYTES", "LANE WRITES", "LEASE"}};
  for (std::uint8_t i = 0; i < tier_count; ++i)
    rows.push_back(row_of(values, tier{i}));
  std::array<std::size_t, column_count> widths{};
  for (const row& each : rows)
    for (std::size_t i = 0; i < column_count; ++i)
      widths[i] = std::max(widths[i], each[i].size());
  std::string text;
  for (const row& each : rows) {
    std::string line;
    for (std::size_t i = 0; i < column_count; ++i)
      line += each[i] + std::string(widths[i] - each[i].size() + 2, ' ');
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return text;
}

}  // namespace troupe::cli
