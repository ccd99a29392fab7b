#pragma once

#include <cstdint>
#include <span>

#include "collectives/peer_block.hpp"
#include "collectives/plan.hpp"

namespace troupe::reference {

/// What one rank does in one operation, by the formulas of docs/algorithms.md.
struct expected_work {
  std::uint64_t puts = 0;
  std::uint64_t accepts = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t combines = 0;
  std::uint64_t copies = 0;

  /// One to start, one for the end of each put, accept, combine and copy.
  std::uint64_t events() const { return 1 + puts + accepts + combines + copies; }
};

enum class placement : std::uint8_t { in_place, out_of_place };

/// `blocks`: of an all_to_all_v, one for each peer.
expected_work work_of(const collectives::plan& what, placement where,
                      std::span<const collectives::peer_block> blocks = {});

}  // namespace troupe::reference
