#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "net/emulation/detail/segment_layout.hpp"
#include "runtime/descriptor.hpp"

namespace troupe::net::emulation {

/// A mapped segment, our own or a peer's. It has no name and ends with the last process that maps
/// it.
class segment {
 public:
  segment() = default;
  ~segment() { reset(); }
  segment(segment&& other) noexcept;
  segment& operator=(segment&& other) noexcept;

  /// A new one, all zero but its magic, version and address; not valid() if there is no memory
  /// (errno).
  static segment make();
  /// That of a peer; not valid() if it is none or cannot be mapped.
  static segment of_peer(descriptor file);

  bool valid() const { return base_ != nullptr; }
  int file() const { return file_.number(); }
  segment_header& header() const { return *reinterpret_cast<segment_header*>(base_); }
  qp_slot& slot(std::uint32_t index) const {
    return reinterpret_cast<qp_slot*>(base_ + slots_offset)[index];
  }
  /// Entry `index`, counted without end, of the send queue of a slot; null if the slot's numbers
  /// make no sense.
  send_entry* entry(const qp_slot& of, std::uint64_t index) const;

  /// Says that `slot` has news; whether its owner wants to be woken.
  bool ring(std::uint32_t slot) const;

  /// Gives the pages of a range back to the system; they read as zero.
  void drop(std::uint64_t offset, std::uint64_t bytes) const;

 private:
  void reset();
  bool map(descriptor file);

  descriptor file_;
  std::byte* base_ = nullptr;
};

/// Which parts of a segment are free for send queues.
class ring_space {
 public:
  ring_space() : free_{{rings_offset, segment_bytes - rings_offset}} {}

  /// An offset of `bytes` in whole pages, or nothing.
  std::optional<std::uint64_t> take(std::uint64_t bytes);
  void give_back(std::uint64_t offset, std::uint64_t bytes);

 private:
  std::map<std::uint64_t, std::uint64_t> free_;  ///< bytes by offset, never adjacent
};

}  // namespace troupe::net::emulation
