#include "runtime/slab.hpp"

#include <algorithm>
#include <bit>
#include <new>

#include "runtime/assert.hpp"

namespace troupe {

namespace {

constexpr std::size_t class_of(std::size_t size, std::size_t smallest) {
  return static_cast<std::size_t>(std::bit_width((std::max(size, smallest) - 1) / smallest));
}

}  // namespace

slab::~slab() {
  TROUPE_ASSERT(used_bytes_ == 0);
  while (first_page_ != nullptr) {
    auto* const page = first_page_;
    first_page_ = page->next;
    pages_->deallocate(page, page_bytes, smallest_block_bytes);
  }
}

/// The first block's place holds the chain of pages.
void slab::cut_page(std::size_t size_class) {
  const std::size_t block = smallest_block_bytes << size_class;
  auto* const page = static_cast<std::byte*>(pages_->allocate(page_bytes, smallest_block_bytes));
  first_page_ = new (page) link{first_page_};
  for (std::size_t at = page_bytes - block; at != 0; at -= block)
    free_[size_class] = new (page + at) link{free_[size_class]};
}

void* slab::do_allocate(std::size_t size, std::size_t alignment) {
  TROUPE_ASSERT(alignment <= smallest_block_bytes);
  used_bytes_ += size;
  peak_bytes_ = std::max(peak_bytes_, used_bytes_);
  if (size > block_bytes_max) return pages_->allocate(size, alignment);
  const auto size_class = class_of(size, smallest_block_bytes);
  if (free_[size_class] == nullptr) cut_page(size_class);
  auto* const block = free_[size_class];
  free_[size_class] = block->next;
  return block;
}

void slab::do_deallocate(void* memory, std::size_t size, std::size_t alignment) {
  TROUPE_ASSERT(used_bytes_ >= size);
  used_bytes_ -= size;
  if (size > block_bytes_max) {
    pages_->deallocate(memory, size, alignment);
    return;
  }
  const auto size_class = class_of(size, smallest_block_bytes);
  free_[size_class] = new (memory) link{free_[size_class]};
}

void* shared_slab::take(std::size_t size, std::size_t alignment) {
  const std::lock_guard lock(mutex_);
  return blocks_.allocate(size, alignment);
}

void shared_slab::give_back(void* memory, std::size_t size, std::size_t alignment) {
  const std::lock_guard lock(mutex_);
  blocks_.deallocate(memory, size, alignment);
}

bool shared_slab::is_full() const {
  const std::lock_guard lock(mutex_);
  return blocks_.is_full();
}

std::uint64_t shared_slab::used_bytes() const {
  const std::lock_guard lock(mutex_);
  return blocks_.used_bytes();
}

}  // namespace troupe
