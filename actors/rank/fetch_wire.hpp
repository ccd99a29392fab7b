#pragma once

#include <cstdint>
#include <span>

#include "actors/rank/failure_notice_wire.hpp"
#include "runtime/operation.hpp"
#include "runtime/result.hpp"

namespace troupe::actors {

/// "Put these bytes of your window into my accept of this id": how a get asks for them.
struct fetch {
  communicator_id communicator;
  troupe::epoch epoch;
  operation_number operation;
  std::uint32_t window = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

inline constexpr std::size_t fetch_bytes = 40;

/// Layout (little-endian): u8 version = 1, u8 kind = 4, u16 zero, u32 communicator, u32 epoch, u32
/// window, u64 operation, u64 offset, u64 bytes. Travels as a notice does.
notice_frame encode(const fetch& f);

/// Whether the bytes of a notice claim to be a fetch.
bool is_fetch(std::span<const std::byte> bytes);

/// Errors: malformed (wrong length or kind, an operation that is no get), version_mismatch.
result<fetch> decode_fetch(std::span<const std::byte> bytes);

}  // namespace troupe::actors
