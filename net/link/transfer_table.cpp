#include "net/link/transfer_table.hpp"

#include <bit>

#include "runtime/assert.hpp"

namespace troupe::net {

namespace {

// splitmix64's finalizer: spreads ids that differ in a few low bits.
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58'476d'1ce4'e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d0'49bb'1331'11ebull;
  return x ^ (x >> 31);
}

// Takes `index` out of a doubly linked chain whose links are the given members.
template <class Items, class Link>
void unchain(Items& items, std::uint32_t index, Link previous, Link next, std::uint32_t& first,
             std::uint32_t& last) {
  auto& t = items[index];
  (t.*previous == no_index ? first : items[t.*previous].*next) = t.*next;
  (t.*next == no_index ? last : items[t.*next].*previous) = t.*previous;
  t.*previous = no_index;
  t.*next = no_index;
}

template <class Items, class Link>
void rechain(Items& items, std::uint32_t index, Link previous, Link next, std::uint32_t& first,
             std::uint32_t& last) {
  auto& t = items[index];
  t.*previous = last;
  t.*next = no_index;
  (last == no_index ? first : items[last].*next) = index;
  last = index;
}

}  // namespace

transfer_table::transfer_table(std::uint32_t capacity, std::uint32_t local_max,
                               std::pmr::memory_resource* memory)
    : items_(memory),
      free_(memory),
      buckets_(std::bit_ceil(capacity), no_index, memory),
      local_max_(local_max),
      capacity_(capacity) {
  items_.reserve(capacity);
  free_.reserve(capacity);
}

std::uint32_t transfer_table::bucket_of(const transfer_id& id, transfer_side side) const {
  const auto high = static_cast<std::uint64_t>(id.communicator.value) << 32 | id.epoch.value;
  const auto low = static_cast<std::uint64_t>(id.step) << 1 | static_cast<std::uint64_t>(side);
  const auto hash = mix(mix(high ^ id.operation.value * 0x9e37'79b9'7f4a'7c15ull) ^ low);
  return static_cast<std::uint32_t>(hash & (buckets_.size() - 1));
}

std::uint32_t transfer_table::find(const transfer_id& id, transfer_side side) const {
  auto index = buckets_[bucket_of(id, side)];
  while (index != no_index) {
    const auto& t = items_[index];
    if (t.side == side && t.id == id) return index;
    index = t.hash_next;
  }
  return no_index;
}

std::uint32_t transfer_table::add(const transfer_id& id, transfer_side side) {
  std::uint32_t index = 0;
  if (free_.empty()) {
    TROUPE_ASSERT(items_.size() < capacity_);
    index = static_cast<std::uint32_t>(items_.size());
    items_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
    items_[index] = transfer{};
  }
  auto& t = items_[index];
  t.id = id;
  t.side = side;
  auto& bucket = buckets_[bucket_of(id, side)];
  t.hash_next = bucket;
  bucket = index;
  rechain(items_, index, &transfer::all_previous, &transfer::all_next, all_first_, all_last_);
  ++live_count_;
  return index;
}

void transfer_table::make_local(std::uint32_t index) {
  TROUPE_ASSERT(!items_[index].local);
  items_[index].local = true;
  ++local_count_;
}

void transfer_table::hide(std::uint32_t index) {
  const auto& t = items_[index];
  auto* link = &buckets_[bucket_of(t.id, t.side)];
  while (*link != index) {
    TROUPE_ASSERT(*link != no_index);
    link = &items_[*link].hash_next;
  }
  *link = t.hash_next;
}

void transfer_table::remove(std::uint32_t index) {
  auto& t = items_[index];
  TROUPE_ASSERT(t.list == transfer_list::none);
  TROUPE_ASSERT(t.tell == transfer_notice::none);
  if (t.local) --local_count_;
  unchain(items_, index, &transfer::all_previous, &transfer::all_next, all_first_, all_last_);
  --live_count_;
  free_.push_back(index);
}

void transfer_table::move_to(transfer_list list, std::uint32_t index) {
  auto& t = items_[index];
  if (t.list != transfer_list::none) {
    auto& from = chain(t.list);
    unchain(items_, index, &transfer::list_previous, &transfer::list_next, from.first, from.last);
    --from.count;
  }
  t.list = list;
  if (list == transfer_list::none) return;
  auto& to = chain(list);
  rechain(items_, index, &transfer::list_previous, &transfer::list_next, to.first, to.last);
  ++to.count;
}

void transfer_table::tell(transfer_notice what, std::uint32_t index) {
  untell(index);
  items_[index].tell = what;
  auto& to = tell_chain(what);
  rechain(items_, index, &transfer::tell_previous, &transfer::tell_next, to.first, to.last);
}

void transfer_table::untell(std::uint32_t index) {
  auto& t = items_[index];
  if (t.tell == transfer_notice::none) return;
  auto& from = tell_chain(t.tell);
  unchain(items_, index, &transfer::tell_previous, &transfer::tell_next, from.first, from.last);
  t.tell = transfer_notice::none;
}

}  // namespace troupe::net
