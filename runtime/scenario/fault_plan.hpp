#pragma once

#include <cstdint>
#include <vector>

#include "runtime/random.hpp"
#include "runtime/scenario/scenario.hpp"

namespace troupe::scenario {

/// One time at which a fault strikes, all chances drawn.
struct strike {
  std::uint32_t fault = 0;             ///< index into `script::faults`
  std::vector<std::uint32_t> targets;  ///< ranks, ascending; both ends of a link as written
  trigger when;                        ///< of kind time, step, event or phase
  std::uint32_t watched = 0;           ///< whose step, event or phase it is
  bool certain = true;                 ///< false: drawn from a probability or a mean time
};

/// Everything that a seed decides beforehand.
struct fault_plan {
  std::vector<strike> strikes;
  std::vector<bool> victims;  ///< by rank: a strike ends it, or stops it for good
};

/// The ranks that a selector of a fault or expectation names, ascending, without the random ones;
/// none for victims and survivors. Numbers of machines that do not exist name nobody.
std::vector<std::uint32_t> named_ranks(const selector& whom, const script& of);

/// Draws for this seed. The same script and seed give the same plan with every world.
/// Cost: O(strikes * ranks).
fault_plan make_fault_plan(const script& of, std::uint64_t seed);

/// The ranks that an expectation is about.
std::vector<std::uint32_t> expected_ranks(const selector& whom, const script& of,
                                          const fault_plan& plan);

/// The rank that roots the first operation with a root; 0 if there is none.
std::uint32_t root_rank(const script& of);
bool has_root(operation_kind kind);

/// Whether the fault ends whom it strikes, or stops them for good.
bool ends_ranks(const fault& what);

}  // namespace troupe::scenario
