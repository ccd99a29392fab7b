#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "net/tcp/tcp_frame_wire.hpp"
#include "runtime/assert.hpp"
#include "runtime/buffer_table.hpp"
#include "runtime/lane.hpp"

namespace troupe::net::detail {

/// Contexts of writes that completed and were not polled yet: never more than the lane's depth.
class context_ring {
 public:
  explicit context_ring(std::uint32_t depth) : contexts_(depth) {}

  bool empty() const { return count_ == 0; }
  void push(std::uint64_t context) {
    TROUPE_DASSERT(count_ < contexts_.size());
    contexts_[(first_ + count_++) % contexts_.size()] = context;
  }
  std::uint64_t held_bytes() const { return contexts_.size() * sizeof contexts_[0]; }
  std::uint64_t pop() {
    const auto context = contexts_[first_];
    first_ = (first_ + 1) % contexts_.size();
    --count_;
    return context;
  }

 private:
  std::vector<std::uint64_t> contexts_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

/// Frames that a socket has not taken yet, in order: at most `depth` writes and `depth` messages.
/// Messages are copied here, writes are read from their source when the socket takes them.
class send_queue {
 public:
  explicit send_queue(std::uint32_t depth);

  bool empty() const { return count_ == 0; }
  std::uint32_t size() const { return count_; }
  bool has_room_for_message() const { return messages_ < depth_; }

  /// The caller keeps at most `depth` writes open.
  void push_write(const lane_write& write);

  /// Needs `has_room_for_message()`.
  void push_message(std::span<const std::byte> message);

  /// Describes the next bytes to send, at most `bytes_max`; returns how many pieces there are and
  /// adds their length to `bytes`. Sources are resolved now.
  std::size_t gather(const buffer_table& buffers, std::span<iovec> pieces, std::uint64_t bytes_max,
                     std::uint64_t& bytes);

  /// The socket took `bytes` of what was gathered; writes that left whole go to `completed`.
  void advance(std::uint64_t bytes, context_ring& completed);

  /// The bytes that may still be sent when no source is readable any more: the messages in front
  /// of the first write. Empties the queue.
  std::vector<std::byte> take_messages();

  void clear();

  std::uint64_t held_bytes() const { return entries_.size() * sizeof(entry) + slots_.size(); }

 private:
  struct entry {
    std::array<std::byte, tcp_write_header_bytes> header{};
    std::uint32_t header_bytes = 0;
    bool is_write = false;
    std::uint32_t slot = 0;  ///< of the message's copy
    std::uint64_t payload_bytes = 0;
    std::uint64_t context = 0;
    buffer_view source;
  };

  entry& push();
  const std::byte* payload(const entry& frame, const buffer_table& buffers) const;
  void pop();

  std::uint32_t depth_;
  std::vector<entry> entries_;  ///< a ring
  std::uint32_t first_ = 0;
  std::uint32_t count_ = 0;
  std::uint64_t front_sent_ = 0;  ///< bytes of the front frame that left
  std::uint32_t messages_ = 0;
  std::uint32_t next_slot_ = 0;
  std::vector<std::byte> slots_;  ///< `depth` copies of messages, used in turn
};

}  // namespace troupe::net::detail
