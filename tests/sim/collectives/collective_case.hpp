#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/random.hpp"
#include "tests/reference/collective_reference.hpp"
#include "tests/reference/work_reference.hpp"
#include "tests/sim/collectives/collective_network.hpp"

namespace troupe::sim {

/// One operation of all ranks, drawn from a seed: kind, algorithm, ranks, count, type, operator,
/// placement, limits and every byte of input.
struct collective_case {
  reference::collective_call call;
  std::vector<network_member> members;
  reference::placement where = reference::placement::out_of_place;
  network_options network;
};

/// What a draw may be told instead.
struct case_wishes {
  std::uint32_t rank_count = 0;  ///< 0: drawn
  std::optional<operation_kind> kind{};
  std::optional<algorithm> requested{};
};

collective_case draw_case(std::uint64_t seed, const case_wishes& wishes = {});

/// "all_reduce(count 17, float16, sum) by ring, 5 ranks, in place, chunks of 8 bytes, 4 in flight".
std::string describe(const collective_case& one);

struct case_outcome {
  std::string failure;  ///< empty if everything holds
  std::uint64_t trace_hash = 0;
};

/// Runs the case and checks everything that must hold: outputs equal the reference and each other,
/// no other byte is touched, every machine finishes, nothing is left over, and the work is exactly
/// what the formulas say.
case_outcome run_case(const collective_case& one);

}  // namespace troupe::sim
