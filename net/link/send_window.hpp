#pragma once

#include <cstdint>
#include <memory_resource>
#include <vector>

#include "net/wire/immediate_wire.hpp"
#include "runtime/assert.hpp"
#include "runtime/instant.hpp"

namespace troupe::net {

inline constexpr std::uint32_t no_index = 0xffff'ffffu;

/// One write from its post until the peer has it and no lane reads its source.
struct segment {
  instant posted_at{};
  std::uint64_t offset = 0;           ///< in the source and in the target of its transfer
  std::uint32_t length = 0;           ///< bytes of payload; of an eager write, header included
  std::uint32_t transfer = no_index;  ///< index in the transfer table; none for an eager write
  std::uint32_t generation = 0;       ///< life of `lane` in which it was posted
  std::uint32_t previous = no_index;  ///< neighbours among the unfinished writes of its lane, or
  std::uint32_t next = no_index;      ///< among those that wait to be posted again; ring indices
  sequence number;
  std::uint8_t lane = 0;
  std::uint8_t slot = 0;  ///< eager slot, or channel
  bool fast = false;
  bool notify = false;
  bool finished = false;      ///< no lane reads the source
  bool reads_source = false;  ///< counted in `transfer::reading` until it is finished
  bool landed = false;        ///< the peer has it, said by a fence; the acknowledgement will follow
  bool repeat = false;        ///< waits to be posted again
  bool charged = false;       ///< counts against the budget
};

/// First and last of a chain through `segment::next`.
struct segment_chain {
  std::uint32_t first = no_index;
  std::uint32_t last = no_index;

  bool empty() const { return first == no_index; }
};

/// The writes of our direction that are not done: numbers `retired` to `next` - 1. A write is
/// acknowledged when the peer has it and all before it; it retires, in order, when besides no lane
/// reads its source.
class send_window {
 public:
  send_window(std::uint32_t capacity, sequence first,
              std::pmr::memory_resource* memory = std::pmr::get_default_resource());

  std::uint32_t capacity() const { return static_cast<std::uint32_t>(ring_.size()); }
  std::uint32_t in_use() const { return distance(retired_, next_); }
  bool idle() const { return retired_ == next_; }

  sequence retired() const { return retired_; }
  sequence acknowledged() const { return acknowledged_; }
  sequence next() const { return next_; }

  /// Takes the next number. The caller checked that in_use() < capacity().
  segment& push();

  bool contains(sequence number) const { return distance(retired_, number) < in_use(); }
  segment& at(sequence number) { return ring_[number.value & mask_]; }
  const segment& at(sequence number) const { return ring_[number.value & mask_]; }
  segment& at_index(std::uint32_t index) { return ring_[index]; }
  const segment& at_index(std::uint32_t index) const { return ring_[index]; }
  std::uint32_t index_of(const segment& s) const { return s.number.value & mask_; }

  /// The peer has everything before `number`. False if that cannot be: it was never sent. Old news
  /// changes nothing.
  bool acknowledge(sequence number);

  /// The oldest write if it can retire; null otherwise. `retire_one` takes it out.
  segment* retirable();
  void retire_one();

  void append(segment_chain& chain, segment& s);
  void unlink(segment_chain& chain, segment& s);

 private:
  std::pmr::vector<segment> ring_;
  std::uint32_t mask_;
  sequence retired_;
  sequence acknowledged_;
  sequence next_;
};

}  // namespace troupe::net
