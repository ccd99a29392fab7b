#pragma once

#include <string>
#include <vector>

#include "runtime/diagnosis.hpp"

namespace troupe::cli {

/// The verdict in one sentence, then the evidence, then the table of ranks: those the verdict is
/// about first, at most 32 lines.
std::string describe(const diagnosis& found, const std::vector<std::string>& notes);

/// The same as one JSON object, with every rank.
std::string to_json(const diagnosis& found, const std::vector<std::string>& notes);

/// 0 if nothing is wrong, else 10 + the number of the verdict.
int exit_code_of(verdict_kind verdict);

}  // namespace troupe::cli
