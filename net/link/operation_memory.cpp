#include "net/link/operation_memory.hpp"

#include <algorithm>
#include <span>

namespace troupe::net {

namespace {

// Fibonacci hashing: consecutive operations of one communicator go to different sets.
constexpr std::uint32_t set_of(std::uint64_t key, std::uint32_t sets) {
  return static_cast<std::uint32_t>((key * 0x9e37'79b9'7f4a'7c15ull) >> 32) % sets;
}

constexpr std::uint64_t key_of(const operation_id& o) {
  return o.operation.value ^ static_cast<std::uint64_t>(o.communicator.value) << 40 ^
         static_cast<std::uint64_t>(o.epoch.value) << 20;
}

}  // namespace

operation_memory::operation_memory(std::pmr::memory_resource* memory)
    : untold_(untold_max, memory) {}

void operation_memory::raise_floor(communicator_id communicator, epoch floor) {
  const auto set = std::span(floors_).subspan(set_of(communicator.value, floor_sets) * ways, ways);
  auto* oldest = &set.front();
  for (auto& e : set) {
    if (e.used != 0 && e.communicator == communicator) {
      e.floor = std::max(e.floor, floor);
      e.used = ++uses_;
      return;
    }
    if (e.used < oldest->used) oldest = &e;
  }
  *oldest = {communicator, floor, ++uses_};
}

bool operation_memory::is_below_floor(communicator_id communicator, epoch e) const {
  const auto set = std::span(floors_).subspan(set_of(communicator.value, floor_sets) * ways, ways);
  for (const auto& f : set) {
    if (f.used != 0 && f.communicator == communicator) return e < f.floor;
  }
  return false;
}

void operation_memory::note_cancelled(const operation_id& operation, bool here) {
  const auto set =
      std::span(cancelled_).subspan(set_of(key_of(operation), cancelled_sets) * ways, ways);
  auto* chosen = &set.front();
  for (auto& e : set) {
    if (e.used != 0 && e.operation == operation) {
      chosen = &e;
      break;
    }
    if (e.used < chosen->used) chosen = &e;
  }
  if (chosen->used == 0 || !(chosen->operation == operation)) *chosen = {operation};
  (here ? chosen->here : chosen->by_peer) = true;
  chosen->used = ++uses_;
}

const operation_memory::cancelled_entry* operation_memory::find(
    const operation_id& operation) const {
  const auto set =
      std::span(cancelled_).subspan(set_of(key_of(operation), cancelled_sets) * ways, ways);
  for (const auto& e : set) {
    if (e.used != 0 && e.operation == operation) return &e;
  }
  return nullptr;
}

bool operation_memory::cancelled_here(const operation_id& operation) const {
  const auto* e = find(operation);
  return e != nullptr && e->here;
}

bool operation_memory::cancelled_by_peer(const operation_id& operation) const {
  const auto* e = find(operation);
  return e != nullptr && e->by_peer;
}

bool operation_memory::tell(const operation_id& operation) {
  const bool fits = untold_count_ < untold_max;
  if (!fits) told_first();
  untold_[(untold_first_ + untold_count_) % untold_max] = operation;
  ++untold_count_;
  return fits;
}

std::optional<operation_id> operation_memory::first_to_tell() const {
  if (untold_count_ == 0) return {};
  return untold_[untold_first_];
}

void operation_memory::told_first() {
  untold_first_ = (untold_first_ + 1) % untold_max;
  --untold_count_;
}

}  // namespace troupe::net
