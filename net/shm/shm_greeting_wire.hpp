#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "net/shm/shm_segment_layout.hpp"
#include "runtime/result.hpp"

namespace troupe::net {

// What two ends say on the unix-domain socket before a lane stands (docs/protocols/shm.md).

inline constexpr std::uint32_t shm_greeting_magic = 0x4d48'5354;  ///< "TSHM"
inline constexpr std::uint8_t shm_greeting_version = 1;
inline constexpr std::size_t shm_greeting_bytes = 48;

/// One packet of the greeting: hello (dialler), answer (acceptor), segment (dialler, with the
/// memory's descriptor).
struct shm_greeting {
  enum class kind : std::uint8_t { hello = 1, answer = 2, segment = 3 };
  kind what = kind::hello;
  bool may_pull = false;            ///< answer: the acceptor read the dialler's probe
  std::uint64_t probe_address = 0;  ///< hello, answer: in the sender's memory stands
  std::uint64_t probe_value = 0;    ///< this number
  shm_geometry sizes;               ///< segment

  friend bool operator==(const shm_greeting&, const shm_greeting&) = default;
};

std::array<std::byte, shm_greeting_bytes> encode(const shm_greeting& greeting);

/// Errors: malformed; version_mismatch with the other side's version in `native`.
result<shm_greeting> decode_shm_greeting(std::span<const std::byte> bytes);

}  // namespace troupe::net
