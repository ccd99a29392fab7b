#pragma once

#include <cstdint>
#include <string>

#include "runtime/cli/descriptor.hpp"
#include "runtime/result.hpp"

namespace troupe::cli {

/// Where a launcher notes which of its ranks ended, for the others to read: a file in memory whose
/// byte r is 1 once rank r has. To the ranks that is proof (option `fault_tolerance.exit_board`).
class exit_board {
 public:
  /// Errors: resource_exhausted.
  static outcome<exit_board> open(std::uint32_t rank_count);

  /// By which the ranks find it; good as long as this process has the board.
  const std::string& path() const { return path_; }

  void note(std::uint32_t rank);

 private:
  descriptor file_;
  std::string path_;
};

}  // namespace troupe::cli
