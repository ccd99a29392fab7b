#pragma once

#include <atomic>
#include <bit>
#include <optional>

#include "kernels/mailbox/mailbox_layout.hpp"

namespace troupe::kernels {

/// The writing end on the host; a kernel reads.
///
/// Thread: one at a time. Neither call blocks or enters CUDA.
class host_mailbox_writer {
 public:
  explicit host_mailbox_writer(mailbox_layout& ring) : ring_(&ring) {}

  /// False if the ring is full: the kernel has records to take first.
  bool post(std::uint16_t kind, std::uint16_t index, std::uint64_t argument) {
    if (static_cast<std::uint32_t>(written_) - known_taken_ >= mailbox_depth) {
      known_taken_ = std::atomic_ref(ring_->taken).load(std::memory_order_acquire);
      if (static_cast<std::uint32_t>(written_) - known_taken_ >= mailbox_depth) return false;
    }
    auto& record = ring_->records[written_ % mailbox_depth];
    // The kernel reads 16 bytes at once, so that whoever sees the word with the sequence sees the
    // argument that was stored before it.
    std::atomic_ref(record.argument).store(argument, std::memory_order_relaxed);
    const mailbox_record head{0, kind, index, mailbox_sequence(written_)};
    const auto word = std::bit_cast<halves>(head).head;
    std::atomic_ref(head_of(record)).store(word, std::memory_order_release);
    ++written_;
    return true;
  }

  std::uint64_t written() const { return written_; }

 private:
  struct halves {
    std::uint64_t argument;
    std::uint64_t head;
  };
  static std::uint64_t& head_of(mailbox_record& record) {
    return reinterpret_cast<halves*>(&record)->head;
  }

  mailbox_layout* ring_;
  std::uint64_t written_ = 0;
  std::uint32_t known_taken_ = 0;
};

/// The reading end on the host; a kernel writes.
///
/// Thread: one at a time. `take` never blocks and never enters CUDA.
class host_mailbox_reader {
 public:
  explicit host_mailbox_reader(mailbox_layout& ring) : ring_(&ring) {}

  /// The next record; none if there is none yet.
  std::optional<mailbox_record> take() {
    auto& record = ring_->records[read_ % mailbox_depth];
    const auto sequence = std::atomic_ref(record.sequence).load(std::memory_order_acquire);
    if (sequence != mailbox_sequence(read_)) return std::nullopt;
    const mailbox_record taken = record;
    ++read_;
    if (read_ % (mailbox_depth / 4) == 0)
      std::atomic_ref(ring_->taken)
          .store(static_cast<std::uint32_t>(read_), std::memory_order_release);
    return taken;
  }

  /// Tells a kernel that waits for room to give up, whatever it has to say.
  void close() { std::atomic_ref(ring_->closed).store(1, std::memory_order_release); }

  std::uint64_t taken() const { return read_; }

 private:
  mailbox_layout* ring_;
  std::uint64_t read_ = 0;
};

}  // namespace troupe::kernels
