#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace troupe::net::detail {

// A ring of bytes with one writer and one reader, mapped twice in a row. Cursors count bytes from
// the start and never wrap; each is stored by its owner alone and read by the other, who may be
// lied to: a cursor that cannot be breaks the ring for good, and no byte outside it is touched.
//
// Stores that a sleeper may wait for, and the loads that decide on sleep, are sequentially
// consistent: docs/protocols/shm.md, doorbells.

/// The writer's end.
class ring_writer {
 public:
  ring_writer() = default;
  ring_writer(std::byte* base, std::uint64_t bytes, std::atomic<std::uint64_t>& written,
              const std::atomic<std::uint64_t>& read)
      : base_(base), bytes_(bytes), shared_written_(&written), shared_read_(&read) {}

  bool has_room(std::uint64_t bytes) {
    return bytes_ - (written_ - read_) >= bytes || room() >= bytes;
  }

  /// Asks the reader's cursor.
  std::uint64_t room() {
    const auto read = shared_read_->load(std::memory_order_seq_cst);
    if (read < read_ || read > written_)
      broken_ = true;
    else
      read_ = read;
    return broken_ ? 0 : bytes_ - (written_ - read_);
  }

  std::byte* place() const { return base_ + (written_ & (bytes_ - 1)); }
  void advance(std::uint64_t bytes) { written_ += bytes; }

  /// The reader may have what was advanced over.
  void publish() { shared_written_->store(written_, std::memory_order_seq_cst); }

  bool broken() const { return broken_; }

 private:
  std::byte* base_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::atomic<std::uint64_t>* shared_written_ = nullptr;
  const std::atomic<std::uint64_t>* shared_read_ = nullptr;
  std::uint64_t written_ = 0;
  std::uint64_t read_ = 0;
  bool broken_ = false;
};

/// The reader's end.
class ring_reader {
 public:
  ring_reader() = default;
  ring_reader(const std::byte* base, std::uint64_t bytes, std::atomic<std::uint64_t>& read,
              const std::atomic<std::uint64_t>& written)
      : base_(base), bytes_(bytes), shared_read_(&read), shared_written_(&written) {}

  /// One load; may be true for a ring that turns out to be broken.
  bool has_news() const { return shared_written_->load(std::memory_order_seq_cst) != read_; }

  /// Bytes that can be read from `place` on.
  std::uint64_t available() {
    if (written_ == read_) {
      const auto written = shared_written_->load(std::memory_order_acquire);
      if (written < written_ || written - read_ > bytes_)
        broken_ = true;
      else
        written_ = written;
    }
    return broken_ ? 0 : written_ - read_;
  }

  const std::byte* place() const { return base_ + (read_ & (bytes_ - 1)); }
  void advance(std::uint64_t bytes) { read_ += bytes; }

  /// The writer may reuse what was advanced over. True if it may have waited for that: a quarter of
  /// the ring or more was not free as far as it was told. A writer that finds the ring full after
  /// we looked here wrote more than two quarters since it was told last, so the one before us or
  /// the next, which there will be, says true.
  bool publish() {
    if (told_ == read_) return false;
    const auto written = shared_written_->load(std::memory_order_relaxed);
    const bool may_wait = written - told_ >= bytes_ / 4;
    told_ = read_;
    if (may_wait)
      shared_read_->store(read_, std::memory_order_seq_cst);
    else
      shared_read_->store(read_, std::memory_order_release);
    return may_wait;
  }

  bool broken() const { return broken_; }

 private:
  const std::byte* base_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::atomic<std::uint64_t>* shared_read_ = nullptr;
  const std::atomic<std::uint64_t>* shared_written_ = nullptr;
  std::uint64_t read_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t told_ = 0;
  bool broken_ = false;
};

}  // namespace troupe::net::detail
