#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "net/wire/immediate_wire.hpp"
#include "runtime/operation.hpp"
#include "runtime/result.hpp"

namespace troupe::net {

/// Bytes of the header in front of an eager payload; the payload that follows keeps the alignment
/// of a cache line.
inline constexpr std::size_t eager_header_bytes = 64;

/// First bytes of an eager message, in a slot of the receive ring. Layout (little-endian):
///   0 version u8 · 1 reserved[3] · 4 payload bytes u32 · 8 transfer id[20] · 28 signature[16]
///   44 control acknowledgement u32 · 48 data acknowledgement u32 · 52 consumed slots u32
///   56 reserved[8]
struct eager_header {
  transfer_id id;
  operation_signature signature;
  std::uint32_t payload_bytes = 0;
  std::uint32_t control_acknowledged = 0;  ///< as in `control_header`
  sequence data_acknowledged;
  std::uint32_t slots_consumed = 0;

  friend bool operator==(const eager_header&, const eager_header&) = default;
};

void encode(const eager_header& header, std::span<std::byte, eager_header_bytes> out);

/// Errors: malformed, version_mismatch.
result<eager_header> decode_eager_header(std::span<const std::byte> bytes);

}  // namespace troupe::net
