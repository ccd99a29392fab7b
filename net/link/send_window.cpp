#include "net/link/send_window.hpp"

namespace troupe::net {

send_window::send_window(std::uint32_t capacity, sequence first, std::pmr::memory_resource* memory)
    : ring_(capacity, memory),
      mask_(capacity - 1),
      retired_(first),
      acknowledged_(first),
      next_(first) {}

segment& send_window::push() {
  TROUPE_ASSERT(in_use() < capacity());
  auto& s = ring_[next_.value & mask_];
  s = segment{};
  s.number = next_;
  next_ = advance(next_, 1);
  return s;
}

bool send_window::acknowledge(sequence number) {
  const auto ahead = distance(acknowledged_, number);
  if (ahead > sequence_mask / 2) return true;  // behind what we know: old news
  if (ahead > distance(acknowledged_, next_)) return false;
  acknowledged_ = number;
  return true;
}

segment* send_window::retirable() {
  if (retired_ == acknowledged_) return nullptr;
  auto& oldest = at(retired_);
  return oldest.finished ? &oldest : nullptr;
}

void send_window::retire_one() {
  retired_ = advance(retired_, 1);
}

void send_window::append(segment_chain& chain, segment& s) {
  const auto index = index_of(s);
  s.previous = chain.last;
  s.next = no_index;
  if (chain.last == no_index) {
    chain.first = index;
  } else {
    ring_[chain.last].next = index;
  }
  chain.last = index;
}

void send_window::unlink(segment_chain& chain, segment& s) {
  if (s.previous == no_index) {
    chain.first = s.next;
  } else {
    ring_[s.previous].next = s.next;
  }
  if (s.next == no_index) {
    chain.last = s.previous;
  } else {
    ring_[s.next].previous = s.previous;
  }
  s.previous = no_index;
  s.next = no_index;
}

}  // namespace troupe::net
