#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "actors/worker/worker_counters.hpp"
#include "runtime/instant.hpp"
#include "runtime/operation.hpp"

namespace troupe::actors {

/// A histogram whose bounds are powers of four, from 1 us up: 14 bounds reach 67 s. Chosen: an
/// operation of 3 us and one of 30 s need 4 buckets between them to be told apart, not 40.
struct duration_histogram {
  static constexpr std::size_t bound_count = 14;

  /// Counts by bucket, not cumulated; the last is what lies above every bound.
  std::array<single_writer_counter, bound_count + 1> counts;
  single_writer_counter sum_ns;

  static constexpr double bound_seconds(std::size_t bucket) {
    return 1e-6 * static_cast<double>(1ull << (2 * bucket));
  }

  static constexpr std::size_t bucket_of(duration spent) {
    const auto us = static_cast<std::uint64_t>(spent.count() > 0 ? spent.count() - 1 : 0) / 1000;
    const auto bucket = (static_cast<std::size_t>(std::bit_width(us)) + 1) / 2;
    return bucket < bound_count ? bucket : bound_count;
  }

  void add(duration spent) {
    counts[bucket_of(spent)].add(1);
    sum_ns.add(static_cast<std::uint64_t>(spent.count() > 0 ? spent.count() : 0));
  }
};

/// Sizes of operations, as metrics tell them apart: one class for 16 times as much.
enum class size_class : std::uint8_t { none, b256, kib4, kib64, mib1, mib16, mib256, larger };

constexpr size_class class_of(std::uint64_t bytes) {
  if (bytes == 0) return size_class::none;
  auto limit = std::uint64_t{256};
  for (auto c = 1; c < 7; ++c, limit *= 16)
    if (bytes <= limit) return static_cast<size_class>(c);
  return size_class::larger;
}

constexpr const char* to_string(size_class c) {
  constexpr std::array names{"0",       "le_256B",  "le_4KiB",   "le_64KiB",
                             "le_1MiB", "le_16MiB", "le_256MiB", "gt_256MiB"};
  return names[static_cast<std::size_t>(c)];
}

/// What operations alike in kind, algorithm, lanes and size came to.
struct operation_cell {
  struct key {
    operation_kind kind = operation_kind::barrier;
    troupe::algorithm algorithm = troupe::algorithm::none;
    lane_kind lanes = lane_kind::none;
    size_class size = size_class::none;

    friend constexpr bool operator==(const key&, const key&) = default;
  };

  key what;  ///< written before the cell counts as taken
  single_writer_counter finished;
  single_writer_counter failed;
  single_writer_counter bytes;      ///< of the larger buffer, of those that ended well
  single_writer_counter bus_bytes;  ///< what the algorithm-independent formula moves for them
  duration_histogram seconds;       ///< from its start to its end, of those that ended well
};

/// Cells are taken as combinations come up; the first `cell_count` have one of their own, the rest
/// share one: the number of series is bounded whatever a trainer calls.
///
/// Thread: the worker counts, any thread reads.
class operation_cells {
 public:
  static constexpr std::size_t cell_count = 64;

  operation_cell& of(const operation_cell::key& what);

  std::size_t size() const { return taken_.load(std::memory_order_acquire); }
  const operation_cell& operator[](std::size_t i) const { return cells_[i]; }

  /// Of combinations that came after the cells were taken.
  const operation_cell& others() const { return cells_[cell_count]; }

 private:
  std::array<operation_cell, cell_count + 1> cells_;
  std::atomic<std::size_t> taken_{0};
  std::size_t last_ = 0;  ///< where the last one was: a trainer repeats itself
};

/// Bytes that one rank's link carries for an operation at least, whatever the algorithm: what bus
/// bandwidth is computed from.
/// Source: nccl-tests, doc/PERFORMANCE.md.
constexpr std::uint64_t bus_bytes(operation_kind kind, std::uint64_t bytes, std::uint32_t ranks) {
  if (ranks < 2) return 0;
  const auto others = bytes / ranks * (ranks - 1);
  switch (kind) {
    case operation_kind::all_reduce: return 2 * others;
    case operation_kind::all_gather:
    case operation_kind::reduce_scatter:
    case operation_kind::gather:
    case operation_kind::scatter:
    case operation_kind::all_to_all:
    case operation_kind::all_to_all_v: return others;
    default: return bytes;
  }
}

inline operation_cell& operation_cells::of(const operation_cell::key& what) {
  const auto taken = taken_.load(std::memory_order_relaxed);
  if (last_ < taken && cells_[last_].what == what) return cells_[last_];
  for (last_ = 0; last_ < taken; ++last_)
    if (cells_[last_].what == what) return cells_[last_];
  if (taken == cell_count) return cells_[cell_count];
  cells_[taken].what = what;
  taken_.store(taken + 1, std::memory_order_release);
  return cells_[taken];
}

}  // namespace troupe::actors
