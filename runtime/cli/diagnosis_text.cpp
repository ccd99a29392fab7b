#include "runtime/cli/diagnosis_text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "runtime/json_text.hpp"

namespace troupe::cli {
namespace {

constexpr std::size_t row_count_max = 32;
constexpr int first_verdict_code = 10;

bool is_culprit(const diagnosis& found, rank who) {
  return std::find(found.culprits.begin(), found.culprits.end(), who) != found.culprits.end();
}

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

std::string table(const diagnosis& found) {
  auto rows = found.table;
  std::stable_partition(rows.begin(), rows.end(),
                        [&](const auto& row) { return is_culprit(found, row.who); });
  const auto shown = std::min(rows.size(), row_count_max);
  std::size_t state = 5, operation = 9;
  for (std::size_t i = 0; i < shown; ++i) {
    state = std::max(state, rows[i].state.size());
    operation = std::max(operation, rows[i].operation.size());
  }
  std::string out = "  rank    " + padded("state", state) + "  " + padded("operation", operation) +
                    "  waits for\n";
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& row = rows[i];
    std::string line = (is_culprit(found, row.who) ? "> " : "  ") +
                       padded(std::to_string(row.who.value), 8) + padded(row.state, state) + "  " +
                       padded(row.operation, operation) + "  " + row.waits_for;
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  if (shown < rows.size()) out += "  and " + std::to_string(rows.size() - shown) + " more ranks\n";
  return out;
}

}  // namespace

std::string describe(const diagnosis& found, const std::vector<std::string>& notes) {
  std::string out = std::string(to_string(found.verdict)) + ": " + found.sentence + "\n";
  if (!found.evidence.empty() || !notes.empty()) out += "\n";
  for (const auto& line : found.evidence)
    out += "  - " + line + "\n";
  for (const auto& line : notes)
    out += "  - " + line + "\n";
  if (!found.table.empty()) out += "\n" + table(found);
  return out;
}

std::string to_json(const diagnosis& found, const std::vector<std::string>& notes) {
  json_writer out;
  out.begin_object().member("verdict", to_string(found.verdict)).key("culprits").begin_array();
  for (const auto who : found.culprits)
    out.value(who.value);
  out.end_array()
      .member("communicator", found.communicator.value)
      .member("operation", found.operation.value & ~(std::uint64_t{1} << 63))
      .member("sentence", found.sentence);
  out.key("evidence").begin_array();
  for (const auto& line : found.evidence)
    out.value(line);
  out.end_array().key("notes").begin_array();
  for (const auto& line : notes)
    out.value(line);
  out.end_array().key("ranks").begin_array();
  for (const auto& row : found.table)
    out.begin_object()
        .member("rank", row.who.value)
        .member("state", row.state)
        .member("operation", row.operation)
        .member("waits_for", row.waits_for)
        .end_object();
  out.end_array().end_object();
  return out.take() + "\n";
}

int exit_code_of(verdict_kind verdict) {
  return verdict == verdict_kind::all_good ? 0 : first_verdict_code + static_cast<int>(verdict);
}

}  // namespace troupe::cli
