#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "net/shm/shm_frame_wire.hpp"
#include "runtime/lane.hpp"

namespace troupe::net {

/// Bytes between words of different writers. Two cache lines: processors fetch them in pairs.
inline constexpr std::size_t shm_line_bytes = 128;

/// Why a parked side wants to be woken: bits of `shm_side::parked`.
inline constexpr std::uint32_t shm_wake_for_frames = 1;
inline constexpr std::uint32_t shm_wake_for_progress = 2;  ///< room, or sources that were read

/// What one side of a lane says to the other: each word has one writer, except `parked`, which the
/// other side clears. Everything a side reads here may be a lie: it is checked against what the
/// reader knows itself.
struct shm_side {
  // As the producer of its rings.
  alignas(shm_line_bytes) std::atomic<std::uint64_t> frames_written;  ///< bytes, ever growing
  std::atomic<std::uint64_t> bulk_written;
  // As the consumer of the other side's rings.
  alignas(shm_line_bytes) std::atomic<std::uint64_t> frames_read;
  std::atomic<std::uint64_t> bulk_read;
  std::atomic<std::uint64_t> sources_done;  ///< source writes whose bytes it has, or refused
  // As a sleeper.
  alignas(shm_line_bytes) std::atomic<std::uint32_t> parked;
  // As the owner of sources, and, within one process, as their reader.
  alignas(shm_line_bytes) std::atomic<std::uint32_t> closed;
  std::atomic<std::uint32_t> copying;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

/// The first page of a segment; all zero when it is new. Side 0 dialled.
struct shm_header {
  shm_side sides[2];
};
static_assert(sizeof(shm_header) <= 4096);

/// Sizes of one lane's segment, equal at both ends. Each direction has a ring of frames and, where
/// neither side may read the other's memory, a ring of bulk bytes.
struct shm_geometry {
  std::uint64_t ring_bytes = 0;  ///< a power of two of at least one page
  std::uint64_t bulk_bytes = 0;  ///< the same, or 0: source writes are pulled
  std::uint32_t depth = 0;       ///< writes that one side may have open

  friend bool operator==(const shm_geometry&, const shm_geometry&) = default;
};

inline constexpr std::uint64_t shm_ring_bytes_max = 64ull << 20;
inline constexpr std::uint32_t shm_depth_max = 4096;

/// Room that messages leave for source writes: `depth` of them can always be announced.
constexpr std::uint64_t source_reserve(std::uint32_t depth) {
  return depth * ring_bytes_of(shm_frame::kind::source_write, 0);
}

/// Room that inline writes leave for source writes and for `depth` of the longest messages.
constexpr std::uint64_t inline_reserve(std::uint32_t depth) {
  return 2 * source_reserve(depth) +
         depth * ring_bytes_of(shm_frame::kind::message, lane_message_bytes_max);
}

/// Smallest ring for `depth`: the reserves and a page for inline writes.
constexpr std::uint64_t ring_bytes_min(std::uint32_t depth) {
  return inline_reserve(depth) + 4096;
}

constexpr bool is_valid(const shm_geometry& sizes) {
  const auto is_ring = [](std::uint64_t bytes) {
    return bytes >= 4096 && bytes <= shm_ring_bytes_max && (bytes & (bytes - 1)) == 0;
  };
  return sizes.depth >= 1 && sizes.depth <= shm_depth_max && is_ring(sizes.ring_bytes) &&
         sizes.ring_bytes >= ring_bytes_min(sizes.depth) &&
         (sizes.bulk_bytes == 0 || is_ring(sizes.bulk_bytes));
}

/// Bytes of memory that a lane of these sizes costs, both directions.
constexpr std::uint64_t segment_bytes(const shm_geometry& sizes, std::uint64_t page_bytes) {
  return page_bytes + 2 * (sizes.ring_bytes + sizes.bulk_bytes);
}

}  // namespace troupe::net
