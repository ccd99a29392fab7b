#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/buffer_view.hpp"
#include "runtime/result.hpp"

namespace troupe::net {

// The frames in a ring of a shm lane (docs/protocols/shm.md). All numbers are little-endian.

inline constexpr std::uint8_t shm_frame_version = 1;
inline constexpr std::size_t shm_message_header_bytes = 16;
inline constexpr std::size_t shm_inline_header_bytes = 32;
inline constexpr std::size_t shm_source_header_bytes = 48;

/// Frames begin at multiples of this.
inline constexpr std::size_t shm_frame_alignment = 16;

/// Longest payload that lies in the ring behind its header. Chosen: the largest eager message.
inline constexpr std::uint64_t shm_inline_bytes_max = 1ull << 20;

/// Longest write a frame may announce. Chosen: far above any buffer, far below where offset plus
/// length could wrap.
inline constexpr std::uint64_t shm_write_bytes_max = 1ull << 48;

/// What a frame header says.
struct shm_frame {
  enum class kind : std::uint8_t {
    message = 1,
    inline_write = 2,  ///< the bytes follow in the ring
    source_write = 3,  ///< the bytes are still in their source
  };
  kind what = kind::message;
  std::uint32_t immediate = 0;  ///< writes only
  std::uint64_t bytes = 0;      ///< of payload
  remote_region target;         ///< writes only
  std::uint64_t source = 0;     ///< source writes only: address in the sender's memory

  friend bool operator==(const shm_frame&, const shm_frame&) = default;
};

constexpr std::size_t header_bytes(shm_frame::kind what) {
  switch (what) {
    case shm_frame::kind::message: return shm_message_header_bytes;
    case shm_frame::kind::inline_write: return shm_inline_header_bytes;
    case shm_frame::kind::source_write: return shm_source_header_bytes;
  }
  return shm_source_header_bytes;
}

/// Bytes of the ring that a frame takes: header, payload unless it stays in its source, padding.
constexpr std::uint64_t ring_bytes_of(shm_frame::kind what, std::uint64_t payload_bytes) {
  const auto in_ring = what == shm_frame::kind::source_write ? 0 : payload_bytes;
  const auto whole = header_bytes(what) + in_ring;
  return (whole + shm_frame_alignment - 1) / shm_frame_alignment * shm_frame_alignment;
}

/// Writes the header of `frame` to the front of `out` and returns its length.
std::size_t encode(const shm_frame& frame, std::span<std::byte, shm_source_header_bytes> out);

/// Reads the header at the front of `bytes`, of which there may be more or fewer than one header.
/// Errors: malformed if kind, version, reserved bits or length are not what the format allows, or
///         the header is cut.
result<shm_frame> decode_shm_frame(std::span<const std::byte> bytes);

}  // namespace troupe::net
