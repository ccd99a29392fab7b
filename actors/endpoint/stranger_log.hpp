#pragma once

#include <cstdint>
#include <string>

#include "runtime/instant.hpp"
#include "runtime/strong_types.hpp"

namespace troupe::actors {

/// One line on standard error for each refused connection, at most one a second: a port scanner
/// must not fill a disk. What was left out is counted in the next line.
///
/// Thread: the worker only.
class stranger_log {
 public:
  /// Nothing is written until it is enabled: simulation stays silent.
  void enable() { enabled_ = true; }

  void refused(rank self, const std::string& where, const char* reason, instant now);

 private:
  bool enabled_ = false;
  bool written_ = false;
  instant last_{};
  std::uint64_t left_out_ = 0;
};

}  // namespace troupe::actors
