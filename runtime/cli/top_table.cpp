#include "runtime/cli/top_table.hpp"

#include <algorithm>
#include <cstdio>
#include <tuple>

#include "runtime/json_text.hpp"

namespace troupe::cli {
namespace {

// A worker that is awake and began no round for this long is stuck in one.
constexpr duration round_patience = std::chrono::milliseconds(500);

double seconds(duration d) {
  return static_cast<double>(d.count()) * 1e-9;
}

std::string trouble_of(const rank_dump& dump) {
  for (const auto& known : dump.communicators)
    if (known.failed != errc::ok)
      return "communicator " + std::to_string(known.id.value) + ": " +
             std::string(to_string(known.failed));
  if (!dump.worker.parked && dump.worker.last_round != instant{} &&
      dump.taken_at - dump.worker.last_round > round_patience)
    return "its worker is stuck";
  return {};
}

/// Operations that ended after `since`, and how long they waited for peers.
void add_rates(const rank_dump& before, const rank_dump& now, top_row& out) {
  const auto passed = now.taken_at - before.taken_at;
  if (passed <= duration::zero()) return;
  std::uint64_t known = 0, newest = 0, ended = 0;
  for (const auto& record : before.operations)
    known = std::max(known, record.serial);
  duration waited{};
  for (const auto& record : now.operations) {
    newest = std::max(newest, record.serial);
    if (record.ended <= before.taken_at) continue;
    ++ended;
    waited += std::min(record.waited_for_peers, passed);
  }
  // The trace is bounded: of more operations than it remembers only the number
  // is known.
  const auto called = newest - known;
  const double scale =
      ended != 0 && called > ended ? static_cast<double>(called) / static_cast<double>(ended) : 1.0;
  out.operations_per_second = static_cast<double>(std::max(called, ended)) / seconds(passed);
  out.waiting_share = std::min(1.0, scale * seconds(waited) / seconds(passed));
}

top_row row_of(const rank_dump& dump) {
  top_row out{.rank = dump.self.value,
              .process = dump.process,
              .host = dump.host,
              .phase = std::string(to_string(dump.phase)),
              .operation = {},
              .waits_for = {},
              .trouble = trouble_of(dump)};
  const operation_record* shown = nullptr;
  for (const auto& record : dump.operations) {
    if (record.phase == operation_phase::past) {
      if (out.in_flight == 0) shown = &record;
      continue;
    }
    if (out.in_flight++ == 0) shown = &record;
  }
  if (shown == nullptr) return out;
  out.operation = to_string(shown->signature);
  if (out.in_flight == 0) return out;
  out.oldest_seconds = seconds(dump.taken_at - shown->queued);
  for (const auto peer : shown->named_waits())
    out.waits_for += (out.waits_for.empty() ? "" : " ") + std::to_string(peer.value);
  return out;
}

/// Text of a column, cut or filled to its width.
std::string cell(const std::string& text, std::size_t width) {
  auto out = text.substr(0, width);
  out.append(width - out.size(), ' ');
  return out + "  ";
}

std::string line_of(const top_row& row) {
  char numbers[64];
  std::snprintf(numbers, sizeof numbers, "%4u  %8u  ", row.rank, row.process);
  std::string out = std::string(numbers) + cell(row.phase, 8);
  std::snprintf(numbers, sizeof numbers, "%9.1f  %4.0f%%  %6u  %8.1f  ", row.operations_per_second,
                100 * row.waiting_share, row.in_flight, row.oldest_seconds);
  out += numbers + cell(row.operation, 44) + cell(row.waits_for, 12) + row.trouble;
  out.erase(out.find_last_not_of(' ') + 1);
  return out;
}

}  // namespace

std::string_view to_string(top_order order) {
  switch (order) {
    case top_order::rank: return "rank";
    case top_order::oldest: return "oldest";
    case top_order::operations: return "operations";
    case top_order::waiting: return "waiting";
  }
  return "invalid";
}

std::vector<top_row> top_rows(const std::vector<rank_dump>& before,
                              const std::vector<rank_dump>& now) {
  std::vector<top_row> out;
  for (const auto& dump : now) {
    auto row = row_of(dump);
    for (const auto& earlier : before)
      if (earlier.process == dump.process && earlier.self == dump.self && earlier.job == dump.job)
        add_rates(earlier, dump, row);
    out.push_back(std::move(row));
  }
  sort_rows(out, top_order::rank);
  return out;
}

void sort_rows(std::vector<top_row>& rows, top_order order) {
  const auto key = [order](const top_row& row) {
    double first = 0;
    if (order == top_order::oldest) first = -row.oldest_seconds;
    // Fewest operations first, and who waits least: that is whom the others
    // wait for.
    if (order == top_order::operations) first = row.operations_per_second;
    if (order == top_order::waiting) first = row.waiting_share;
    return std::tuple(first, row.rank, row.process);
  };
  std::sort(rows.begin(), rows.end(),
            [&](const top_row& a, const top_row& b) { return key(a) < key(b); });
}

void filter_rows(std::vector<top_row>& rows, std::string_view filter) {
  if (filter.empty()) return;
  std::erase_if(rows, [&](const top_row& row) {
    for (const auto& text : {row.host, row.phase, row.operation, row.trouble})
      if (text.find(filter) != std::string::npos) return false;
    return std::to_string(row.rank) != filter && std::to_string(row.process) != filter;
  });
}

std::string describe(const std::vector<top_row>& rows, std::size_t lines, std::size_t columns) {
  std::string out = std::string("rank   process  phase         ops/s   wait  flight  oldest s  ")
                        .append(cell("operation", 44))
                        .append("waits for")
                        .substr(0, columns) +
                    "\n";
  const auto shown = std::min(rows.size(), lines);
  for (std::size_t i = 0; i < shown; ++i)
    out += line_of(rows[i]).substr(0, columns) + "\n";
  if (shown < rows.size()) out += "and " + std::to_string(rows.size() - shown) + " more\n";
  return out;
}

std::string to_json(const std::vector<top_row>& rows) {
  json_writer out;
  out.begin_array();
  for (const auto& row : rows)
    out.begin_object()
        .member("rank", row.rank)
        .member("process", row.process)
        .member("host", row.host)
        .member("phase", row.phase)
        .member("operations_per_second", row.operations_per_second)
        .member("waiting_share", row.waiting_share)
        .member("in_flight", row.in_flight)
        .member("oldest_seconds", row.oldest_seconds)
        .member("operation", row.operation)
        .member("waits_for", row.waits_for)
        .member("trouble", row.trouble)
        .end_object();
  out.end_array();
  return out.take() + "\n";
}

}  // namespace troupe::cli
