#include "actors/endpoint/scratch_pool.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace troupe::actors {

namespace {

constexpr std::uint64_t page_bytes = 4096;

std::uint32_t class_of(std::uint64_t bytes) {
  return static_cast<std::uint32_t>(std::bit_width(std::max(bytes, page_bytes) - 1));
}

constexpr std::uint64_t bytes_of(std::uint32_t size_class) {
  return 1ull << size_class;
}

}  // namespace

void scratch_pool::free_memory::operator()(std::byte* p) const noexcept {
  std::free(p);
}

scratch_pool::~scratch_pool() {
  forget(kept_bytes_);
}

result<scratch_pool::block> scratch_pool::take(std::uint64_t bytes) {
  if (taken_bytes_ + bytes_of(class_of(bytes)) > limit_bytes_) return fail(errc::queue_full);
  return take_always(bytes);
}

result<scratch_pool::block> scratch_pool::take_always(std::uint64_t bytes) {
  const auto size_class = class_of(bytes);
  const auto size = bytes_of(size_class);
  memory owned;
  if (!kept_[size_class].empty()) {
    owned = std::move(kept_[size_class].back());
    kept_[size_class].pop_back();
    kept_bytes_ -= size;
  } else {
    owned.reset(static_cast<std::byte*>(std::aligned_alloc(page_bytes, size)));
    if (!owned) return fail(errc::resource_exhausted);
    ledger_.add(memory_purpose::scratch, size);
  }
  auto view = buffers_.add(owned.get(), size);
  if (!view) {
    forget(size);
    return tl::unexpected<error>(view.error());
  }
  taken_bytes_ += size;
  return block{view->part(0, bytes), size_class, owned.release()};
}

void scratch_pool::give_back(const block& b) {
  buffers_.release(b.view.id);
  const auto size = bytes_of(b.size_class);
  taken_bytes_ -= size;
  memory owned(b.memory);
  // Keep at most the limit: a burst of one communicator must not hold memory for good.
  if (kept_bytes_ + taken_bytes_ + size > limit_bytes_) {
    forget(size);
    return;
  }
  kept_bytes_ += size;
  kept_[b.size_class].push_back(std::move(owned));
}

}  // namespace troupe::actors
