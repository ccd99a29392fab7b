#pragma once

#include <atomic>
#include <cstdint>

namespace troupe {

/// A named rare branch. The nightly simulation fails if a mark was never hit: a test that cannot
/// reach a branch does not test it. One relaxed increment when the branch is taken.
class mark {
 public:
  explicit mark(const char* name) noexcept;

  void hit() noexcept { hits_.fetch_add(1, std::memory_order_relaxed); }

  const char* name() const noexcept { return name_; }
  std::uint64_t hits() const noexcept { return hits_.load(std::memory_order_relaxed); }
  const mark* next() const noexcept { return next_; }

  /// All marks of the program, as a list through `next()`. Marks live as long as the program.
  static const mark* first() noexcept;

 private:
  const char* name_;
  std::atomic<std::uint64_t> hits_{0};
  const mark* next_ = nullptr;
};

}  // namespace troupe

/// Counts one visit of this branch under `name` (a string literal). The mark registers before
/// main, so that a branch never visited is listed with zero hits.
#define TROUPE_MARK(name)                                                      \
  ([] {                                                                        \
    struct here {                                                              \
      static ::troupe::mark& get() { return ::troupe::detail::mark_of<here>; } \
      static constexpr const char* text() { return name; }                     \
    };                                                                         \
    here::get().hit();                                                         \
  }())

namespace troupe::detail {

template <class Here>
inline mark mark_of{Here::text()};

}  // namespace troupe::detail
