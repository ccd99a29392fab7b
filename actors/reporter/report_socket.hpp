#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "runtime/descriptor.hpp"
#include "runtime/result.hpp"
#include "runtime/strong_types.hpp"

namespace troupe::actors {

/// Where programs of the same user on this host ask a rank for its dump: a socket in the abstract
/// namespace, which leaves no file behind, named `troupe.report.<user>.<process>.<rank>.<n>`.
/// One request is one line, "dump"; the answer is one line of JSON, then the connection ends.
///
/// Thread: one, the reporter's.
class report_socket {
 public:
  /// `n` tells several endpoints of one rank number in one process apart.
  /// Errors: system_failure with the name.
  static outcome<report_socket> open(rank self);

  int wait_descriptor() const { return listener_.number(); }

  /// Accepts one connection and answers it, in at most a few seconds whatever the other side does.
  /// Another user's is closed without a word.
  void serve(const std::function<std::string()>& dump) const;

 private:
  explicit report_socket(descriptor listener) : listener_(std::move(listener)) {}

  descriptor listener_;
};

}  // namespace troupe::actors
