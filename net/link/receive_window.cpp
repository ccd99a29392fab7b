#include "net/link/receive_window.hpp"

#include "runtime/assert.hpp"

namespace troupe::net {

receive_window::receive_window(std::uint32_t capacity, sequence first,
                               std::pmr::memory_resource* memory)
    : ring_(capacity, memory), mask_(capacity - 1), base_(first), high_(first) {}

bool receive_window::has_arrived(sequence number) const {
  const auto ahead = distance(base_, number);
  if (ahead > sequence_mask / 2) return true;
  return ahead < ring_.size() && (ring_[number.value & mask_] & arrived_bit) != 0;
}

receive_window::verdict receive_window::classify(sequence number) const {
  const auto ahead = distance(base_, number);
  if (ahead < ring_.size()) {
    return (ring_[number.value & mask_] & arrived_bit) != 0 ? verdict::duplicate : verdict::fresh;
  }
  return ahead > sequence_mask / 2 ? verdict::duplicate : verdict::beyond;
}

void receive_window::note(const immediate& arrived) {
  TROUPE_DASSERT(classify(arrived.number) == verdict::fresh);
  ring_[arrived.number.value & mask_] = static_cast<std::uint8_t>(
      arrived_bit | (arrived.notify ? notify_bit : 0) | (arrived.channel & channel_bits));
  const auto after = advance(arrived.number, 1);
  if (distance(base_, after) > distance(base_, high_)) high_ = after;
}

std::optional<std::uint8_t> receive_window::release() {
  while (base_ != high_) {
    auto& entry = ring_[base_.value & mask_];
    if ((entry & arrived_bit) == 0) return {};
    const auto held = entry;
    entry = 0;
    base_ = advance(base_, 1);
    if ((held & notify_bit) != 0) return static_cast<std::uint8_t>(held & channel_bits);
  }
  return {};
}

}  // namespace troupe::net
