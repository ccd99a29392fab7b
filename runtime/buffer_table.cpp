#include "runtime/buffer_table.hpp"

#include "runtime/assert.hpp"

namespace troupe {

namespace {

// A key is (generation + 1) in the upper half and the slot in the lower: never 0, and a slot gives
// 2^32 - 1 keys before one could come back.
constexpr std::uint64_t make_key(std::uint32_t slot, std::uint32_t generation) {
  return (static_cast<std::uint64_t>(generation) + 1) << 32 | slot;
}

constexpr bool leaves(std::uint64_t offset, std::uint64_t bytes, std::uint64_t limit) {
  return offset > limit || bytes > limit - offset;
}

template <class Slot>
result<std::uint32_t> take(std::pmr::vector<Slot>& slots, std::pmr::vector<std::uint32_t>& free,
                           std::uint32_t capacity) {
  if (!free.empty()) {
    const auto slot = free.back();
    free.pop_back();
    return slot;
  }
  if (slots.size() >= capacity) return fail(errc::resource_exhausted);
  slots.emplace_back();
  free.reserve(slots.capacity());
  return static_cast<std::uint32_t>(slots.size() - 1);
}

}  // namespace

buffer_table::buffer_table(std::uint32_t capacity, std::pmr::memory_resource* memory)
    : capacity_(capacity),
      buffers_(memory),
      exposures_(memory),
      free_buffers_(memory),
      free_exposures_(memory) {}

result<buffer_view> buffer_table::add(void* base, std::uint64_t bytes, memory_space space) {
  const auto slot = take(buffers_, free_buffers_, capacity_);
  if (!slot) return tl::unexpected<error>(slot.error());
  auto& entry = buffers_[*slot];
  entry.base = static_cast<std::byte*>(base);
  entry.bytes = bytes;
  entry.live = true;
  ++live_buffers_;
  return buffer_view{{*slot, entry.generation}, 0, bytes, space};
}

void buffer_table::release(buffer_id id) {
  TROUPE_ASSERT(id.slot < buffers_.size());
  auto& entry = buffers_[id.slot];
  TROUPE_ASSERT(entry.live);
  TROUPE_ASSERT(entry.generation == id.generation);
  if (watcher_ != nullptr) watcher_->on_buffer_released(id);
  entry.live = false;
  ++entry.generation;
  --live_buffers_;
  free_buffers_.push_back(id.slot);
}

std::byte* buffer_table::resolve(const buffer_view& view) const {
  if (view.id.slot >= buffers_.size()) return nullptr;
  const auto& entry = buffers_[view.id.slot];
  if (!entry.live || entry.generation != view.id.generation) return nullptr;
  if (leaves(view.offset, view.bytes, entry.bytes)) return nullptr;
  return entry.base + view.offset;
}

result<std::uint64_t> buffer_table::expose(const buffer_view& view) {
  if (resolve(view) == nullptr && view.bytes != 0) return fail(errc::bad_argument);
  const auto slot = take(exposures_, free_exposures_, capacity_);
  if (!slot) return tl::unexpected<error>(slot.error());
  auto& entry = exposures_[*slot];
  entry.view = view;
  entry.live = true;
  ++live_exposures_;
  return make_key(*slot, entry.generation);
}

void buffer_table::withdraw(std::uint64_t key, exposure_end how) {
  const auto slot = static_cast<std::uint32_t>(key);
  if (slot >= exposures_.size()) return;
  auto& entry = exposures_[slot];
  if (!entry.live || make_key(slot, entry.generation) != key) return;
  if (watcher_ != nullptr && how == exposure_end::revoked)
    watcher_->on_key_revoked(entry.view.id, key);
  entry.live = false;
  ++entry.generation;
  --live_exposures_;
  free_exposures_.push_back(slot);
}

const buffer_table::exposure* buffer_table::find(std::uint64_t key) const {
  const auto slot = static_cast<std::uint32_t>(key);
  if (slot >= exposures_.size()) return nullptr;
  const auto& entry = exposures_[slot];
  return entry.live && make_key(slot, entry.generation) == key ? &entry : nullptr;
}

exposed_memory buffer_table::exposed(std::uint64_t key) const {
  const auto* entry = find(key);
  if (entry == nullptr) return {};
  return {entry->view.id, resolve(entry->view), entry->view.bytes};
}

std::span<std::byte> buffer_table::memory_of(buffer_id id) const {
  auto* base = resolve(buffer_view{id, 0, 0});
  return base == nullptr ? std::span<std::byte>() : std::span(base, buffers_[id.slot].bytes);
}

std::byte* buffer_table::resolve(const remote_region& target, std::uint64_t bytes) const {
  const auto* found = find(target.key);
  if (found == nullptr) return nullptr;
  const auto& entry = *found;
  if (leaves(target.offset, bytes, entry.view.bytes)) return nullptr;
  return resolve(entry.view.part(target.offset, bytes));
}

}  // namespace troupe
