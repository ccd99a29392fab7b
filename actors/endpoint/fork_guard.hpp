#pragma once

namespace troupe::actors {

/// Knows, without a system call and without global state, whether the process forked since the
/// guard was made: it looks at a page that the kernel clears in a child (MADV_WIPEONFORK).
class fork_guard {
 public:
  fork_guard();
  ~fork_guard();
  fork_guard(const fork_guard&) = delete;
  fork_guard& operator=(const fork_guard&) = delete;

  /// True in a child of the process that made the guard.
  bool forked() const { return *page_ != alive; }

 private:
  static constexpr unsigned alive = 0x7e0fe;
  volatile unsigned* page_ = nullptr;
};

}  // namespace troupe::actors
