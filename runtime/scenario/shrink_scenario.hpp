#pragma once

#include <cstdint>
#include <functional>

#include "runtime/scenario/scenario.hpp"

namespace troupe::scenario {

/// Whether a variant still shows what is to be found.
using still_fails = std::function<bool(const script&)>;

/// What came of shrinking.
struct shrunk_script {
  script smallest;
  std::uint32_t variants_played = 0;
};

/// Makes a script smaller while it still fails: without faults, expectations, operations and
/// settings that do not matter, with fewer steps, ranks and elements. Every variant passes
/// `check_scenario`; the same script and answers give the same result, in which none of these
/// alone can be taken away any more.
shrunk_script shrink_scenario(const script& of, const still_fails& fails);

}  // namespace troupe::scenario
