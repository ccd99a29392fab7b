#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/buffer_view.hpp"
#include "runtime/result.hpp"

namespace troupe::net {

// The frames of a tcp lane (docs/protocols/lane.md). All numbers are little-endian.

inline constexpr std::uint8_t tcp_frame_version = 1;
inline constexpr std::size_t tcp_message_header_bytes = 16;
inline constexpr std::size_t tcp_write_header_bytes = 32;

/// Longest write a frame may announce. Chosen: far above any buffer, far below where offset plus
/// length could wrap.
inline constexpr std::uint64_t tcp_write_bytes_max = 1ull << 48;

/// What a frame header says.
struct tcp_frame {
  enum class kind : std::uint8_t { message = 1, write = 2 };
  kind what = kind::message;
  std::uint32_t immediate = 0;  ///< writes only
  std::uint64_t bytes = 0;      ///< of payload behind the header
  remote_region target;         ///< writes only

  friend bool operator==(const tcp_frame&, const tcp_frame&) = default;
};

constexpr std::size_t header_bytes(tcp_frame::kind what) {
  return what == tcp_frame::kind::message ? tcp_message_header_bytes : tcp_write_header_bytes;
}

/// Writes the header of `frame` to the front of `out` and returns its length.
std::size_t encode(const tcp_frame& frame, std::span<std::byte, tcp_write_header_bytes> out);

/// How many bytes the header at the front of `bytes` has; `tcp_message_header_bytes` while too few
/// are there to know.
std::size_t header_bytes_of(std::span<const std::byte> bytes);

/// Reads a header of which all `header_bytes_of` bytes are there.
/// Errors: malformed if kind, version, reserved bits or length are not what the format allows.
result<tcp_frame> decode(std::span<const std::byte> bytes);

}  // namespace troupe::net
