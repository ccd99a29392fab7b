#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "runtime/operation_record.hpp"

namespace troupe::actors {

/// One record that a single writer replaces while any number of readers copy it: a sequence lock
/// over words, so that neither waits for the other.
class record_cell {
 public:
  record_cell() = default;
  record_cell(const record_cell&) = delete;
  record_cell& operator=(const record_cell&) = delete;

  /// The writer only.
  void write(const operation_record& record);
  void clear();

  /// Nothing if the cell is empty. Nothing as well, and `torn` becomes true, if the writer was at
  /// it in every one of a bounded number of tries.
  std::optional<operation_record> read(bool& torn) const;

 private:
  static_assert(std::is_trivially_copyable_v<operation_record>);
  static_assert(sizeof(operation_record) % sizeof(std::uint64_t) == 0);
  static constexpr std::size_t word_count = sizeof(operation_record) / sizeof(std::uint64_t);

  void begin();
  void end();

  std::atomic<std::uint32_t> version_{0};  ///< odd while the writer is at it
  std::array<std::atomic<std::uint64_t>, word_count> words_{};
};

/// A bounded number of cells that are made when they are first used, a chunk at a time, and then
/// stay where they are.
class record_cells {
 public:
  record_cells(std::size_t count, std::pmr::memory_resource* memory);
  ~record_cells();
  record_cells(const record_cells&) = delete;
  record_cells& operator=(const record_cells&) = delete;

  std::size_t size() const { return count_; }

  /// The writer only. `index < size()`.
  record_cell& at(std::size_t index);

  /// Appends what is there; any thread.
  void read(std::vector<operation_record>& out, bool& torn) const;

 private:
  static constexpr std::size_t chunk_cells = 32;
  using chunk = std::array<record_cell, chunk_cells>;

  std::size_t count_;
  std::pmr::polymorphic_allocator<> memory_;
  std::vector<std::atomic<chunk*>> chunks_;
};

/// The collective trace of one endpoint: a record for every operation that runs, and for the last
/// `past_count` that ended. Always on.
///
/// Bound:  `live_count` + `past_count` records; memory comes in chunks as they are first used, so
///         the steady state allocates nothing.
/// Thread: one writer, the worker; `read` from any thread at any time, it never waits.
class collective_trace {
 public:
  collective_trace(std::size_t live_count, std::size_t past_count,
                   std::pmr::memory_resource* memory)
      : live_(live_count, memory), past_(past_count, memory) {}

  /// Numbers the operations of the endpoint from 1.
  std::uint64_t next_serial() { return ++serial_; }

  /// What the operation of table entry `slot` looks like now.
  void publish(std::uint16_t slot, const operation_record& record) { live_.at(slot).write(record); }

  /// The operation of table entry `slot` ended like this.
  void retire(std::uint16_t slot, const operation_record& record);

  /// Every operation once, by serial. False if some were being written all along and are missing.
  bool read(std::vector<operation_record>& out) const;

 private:
  record_cells live_;
  record_cells past_;
  std::uint64_t serial_ = 0;
  std::size_t next_past_ = 0;
};

}  // namespace troupe::actors
