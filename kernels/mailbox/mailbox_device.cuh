#pragma once

#include "kernels/device/system_memory_device.cuh"
#include "kernels/mailbox/mailbox_layout.hpp"

namespace troupe::kernels {

/// The writing end in a kernel: one thread.
class device_mailbox_writer {
 public:
  __device__ device_mailbox_writer(mailbox_layout* ring, std::uint64_t written)
      : ring_(ring), written_(written), known_taken_(load_relaxed(&ring->taken)) {}

  /// Waits for room. False if the host closed the mailbox meanwhile; then nothing was written. The
  /// record stands for itself: it may overtake other stores of this thread.
  __device__ bool post(std::uint16_t kind, std::uint16_t index, std::uint64_t argument) {
    while (static_cast<std::uint32_t>(written_) - known_taken_ >= mailbox_depth) {
      if (load_relaxed(&ring_->closed) != 0) return false;
      known_taken_ = load_acquire(&ring_->taken);
    }
    const mailbox_record record{argument, kind, index, mailbox_sequence(written_)};
    store_16_bytes(&ring_->records[written_ % mailbox_depth], record);
    ++written_;
    return true;
  }

  /// The same; whoever takes the record sees what this thread saw and stored before. The fence
  /// costs as much as half a round trip.
  __device__ bool post_after_memory(std::uint16_t kind, std::uint16_t index,
                                    std::uint64_t argument) {
    __threadfence_system();
    return post(kind, index, argument);
  }

  __device__ std::uint64_t written() const { return written_; }

 private:
  mailbox_layout* ring_;
  std::uint64_t written_;
  std::uint32_t known_taken_;
};

/// The reading end in a kernel: one thread.
class device_mailbox_reader {
 public:
  __device__ device_mailbox_reader(mailbox_layout* ring, std::uint64_t read)
      : ring_(ring), read_(read) {}

  /// Waits for the next record. False if the host closed the mailbox and nothing is left in it.
  /// What the host stored before it posted may not be there yet: `take_with_memory`.
  __device__ bool take(mailbox_record& record) {
    const auto* const place = &ring_->records[read_ % mailbox_depth];
    const auto expected = mailbox_sequence(read_);
    for (std::uint32_t polls = 1;; ++polls) {
      record = load_16_bytes(place);
      if (record.sequence == expected) break;
      if (polls % 64 == 0 && load_relaxed(&ring_->closed) != 0) return false;
    }
    ++read_;
    if (read_ % (mailbox_depth / 4) == 0)
      store_relaxed(&ring_->taken, static_cast<std::uint32_t>(read_));
    return true;
  }

  /// The same; what the host stored before it posted is there.
  __device__ bool take_with_memory(mailbox_record& record) {
    if (!take(record)) return false;
    __threadfence_system();
    return true;
  }

  __device__ std::uint64_t read() const { return read_; }

 private:
  mailbox_layout* ring_;
  std::uint64_t read_;
};

}  // namespace troupe::kernels
