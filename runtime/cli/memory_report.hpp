#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/cli/json_rows.hpp"
#include "runtime/memory_ledger.hpp"
#include "runtime/result.hpp"

namespace troupe::cli {

/// What one process, or one simulated rank, holds at one moment.
struct memory_sample {
  memory_usage ledger;
  std::uint64_t heap_bytes = 0;      ///< malloc's own count of what is in use
  std::uint64_t resident_bytes = 0;  ///< pages that the system gave the process

  /// Heap bytes since `before` that no purpose of the ledger accounts for; negative if the heap
  /// gave back what was there before. Segments are mapped, not of the heap.
  std::int64_t unaccounted(const memory_sample& before) const;
};

/// One job at one moment: means over its ranks.
struct memory_case {
  std::string world;  ///< "processes" or "simulated"
  std::string lanes;
  std::uint32_t rank_count = 0;
  std::string state;  ///< "idle": joined; "used": after collectives along the ring
  memory_sample mean;
  /// Mean over ranks; unset in the simulated world, whose process holds the simulator as well.
  std::optional<std::int64_t> unaccounted;
  std::uint64_t largest_total = 0;  ///< ledger of the rank that holds most
};

/// What this process holds besides its ledger.
memory_sample sample_process(const memory_usage& ledger);

/// The case of these ranks; `before` are the same ranks before they joined.
memory_case make_memory_case(std::span<const memory_sample> ranks,
                             std::span<const memory_sample> before);

/// A column for each case, a row for each purpose, in bytes of one rank.
std::string describe_memory(const std::vector<memory_case>& cases);

/// An array with one object for each case.
std::string memory_json(const std::vector<memory_case>& cases);

/// What `memory_json` wrote. Errors: bad_argument, naming the field.
outcome<std::vector<memory_case>> memory_cases_of(const std::vector<json_row>& rows);

}  // namespace troupe::cli
