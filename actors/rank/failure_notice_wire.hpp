#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/error.hpp"
#include "runtime/result.hpp"
#include "runtime/strong_types.hpp"

namespace troupe::actors {

/// What ranks tell each other over a link beside transfers.
enum class notice_kind : std::uint8_t {
  communicator_failed = 1,  ///< `why`, about `communicator` in `epoch`
  leaving = 2,              ///< the sender's endpoint ends in good order
  leaving_seen = 3,         ///< answer to `leaving`: everything before it was handled
};

struct notice {
  notice_kind kind = notice_kind::leaving;
  communicator_id communicator;
  troupe::epoch epoch;
  failure why;
};

/// Longest encoded notice: fixed part and a text cut to what fits.
inline constexpr std::size_t notice_frame_bytes_max = 192;

struct notice_frame {
  std::array<std::byte, notice_frame_bytes_max> bytes{};
  std::size_t length = 0;

  std::span<const std::byte> view() const { return {bytes.data(), length}; }
};

/// Layout (little-endian): u8 version = 1, u8 kind, u16 code, u32 communicator, u32 epoch, u32
/// peer, u32 native, u8 text length, text. Texts are cut at what fits.
notice_frame encode(const notice& n);

/// Errors: malformed (short, long, unknown kind or code), version_mismatch.
result<notice> decode_notice(std::span<const std::byte> bytes);

}  // namespace troupe::actors
