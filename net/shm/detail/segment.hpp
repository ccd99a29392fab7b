#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "net/shm/shm_segment_layout.hpp"
#include "runtime/descriptor.hpp"
#include "runtime/result.hpp"

namespace troupe::net::detail {

/// The memory of one lane, mapped. It has no name in any file system: it ends with the last of the
/// two processes, however they end. Rings are mapped twice in a row, so that every frame is
/// contiguous. A forked child does not inherit the mapping.
class segment {
 public:
  /// New memory, all of it allocated.
  /// Errors: resource_exhausted (the text has needed and available bytes), system_failure.
  static outcome<segment> create(const shm_geometry& sizes);

  /// Memory that a peer made.
  /// Errors: malformed if it is not memory of that size that can no longer shrink;
  ///         resource_exhausted, system_failure if it cannot be mapped.
  static result<segment> adopt(descriptor file, const shm_geometry& sizes);

  segment() = default;
  ~segment() { reset(); }
  segment(segment&& other) noexcept { *this = std::move(other); }
  segment& operator=(segment&& other) noexcept;

  const shm_geometry& sizes() const { return sizes_; }
  std::uint64_t bytes() const { return segment_bytes(sizes_, page_bytes_); }
  shm_side& side(int index) { return reinterpret_cast<shm_header*>(base_)->sides[index]; }
  std::byte* ring(int side) {
    return base_ + page_bytes_ + static_cast<std::size_t>(side) * 2 * sizes_.ring_bytes;
  }
  std::byte* bulk(int side) {
    return base_ + page_bytes_ + 4 * sizes_.ring_bytes +
           static_cast<std::size_t>(side) * 2 * sizes_.bulk_bytes;
  }

  /// What the peer gets; closed by `forget_file`, as the mapping does not need it.
  const descriptor& file() const { return file_; }
  void forget_file() { file_.reset(); }

  void reset();

 private:
  result<void> map();

  shm_geometry sizes_;
  descriptor file_;
  std::byte* base_ = nullptr;
  std::uint64_t mapped_bytes_ = 0;
  std::uint64_t page_bytes_ = 0;
};

}  // namespace troupe::net::detail
