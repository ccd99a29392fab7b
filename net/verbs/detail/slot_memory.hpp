#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "net/verbs/detail/handles.hpp"
#include "net/verbs/verbs_frame_wire.hpp"
#include "runtime/lane.hpp"
#include "runtime/result.hpp"

namespace troupe::net::detail {

/// Longest send: the head of a message and the message.
inline constexpr std::size_t send_bytes_max = verbs_message_header_bytes + lane_message_bytes_max;

struct slot_counts {
  std::uint32_t send = 0;
  std::uint32_t receive = 0;
};

/// Registered memory of one lane: a slot for each send under way and for each posted receive.
class slot_memory {
 public:
  /// Errors: resource_exhausted with errno.
  static result<slot_memory> make(ibv_pd& domain, const slot_counts& counts);

  static std::size_t bytes_of(const slot_counts& counts) {
    return (counts.send + counts.receive) * slot_bytes;
  }

  std::uint32_t local_key() const { return registration_->lkey; }
  std::span<std::byte> send_slot(std::uint32_t slot) const { return at(slot); }
  std::span<std::byte> receive_slot(std::uint32_t slot) const { return at(counts_.send + slot); }

  std::uint32_t free_send_slots() const { return static_cast<std::uint32_t>(free_.size()); }
  std::uint32_t take_send_slot() {
    const auto slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void give_send_slot(std::uint32_t slot) { free_.push_back(slot); }

 private:
  // Whole cache lines, so that the device and we do not meet in one.
  static constexpr std::size_t slot_bytes = (send_bytes_max + 63) / 64 * 64;
  // Whole pages: a page that is registered and shared with something else could not be forked.
  static constexpr std::align_val_t alignment{4096};

  struct page_deleter {
    void operator()(std::byte* bytes) const { ::operator delete[](bytes, alignment); }
  };

  std::span<std::byte> at(std::uint32_t slot) const {
    return {bytes_.get() + slot * slot_bytes, send_bytes_max};
  }

  slot_counts counts_;
  std::unique_ptr<std::byte[], page_deleter> bytes_;
  memory_registration registration_;
  std::vector<std::uint32_t> free_;
};

}  // namespace troupe::net::detail
