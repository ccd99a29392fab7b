#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/result.hpp"
#include "runtime/scenario/fault_plan.hpp"
#include "runtime/scenario/scenario.hpp"

namespace troupe::scenario::detail {

/// A script that is looked over, and the first thing that was found wrong.
struct script_checker {
  const script& of;
  std::optional<failure> first;

  void note(std::uint32_t line, const std::string& what);
};

/// "rank 9 does not exist; there are 0 to 3".
std::string no_such(std::string_view what, std::uint32_t number, std::uint32_t count);

/// Machines that a selector names and that do not exist.
void check_selector(script_checker& problems, const selector& whom, std::uint32_t line);

void check_faults(script_checker& problems);

/// Whether the fault, for certain and before the work can end, hits rank `r`.
bool surely_hits(const script& of, const fault& what, std::uint32_t r);

}  // namespace troupe::scenario::detail
