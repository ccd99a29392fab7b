#pragma once

#include <cstdint>
#include <vector>

#include "runtime/cli/descriptor.hpp"
#include "runtime/result.hpp"

namespace troupe::cli {

/// Says in which order children ended. Waiting for children one by one cannot: a crash takes the
/// other ranks down within a millisecond, and whoever looks later finds several ended. The kernel
/// appends to the ready list of an epoll set as things happen, so the set keeps the order.
class exit_watch {
 public:
  /// Errors: resource_exhausted.
  static outcome<exit_watch> open();

  /// Watches a pidfd; `who` comes back from `take_ended`. Errors: resource_exhausted.
  outcome<void> add(int pidfd, std::uint32_t who);

  /// Who ended since the last call, in that order. Never blocks.
  std::vector<std::uint32_t> take_ended();

  /// Stops watching; to be called for everyone that ended.
  void remove(int pidfd);

  /// Readable (in the sense of poll(2)) when `take_ended` has something.
  int number() const { return set_.number(); }

 private:
  descriptor set_;
};

}  // namespace troupe::cli
