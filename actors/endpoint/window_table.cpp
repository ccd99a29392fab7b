#include "actors/endpoint/window_table.hpp"

#include <algorithm>

namespace troupe::actors {

result<std::uint64_t> window_table::open(const window_name& name, void* base, std::uint64_t bytes) {
  open_window one;
  if (bytes != 0) {
    const auto view = buffers_.add(base, bytes);
    if (!view) return tl::unexpected<error>(view.error());
    const auto key = buffers_.expose(*view);
    if (!key) {
      buffers_.release(view->id);
      return tl::unexpected<error>(key.error());
    }
    one.memory = *view;
    one.key = *key;
  }
  const auto key = one.key;
  windows_[name] = std::move(one);
  return key;
}

void window_table::release(const open_window& one) {
  if (!one.memory) return;
  buffers_.withdraw(one.key);
  buffers_.release(one.memory->id);
}

void window_table::close(const window_name& name) {
  const auto found = windows_.find(name);
  if (found == windows_.end()) return;
  release(found->second);
  windows_.erase(found);
}

void window_table::close_all(communicator_id communicator) {
  std::erase_if(windows_, [&](const auto& entry) {
    if (entry.first.communicator != communicator) return false;
    release(entry.second);
    return true;
  });
}

std::optional<buffer_view> window_table::part(const window_name& name, std::uint64_t offset,
                                              std::uint64_t bytes) const {
  const auto found = windows_.find(name);
  if (found == windows_.end()) return std::nullopt;
  const auto whole = found->second.memory.value_or(buffer_view{});
  if (offset > whole.bytes || bytes > whole.bytes - offset) return std::nullopt;
  return whole.part(offset, bytes);
}

std::optional<operation_slot> window_table::note(const window_name& name, rank from) {
  const auto found = windows_.find(name);
  if (found == windows_.end()) return std::nullopt;
  auto& there = found->second.from[from];
  ++there.arrived;
  if (there.waits.empty() || there.arrived < there.waits.front().count) return std::nullopt;
  const auto done = there.waits.front();
  there.arrived -= done.count;
  there.waits.pop_front();
  return done.slot;
}

bool window_table::take(const window_name& name, rank from, std::uint64_t count,
                        operation_slot slot) {
  const auto found = windows_.find(name);
  if (found == windows_.end()) return false;
  auto& there = found->second.from[from];
  if (there.waits.empty() && there.arrived >= count) {
    there.arrived -= count;
    return true;
  }
  there.waits.push_back({slot, count});
  return false;
}

void window_table::forget(operation_slot slot) {
  for (auto& [name, one] : windows_)
    for (auto& [from, there] : one.from)
      std::erase_if(there.waits, [&](const wait& each) { return each.slot == slot; });
}

}  // namespace troupe::actors
