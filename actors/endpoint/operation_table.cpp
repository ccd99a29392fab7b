#include "actors/endpoint/operation_table.hpp"

#include <array>

#include "runtime/assert.hpp"

namespace troupe::actors {

namespace {

// Transfers looked at for whom an operation waits: more than a record can name.
constexpr std::size_t looked_at_count = 32;

}  // namespace

void look_at_waits(operation_entry& entry, instant now) {
  std::array<rank, looked_at_count> peers{};
  std::size_t count = 0;
  // What a peer owes first: it explains a hang better than what we could not send.
  for (const bool puts : {false, true})
    for (const auto& transfer : entry.open)
      if (transfer.is_put == puts && count < peers.size()) peers[count++] = transfer.peer;
  step(entry.trace, waits_looked_at{{peers.data(), count}}, now);
}

result<operation_slot> operation_table::open() {
  std::uint16_t index = 0;
  if (!free_.empty()) {
    index = free_.back();
    free_.pop_back();
  } else {
    if (entries_.size() >= capacity_) return fail(errc::queue_full);
    index = static_cast<std::uint16_t>(entries_.size());
    entries_.emplace_back(entries_.get_allocator().resource());
  }
  auto& entry = entries_[index];
  entry.live = true;
  ++live_count_;
  return operation_slot{index, entry.generation};
}

void operation_table::close(operation_slot slot) {
  auto* entry = find(slot);
  TROUPE_ASSERT(entry != nullptr);
  auto open = std::move(entry->open);
  open.clear();
  const auto generation = static_cast<std::uint16_t>(entry->generation + 1);
  *entry = operation_entry{entries_.get_allocator().resource()};
  entry->open = std::move(open);  // keeps its memory: the next operation here allocates nothing
  entry->generation = generation;
  free_.push_back(slot.index);
  --live_count_;
}

operation_entry* operation_table::find(operation_slot slot) {
  if (slot.index >= entries_.size()) return nullptr;
  auto& entry = entries_[slot.index];
  return entry.live && entry.generation == slot.generation ? &entry : nullptr;
}

}  // namespace troupe::actors
