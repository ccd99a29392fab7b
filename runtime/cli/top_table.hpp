#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/rank_dump.hpp"

namespace troupe::cli {

/// One rank as `troupe top` shows it.
struct top_row {
  std::uint32_t rank = 0;
  std::uint32_t process = 0;
  std::string host;
  std::string phase;
  double operations_per_second = 0;  ///< that ended since the dump before
  double waiting_share = 0;          ///< of the time since: how much operations waited for peers
  std::uint32_t in_flight = 0;
  double oldest_seconds = 0;  ///< age of the oldest operation in flight; 0 if none is
  std::string operation;      ///< the oldest in flight, else the last that ended
  std::string waits_for;
  std::string trouble;  ///< what is not as it should be; empty: nothing
};

enum class top_order : std::uint8_t { rank, oldest, operations, waiting };

std::string_view to_string(top_order order);

/// Rows of the dumps, by rank. Rates are against the dump of the same process in `before`; a rank
/// that is not there has none.
std::vector<top_row> top_rows(const std::vector<rank_dump>& before,
                              const std::vector<rank_dump>& now);

/// Sorts: by rank, or worst first.
void sort_rows(std::vector<top_row>& rows, top_order order);

/// Keeps rows in which some text, or the rank, contains `filter`.
void filter_rows(std::vector<top_row>& rows, std::string_view filter);

/// The table, at most `lines` rows and no line longer than `columns`.
std::string describe(const std::vector<top_row>& rows, std::size_t lines, std::size_t columns);

/// All rows as one JSON array, a line.
std::string to_json(const std::vector<top_row>& rows);

}  // namespace troupe::cli
