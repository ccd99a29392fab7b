#include "runtime/memory_ledger.hpp"

#include <numeric>

#include "runtime/assert.hpp"

namespace troupe {

std::string_view to_string(memory_purpose purpose) {
  constexpr std::array<std::string_view, memory_purpose_count> names{
      "endpoint", "actors", "messages", "works",    "operations",   "histories", "traces",
      "links",    "rings",  "lanes",    "segments", "address_book", "scratch"};
  return names[static_cast<std::size_t>(purpose)];
}

std::uint64_t memory_usage::total() const {
  return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
}

void* memory_ledger::account::do_allocate(std::size_t size, std::size_t alignment) {
  void* const memory = std::pmr::new_delete_resource()->allocate(size, alignment);
  bytes.fetch_add(size, std::memory_order_relaxed);
  return memory;
}

void memory_ledger::account::do_deallocate(void* memory, std::size_t size, std::size_t alignment) {
  std::pmr::new_delete_resource()->deallocate(memory, size, alignment);
  TROUPE_ASSERT(bytes.fetch_sub(size, std::memory_order_relaxed) >= size);
}

memory_ledger::memory_ledger() = default;

void memory_ledger::add(memory_purpose purpose, std::uint64_t bytes) {
  accounts_[static_cast<std::size_t>(purpose)].bytes.fetch_add(bytes, std::memory_order_relaxed);
}

void memory_ledger::subtract(memory_purpose purpose, std::uint64_t bytes) {
  auto& held = accounts_[static_cast<std::size_t>(purpose)].bytes;
  TROUPE_ASSERT(held.fetch_sub(bytes, std::memory_order_relaxed) >= bytes);
}

memory_usage memory_ledger::usage() const {
  memory_usage out;
  for (std::size_t i = 0; i < memory_purpose_count; ++i)
    out.bytes[i] = accounts_[i].bytes.load(std::memory_order_relaxed);
  return out;
}

}  // namespace troupe
