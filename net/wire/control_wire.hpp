#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "net/wire/immediate_wire.hpp"
#include "runtime/inline_list.hpp"
#include "runtime/operation.hpp"
#include "runtime/result.hpp"

namespace troupe::net {

inline constexpr std::uint8_t link_wire_version = 1;

/// Longest control message. Chosen: the largest body (192 bytes of notice, or a fence page of
/// 1,664 writes) fits, and a resend ring of 32 frames stays under 8 KiB.
inline constexpr std::size_t control_bytes_max = 256;
inline constexpr std::size_t control_header_bytes = 20;
inline constexpr std::size_t control_body_bytes_max = control_bytes_max - control_header_bytes;
inline constexpr std::size_t notice_bytes_max = 192;
inline constexpr std::size_t fence_page_bytes_max = 208;

/// Lanes of one link, control lane included. Chosen: 16 data lanes are what NCCLX uses at most, and
/// a `lane_reset` that names all lanes fits in one message.
inline constexpr std::size_t lane_count_max = 17;

/// Wire values: stable.
enum class control_kind : std::uint8_t {
  hello = 1,
  lane_reset = 2,
  acknowledge = 3,
  ready = 4,
  request = 5,
  begin = 6,
  grant = 7,
  decline = 8,
  refuse = 9,
  cancel = 10,
  lane_fenced = 11,
  notice = 12,
  probe = 13,
};

/// In front of every control message: what we say, and what we have heard. Layout (little-endian):
///   0 version u8 · 1 kind u8 · 2 reserved u16 · 4 number u32 · 8 control acknowledgement u32
///   12 data acknowledgement u32 · 16 consumed slots u32
/// `hello` and `lane_reset` speak about lanes, not in the stream: their number means nothing.
struct control_header {
  std::uint32_t number = 0;                ///< place in the control stream, modulo 2^32
  std::uint32_t control_acknowledged = 0;  ///< next number expected from the receiver
  sequence data_acknowledged;              ///< next write expected from the receiver
  std::uint32_t slots_consumed = 0;        ///< eager slots given back since the link began

  friend constexpr bool operator==(const control_header&, const control_header&) = default;
};

/// First message of every lane: which life of the lane this is for the sender, and everything the
/// peer must know before it may write on it.
struct hello_body {
  std::uint8_t lane = 0;
  std::uint32_t generation = 0;  ///< the sender's count of openings of this lane, from 1
  std::uint64_t eager_key = 0;
  std::uint32_t eager_slot_count = 0;
  std::uint64_t eager_bytes_max = 0;
  std::uint64_t segment_bytes = 0;
  std::uint32_t window_segment_count = 0;
  std::uint32_t transfer_count_max = 0;
  std::uint32_t data_lane_count = 0;
  sequence first_sequence{};

  friend constexpr bool operator==(const hello_body&, const hello_body&) = default;
};

/// A life of a lane as both sides count it. `receiver_generation` is 0 if the sender never heard
/// the receiver's hello on it.
struct lane_life {
  std::uint8_t lane = 0;
  std::uint32_t sender_generation = 0;
  std::uint32_t receiver_generation = 0;

  friend constexpr bool operator==(const lane_life&, const lane_life&) = default;
};

/// These lives ended at the sender: the receiver closes its ends.
struct lane_reset_body {
  inline_list<lane_life, lane_count_max> lives;
};

struct acknowledge_body {};

/// The target of this transfer is exposed under `key`.
struct ready_body {
  transfer_id id;
  operation_signature signature;
  std::uint64_t bytes = 0;
  std::uint64_t key = 0;
};

/// A put waits for its accept: it found no eager slot, or no `ready` came.
struct request_body {
  transfer_id id;
  operation_signature signature;
  std::uint64_t bytes = 0;
};

/// Writes on `channel` belong to this transfer of `bytes`, up to the next notification on it.
struct begin_body {
  std::uint8_t channel = 0;
  transfer_id id;
  std::uint64_t bytes = 0;
};

/// Answer to `request`: the accept is there, send the bytes in eager slot `slot`.
struct grant_body {
  std::uint8_t slot = 0;
  transfer_id id;
};

/// Answer to `grant`: the put is gone, `slot` stays empty.
struct decline_body {
  std::uint8_t slot = 0;
};

enum class transfer_side : std::uint8_t { put = 0, accept = 1 };

/// The sender, which is on side `side` of this transfer, has another signature or size for it.
struct refuse_body {
  transfer_id id;
  transfer_side side = transfer_side::put;
  operation_signature signature;
};

/// The operation ended early at the sender: nothing of it will be put or accepted any more.
struct cancel_body {
  communicator_id communicator;
  troupe::epoch epoch;
  operation_number operation;
};

/// This life of the lane is closed at the sender. Of the receiver's writes, all before `from`
/// arrived, and of the `count` from there those whose bit is set (bit i of byte i / 8); `last`:
/// none behind them.
struct lane_fenced_body {
  lane_life life;
  sequence from;
  std::uint16_t count = 0;
  bool last = false;
  std::span<const std::byte> arrived{};
};

struct notice_body {
  std::span<const std::byte> bytes{};
};

/// Asks for an acknowledgement: writes are under way and nothing is heard of them.
struct probe_body {};

using control_body = std::variant<hello_body, lane_reset_body, acknowledge_body, ready_body,
                                  request_body, begin_body, grant_body, decline_body, refuse_body,
                                  cancel_body, lane_fenced_body, notice_body, probe_body>;

struct control_message {
  control_header header;
  control_body body;  ///< spans inside refer to the decoded bytes
};

control_kind kind_of(const control_body& body);

/// True for the kinds that have a place in the control stream.
constexpr bool in_stream(control_kind kind) {
  return kind != control_kind::hello && kind != control_kind::lane_reset;
}

/// Writes the body and returns its length.
std::size_t encode(const control_body& body, std::span<std::byte, control_body_bytes_max> out);

void encode(control_kind kind, const control_header& header,
            std::span<std::byte, control_header_bytes> out);

/// Errors: version_mismatch, malformed (unknown kind, wrong length, value out of range).
result<control_message> decode_control(std::span<const std::byte> bytes);

}  // namespace troupe::net
