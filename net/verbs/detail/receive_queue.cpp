#include "net/verbs/detail/receive_queue.hpp"

#include <utility>

#include "runtime/assert.hpp"

namespace troupe::net::detail {

void receive_queue::push(const arrival& what) {
  TROUPE_ASSERT(count_ < arrivals_.size());
  arrivals_[(first_ + count_++) % arrivals_.size()] = what;
}

receive_queue::arrival receive_queue::pop() {
  TROUPE_DASSERT(count_ != 0);
  const auto out = arrivals_[first_];
  first_ = (first_ + 1) % arrivals_.size();
  --count_;
  return out;
}

int receive_queue::post_again(queue_pair& pair, const slot_memory& memory, std::uint64_t id) {
  if (again_.empty()) return 0;
  for (std::size_t i = 0; i < again_.size(); ++i) {
    const auto slot = memory.receive_slot(again_[i]);
    pieces_[i] = {.addr = reinterpret_cast<std::uintptr_t>(slot.data()),
                  .length = static_cast<std::uint32_t>(slot.size()),
                  .lkey = memory.local_key()};
    requests_[i] = {.wr_id = id | again_[i],
                    .next = i + 1 < again_.size() ? &requests_[i + 1] : nullptr,
                    .sg_list = &pieces_[i],
                    .num_sge = 1};
  }
  const int code = pair.post(requests_[0]);
  owed_ += static_cast<std::uint32_t>(again_.size());
  again_.clear();
  return code;
}

std::uint32_t receive_queue::take_owed() {
  return std::exchange(owed_, 0);
}

}  // namespace troupe::net::detail
