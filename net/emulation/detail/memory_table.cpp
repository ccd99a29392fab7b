#include "net/emulation/detail/memory_table.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace troupe::net::emulation {

namespace {

// A key: place << 8 | generation << 1 | whether it is the remote one.
constexpr std::uint32_t place_count_max = 1u << 24;
constexpr std::size_t free_before_reuse = 4096;

}  // namespace

region* memory_table::add(std::unique_ptr<region> what) {
  std::uint32_t index = 0;
  if (places_.size() < place_count_max && free_.size() < free_before_reuse) {
    index = static_cast<std::uint32_t>(places_.size());
    places_.emplace_back();
  } else if (!free_.empty()) {
    index = free_.front();
    free_.pop_front();
  } else {
    errno = ENOMEM;
    return nullptr;
  }
  auto& at = places_[index];
  at.generation = static_cast<std::uint8_t>((at.generation + 1) & 0x7f);
  what->handle.lkey = index << 8 | static_cast<std::uint32_t>(at.generation << 1);
  what->handle.rkey = what->handle.lkey | 1;
  at.held = std::move(what);
  ++count_;
  return at.held.get();
}

void memory_table::remove(region& what) {
  const auto index = what.handle.lkey >> 8;
  places_[index].held.reset();
  free_.push_back(index);
  --count_;
}

region* memory_table::find(std::uint32_t key, const ibv_pd* pd, std::uint64_t address,
                           std::uint64_t bytes, unsigned access) const {
  const auto index = key >> 8;
  if (index >= places_.size()) return nullptr;
  region* const held = places_[index].held.get();
  if (held == nullptr || held->handle.pd != pd || (held->access & access) != access) return nullptr;
  if (((held->handle.lkey ^ key) & 0xfe) != 0) return nullptr;
  const std::uint64_t length = held->handle.length;
  if (address < held->begin || address - held->begin > length) return nullptr;
  return bytes <= length - (address - held->begin) ? held : nullptr;
}

region* memory_table::local(std::uint32_t key, const ibv_pd* pd, std::uint64_t address,
                            std::uint64_t bytes, unsigned access) const {
  return (key & 1) == 0 ? find(key, pd, address, bytes, access) : nullptr;
}

region* memory_table::remote(std::uint32_t key, const ibv_pd* pd, std::uint64_t address,
                             std::uint64_t bytes, unsigned access) const {
  return (key & 1) == 1 ? find(key, pd, address, bytes, access) : nullptr;
}

std::size_t memory_table::count_of(const ibv_pd* pd) const {
  return static_cast<std::size_t>(
      std::count_if(places_.begin(), places_.end(),
                    [pd](const auto& p) { return p.held != nullptr && p.held->handle.pd == pd; }));
}

}  // namespace troupe::net::emulation
