#include "actors/endpoint/fork_guard.hpp"

#include <sys/mman.h>

#include "runtime/assert.hpp"

namespace troupe::actors {

namespace {

constexpr unsigned long page_bytes = 4096;

}  // namespace

fork_guard::fork_guard() {
  void* page =
      ::mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  TROUPE_ASSERT(page != MAP_FAILED);
  TROUPE_ASSERT(::madvise(page, page_bytes, MADV_WIPEONFORK) == 0);
  page_ = static_cast<volatile unsigned*>(page);
  *page_ = alive;
}

fork_guard::~fork_guard() {
  ::munmap(const_cast<unsigned*>(page_), page_bytes);
}

}  // namespace troupe::actors
