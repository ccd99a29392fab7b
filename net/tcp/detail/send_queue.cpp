#include "net/tcp/detail/send_queue.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/assert.hpp"

namespace troupe::net::detail {

send_queue::send_queue(std::uint32_t depth)
    : depth_(depth), entries_(2 * depth), slots_(depth * lane_message_bytes_max) {}

send_queue::entry& send_queue::push() {
  TROUPE_ASSERT(count_ < entries_.size());
  return entries_[(first_ + count_++) % entries_.size()];
}

void send_queue::push_write(const lane_write& write) {
  auto& frame = push();
  frame.is_write = true;
  frame.payload_bytes = write.source.bytes;
  frame.context = write.context;
  frame.source = write.source;
  frame.header_bytes = static_cast<std::uint32_t>(encode({.what = tcp_frame::kind::write,
                                                          .immediate = write.immediate,
                                                          .bytes = write.source.bytes,
                                                          .target = write.target},
                                                         frame.header));
}

void send_queue::push_message(std::span<const std::byte> message) {
  TROUPE_ASSERT(messages_ < depth_);
  auto& frame = push();
  frame.is_write = false;
  frame.payload_bytes = message.size();
  frame.slot = std::exchange(next_slot_, (next_slot_ + 1) % depth_);
  frame.header_bytes = static_cast<std::uint32_t>(encode(
      {.what = tcp_frame::kind::message, .bytes = message.size(), .target = {}}, frame.header));
  if (!message.empty())
    std::memcpy(&slots_[frame.slot * lane_message_bytes_max], message.data(), message.size());
  ++messages_;
}

const std::byte* send_queue::payload(const entry& frame, const buffer_table& buffers) const {
  if (!frame.is_write) return &slots_[frame.slot * lane_message_bytes_max];
  const auto* source = buffers.resolve(frame.source);
  TROUPE_ASSERT(source != nullptr);
  return source;
}

std::size_t send_queue::gather(const buffer_table& buffers, std::span<iovec> pieces,
                               std::uint64_t bytes_max, std::uint64_t& bytes) {
  std::size_t count = 0;
  std::uint64_t room = bytes_max;
  std::uint64_t skip = front_sent_;
  const auto add = [&](const std::byte* from, std::uint64_t length) {
    const auto taken = std::min(length, room);
    // sendmsg does not write through iov_base; its type is shared with recvmsg.
    pieces[count++] = {const_cast<std::byte*>(from), taken};
    bytes += taken;
    room -= taken;
  };
  for (std::uint32_t i = 0; i < count_ && room != 0 && count + 2 <= pieces.size(); ++i) {
    const auto& frame = entries_[(first_ + i) % entries_.size()];
    if (skip < frame.header_bytes) add(&frame.header[skip], frame.header_bytes - skip);
    skip -= std::min<std::uint64_t>(skip, frame.header_bytes);
    if (skip < frame.payload_bytes && room != 0)
      add(payload(frame, buffers) + skip, frame.payload_bytes - skip);
    skip = 0;
  }
  return count;
}

void send_queue::advance(std::uint64_t bytes, context_ring& completed) {
  front_sent_ += bytes;
  while (count_ != 0) {
    const auto& frame = entries_[first_];
    const auto whole = frame.header_bytes + frame.payload_bytes;
    if (front_sent_ < whole) return;
    front_sent_ -= whole;
    if (frame.is_write) completed.push(frame.context);
    pop();
  }
  TROUPE_ASSERT(front_sent_ == 0);
}

void send_queue::pop() {
  if (!entries_[first_].is_write) --messages_;
  first_ = static_cast<std::uint32_t>((first_ + 1) % entries_.size());
  --count_;
}

std::vector<std::byte> send_queue::take_messages() {
  std::vector<std::byte> rest;
  for (auto skip = front_sent_; count_ != 0 && !entries_[first_].is_write; pop(), skip = 0) {
    const auto& frame = entries_[first_];
    const auto* slot = &slots_[frame.slot * lane_message_bytes_max];
    const auto header = std::min<std::uint64_t>(skip, frame.header_bytes);
    rest.insert(rest.end(), frame.header.begin() + static_cast<std::ptrdiff_t>(header),
                frame.header.begin() + static_cast<std::ptrdiff_t>(frame.header_bytes));
    rest.insert(rest.end(), slot + (skip - header), slot + frame.payload_bytes);
  }
  clear();
  return rest;
}

void send_queue::clear() {
  first_ = 0;
  count_ = 0;
  front_sent_ = 0;
  messages_ = 0;
  next_slot_ = 0;
}

}  // namespace troupe::net::detail
