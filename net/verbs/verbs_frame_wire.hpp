#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/result.hpp"

namespace troupe::net {

// What two ends of a queue pair send each other (docs/protocols/verbs.md). Writes are not among it:
// they are RDMA writes, and their 32 immediate bits belong to the link.

inline constexpr std::uint8_t verbs_frame_version = 1;
inline constexpr std::size_t verbs_message_header_bytes = 8;
inline constexpr std::size_t verbs_frame_header_bytes_max = 40;

/// Memory of a peer as its device knows it.
struct verbs_remote_memory {
  std::uint64_t address = 0;  ///< of the first byte that the key exposes
  std::uint64_t bytes = 0;    ///< how many it exposes
  std::uint32_t remote_key = 0;

  friend bool operator==(const verbs_remote_memory&, const verbs_remote_memory&) = default;
};

/// The head of one send. `message` is followed by the bytes of the message, the others by nothing.
struct verbs_frame {
  enum class kind : std::uint8_t {
    message = 1,
    ask = 2,      ///< what memory does `key` expose?
    answer = 3,   ///< this; or, if `alive` is false, none
    refused = 4,  ///< a write of `bytes` with `immediate` named dead memory: nothing was written
    landed = 5,   ///< the plain writes before this were one of `bytes` with `immediate`
    credit = 6,   ///< nothing but `credits`
  };
  kind what = kind::message;
  std::uint32_t credits = 0;  ///< receives that the sender posted again since it said so last
  std::uint32_t immediate = 0;
  std::uint64_t bytes = 0;
  std::uint64_t key = 0;
  bool alive = false;
  verbs_remote_memory memory{};

  friend bool operator==(const verbs_frame&, const verbs_frame&) = default;
};

std::size_t header_bytes(verbs_frame::kind what);

/// Writes the header; returns its length.
std::size_t encode(const verbs_frame& frame, std::span<std::byte> out);

/// `bytes`: the whole send. Errors: malformed; version_mismatch with the version in `native`.
result<verbs_frame> decode_verbs_frame(std::span<const std::byte> bytes);

}  // namespace troupe::net
