#pragma once

#include <cstdint>
#include <string>

#include "runtime/instant.hpp"
#include "runtime/strong_types.hpp"

namespace troupe::actors {

/// What is said on standard error about connections. Refused ones get one line a second at most: a
/// port scanner must not fill a disk; what was left out is counted in the next line.
///
/// Thread: the worker only.
class stranger_log {
 public:
  /// Nothing is written until it is enabled: simulation stays silent.
  void enable() { enabled_ = true; }

  void refused(rank self, const std::string& where, const char* reason, instant now);

  /// A line of its own about this endpoint's network.
  void note(rank self, const std::string& text) const;

 private:
  bool enabled_ = false;
  bool written_ = false;
  instant last_{};
  std::uint64_t left_out_ = 0;
};

}  // namespace troupe::actors
