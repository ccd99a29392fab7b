#pragma once

#include <string_view>

#include "runtime/result.hpp"

namespace troupe::actors {

/// While it lives, `wake_descriptor` (an eventfd) becomes readable whenever the process gets the
/// signal. The handler does nothing but that, so it may come at any moment.
///
/// A program that handles the signal itself keeps it: `taken()` is false and nothing is installed.
/// Thread: any.
class dump_signal {
 public:
  /// `name`: "SIGUSR1", "SIGUSR2" or "none".
  /// Errors: resource_exhausted if as many endpoints of the process as there are places listen.
  static outcome<dump_signal> listen(std::string_view name, int wake_descriptor);

  dump_signal() = default;
  ~dump_signal();
  dump_signal(dump_signal&& other) noexcept;
  dump_signal& operator=(dump_signal&& other) noexcept;

  bool taken() const { return place_ >= 0; }

 private:
  explicit dump_signal(int place) : place_(place) {}

  int place_ = -1;
};

}  // namespace troupe::actors
