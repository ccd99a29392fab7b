#include "runtime/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace troupe {

void assertion_failed(const char* condition, const char* file, int line) noexcept {
  std::fprintf(stderr, "troupe: assertion failed: %s (%s:%d)\n", condition, file, line);
  std::abort();
}

}  // namespace troupe
