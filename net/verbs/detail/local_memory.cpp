#include "net/verbs/detail/local_memory.hpp"

#include <cerrno>

#include "runtime/assert.hpp"

namespace troupe::net::detail {

local_memory::entry& local_memory::find(buffer_id id) {
  if (entries_.size() <= id.slot) entries_.resize(id.slot + 1);
  auto& entry = entries_[id.slot];
  // A released buffer was forgotten, so nothing of it is left here.
  TROUPE_DASSERT(entry.generation == id.generation || (!entry.source && !entry.target));
  entry.generation = id.generation;
  return entry;
}

result<void> local_memory::make(buffer_id id, memory_registration& out, int access) {
  const auto memory = buffers_.memory_of(id);
  out.reset(ibv_reg_mr(&domain_, memory.data(), memory.size(), access));
  if (!out) {
    failed_bytes_ = memory.size();
    return fail(errc::resource_exhausted, errno);
  }
  registered_bytes_ += memory.size();
  return {};
}

result<std::uint32_t> local_memory::source_key(const buffer_view& source) {
  auto& entry = find(source.id);
  if (entry.target) return entry.target->lkey;
  // No right to write: the trainer's source may lie in memory that it cannot write itself.
  if (!entry.source)
    if (const auto made = make(source.id, entry.source, 0); !made)
      return tl::unexpected<error>(made.error());
  return entry.source->lkey;
}

result<std::optional<verbs_remote_memory>> local_memory::target_of(std::uint64_t key) {
  const auto exposed = buffers_.exposed(key);
  if (exposed.base == nullptr) return std::optional<verbs_remote_memory>{};
  auto& entry = find(exposed.buffer);
  if (!entry.target)
    if (const auto made =
            make(exposed.buffer, entry.target, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
        !made)
      return tl::unexpected<error>(made.error());
  const auto slot = static_cast<std::uint32_t>(key);
  if (told_.size() <= slot) told_.resize(slot + 1);
  told_[slot] = key;
  return std::optional(verbs_remote_memory{reinterpret_cast<std::uintptr_t>(exposed.base),
                                           exposed.bytes, entry.target->rkey});
}

void local_memory::forget(buffer_id id) {
  if (id.slot >= entries_.size() || entries_[id.slot].generation != id.generation) return;
  auto& entry = entries_[id.slot];
  for (auto* each : {&entry.source, &entry.target}) {
    if (!*each) continue;
    registered_bytes_ -= (*each)->length;
    each->reset();
  }
}

void local_memory::revoke(buffer_id id, std::uint64_t key) {
  const auto slot = static_cast<std::uint32_t>(key);
  if (slot < told_.size() && told_[slot] == key) forget(id);
}

}  // namespace troupe::net::detail
