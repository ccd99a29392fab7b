#pragma once

namespace troupe {

/// Prints condition, file and line, and ends the process. A broken invariant is a bug of Troupe:
/// going on would compute something wrong.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line) noexcept;

}  // namespace troupe

/// Always on. One condition per assert.
#define TROUPE_ASSERT(condition)                       \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::troupe::assertion_failed(#condition, __FILE__, __LINE__))

/// For inner loops: on in builds without NDEBUG.
#ifdef NDEBUG
#define TROUPE_DASSERT(condition) static_cast<void>(0)
#else
#define TROUPE_DASSERT(condition) TROUPE_ASSERT(condition)
#endif
