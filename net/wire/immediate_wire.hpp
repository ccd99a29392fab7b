#pragma once

#include <cstdint>

namespace troupe::net {

/// Number of a write in one direction of a link, modulo 2^24. Only distances mean anything.
struct sequence {
  std::uint32_t value = 0;  ///< < 2^24

  friend constexpr bool operator==(const sequence&, const sequence&) = default;
};

inline constexpr std::uint32_t sequence_mask = 0x00ff'ffffu;

/// Largest window: with 2^22 a number is never further than a quarter of the space from the base,
/// so that old, current and impossible numbers stay apart.
inline constexpr std::uint32_t sequence_window_max = 1u << 22;

constexpr sequence advance(sequence s, std::uint32_t count) {
  return {(s.value + count) & sequence_mask};
}

/// Steps forward from `from` to `to`, 0 to 2^24 - 1.
constexpr std::uint32_t distance(sequence from, sequence to) {
  return (to.value - from.value) & sequence_mask;
}

/// What a write tells with its 32 bits of immediate data:
/// bit 31 notify, bit 30 fast path, bits 24-29 channel, bits 0-23 sequence.
struct immediate {
  bool notify = false;       ///< last write of its transfer
  bool fast = false;         ///< an eager message in slot `channel` of the receive ring
  std::uint8_t channel = 0;  ///< 0-63: which transfer, or which eager slot
  sequence number;

  friend constexpr bool operator==(const immediate&, const immediate&) = default;
};

inline constexpr std::uint32_t channel_count = 64;

constexpr std::uint32_t encode(const immediate& i) {
  return (i.notify ? 1u << 31 : 0u) | (i.fast ? 1u << 30 : 0u) |
         (static_cast<std::uint32_t>(i.channel) & 0x3fu) << 24 | (i.number.value & sequence_mask);
}

/// Every 32-bit value is an immediate.
constexpr immediate decode_immediate(std::uint32_t bits) {
  return {(bits >> 31 & 1u) != 0,
          (bits >> 30 & 1u) != 0,
          static_cast<std::uint8_t>(bits >> 24 & 0x3fu),
          {bits & sequence_mask}};
}

}  // namespace troupe::net
