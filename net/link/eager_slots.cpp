#include "net/link/eager_slots.hpp"

#include "runtime/assert.hpp"

namespace troupe::net {

std::uint32_t eager_sender::take_slot() {
  TROUPE_ASSERT(has_credit());
  const auto slot = next_slot;
  next_slot = next_slot + 1 == credit_count ? 0 : next_slot + 1;
  ++sent;
  return slot;
}

bool eager_sender::give_back(std::uint32_t total) {
  const auto ahead = static_cast<std::int32_t>(total - consumed);
  if (ahead <= 0) return true;  // old news
  if (static_cast<std::uint32_t>(ahead) > sent - consumed) return false;
  consumed = total;
  return true;
}

eager_receiver::eager_receiver(std::uint32_t slot_count, std::uint32_t granted_count)
    : slot_count_(slot_count), credit_count_(slot_count - granted_count) {}

bool eager_receiver::occupy(std::uint32_t slot) {
  if (slot >= slot_count_) return false;
  const auto expected = is_granted_slot(slot) ? slot_state::promised : slot_state::free;
  if (slots_[slot] != expected) return false;
  slots_[slot] = slot_state::occupied;
  return true;
}

void eager_receiver::empty(std::uint32_t slot) {
  TROUPE_ASSERT(slots_[slot] == slot_state::occupied);
  if (is_granted_slot(slot)) {
    slots_[slot] = slot_state::free;
    return;
  }
  slots_[slot] = slot_state::done;
  while (slots_[consume_at_] == slot_state::done) {
    slots_[consume_at_] = slot_state::free;
    consume_at_ = consume_at_ + 1 == credit_count_ ? 0 : consume_at_ + 1;
    ++consumed_;
  }
}

bool eager_receiver::take_granted(std::uint8_t& slot) {
  for (auto s = credit_count_; s < slot_count_; ++s) {
    if (slots_[s] != slot_state::free) continue;
    slots_[s] = slot_state::promised;
    slot = static_cast<std::uint8_t>(s);
    return true;
  }
  return false;
}

bool eager_receiver::decline(std::uint32_t slot) {
  if (slot >= slot_count_ || slots_[slot] != slot_state::promised) return false;
  slots_[slot] = slot_state::free;
  return true;
}

bool eager_receiver::all_free() const {
  for (std::uint32_t s = 0; s < slot_count_; ++s) {
    if (slots_[s] != slot_state::free) return false;
  }
  return true;
}

parking_lot::parking_lot(std::uint32_t place_count, std::pmr::memory_resource* memory)
    : place_count_(place_count), free_(memory) {
  free_.reserve(place_count);
  while (place_count > 0)
    free_.push_back(--place_count);
}

std::uint32_t parking_lot::take() {
  TROUPE_ASSERT(has_place());
  const auto place = free_.back();
  free_.pop_back();
  return place;
}

void parking_lot::give_back(std::uint32_t place) {
  free_.push_back(place);
}

}  // namespace troupe::net
