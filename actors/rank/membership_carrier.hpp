#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "actors/rank/failure_notice_wire.hpp"
#include "runtime/result.hpp"

namespace troupe::actors {

// Frames of the view change are longer than what a link carries as one notice, and travel as
// several that follow each other.

/// Longest frame that is carried. Derived: five full lists of 4,096 members and room to spare; a
/// view change that one leader runs is meant for less.
inline constexpr std::size_t carried_frame_bytes_max = 96 * 1024;

/// Header of a part: u8 version = 1, u8 kind = 5, u8 flags (1: first, 2: last), u8 zero.
inline constexpr std::size_t part_header_bytes = 4;

/// The parts of a frame, in order. Nothing if it is longer than `carried_frame_bytes_max`.
std::vector<notice_frame> cut(std::span<const std::byte> frame);

/// Whether the bytes of a notice claim to be part of a frame.
bool is_part(std::span<const std::byte> bytes);

/// Puts the parts that one link delivers together again.
class frame_assembler {
 public:
  /// The whole frame when `part` was its last one, until the next call; nothing before.
  /// Errors: malformed (header, a part without its beginning, a frame that is too long): what was
  /// collected is dropped. version_mismatch.
  result<std::optional<std::span<const std::byte>>> add(std::span<const std::byte> part);

 private:
  std::vector<std::byte> collected_;
  bool begun_ = false;
};

}  // namespace troupe::actors
