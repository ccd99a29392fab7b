#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace troupe::net::emulation {

// What the NICs of one host see of each other: a segment of shared memory for each open device
// (docs/emulation.md). A NIC reads the send queues of its peers, moves the bytes itself and writes
// the outcome beside the request; all a peer writes here are outcomes, doorbells and `busy`.

inline constexpr std::uint32_t segment_magic = 0x4d45'5254;  ///< "TREM"
inline constexpr std::uint32_t segment_version = 1;

/// A queue pair's number: which open device, which slot of it. Both parts together have the 24 bits
/// that verbs have.
inline constexpr std::uint32_t slot_bits = 12;
inline constexpr std::uint32_t slot_count = 1u << slot_bits;
inline constexpr std::uint32_t context_id_max = (1u << (24 - slot_bits)) - 1;

constexpr std::uint32_t qp_number(std::uint32_t context_id, std::uint32_t slot) {
  return context_id << slot_bits | slot;
}
constexpr std::uint32_t context_of(std::uint32_t qp_number) {
  return qp_number >> slot_bits;
}
constexpr std::uint32_t slot_of(std::uint32_t qp_number) {
  return qp_number & (slot_count - 1);
}

/// Bytes between words of different writers: two cache lines, as processors fetch them in pairs.
inline constexpr std::size_t line_bytes = 128;

/// Bytes of a segment, most of them never touched: send queues are cut from it.
inline constexpr std::uint64_t segment_bytes = 1ull << 30;

/// A piece of memory in the address space of the process that posted the request.
struct source_piece {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

/// What a NIC does with a request.
enum class request : std::uint8_t {
  send = 1,
  write,
  read,
  fetch_and_add,
  compare_and_swap,
  blocked,  ///< fails at its sender: nothing is sent of it, nor of what follows
};

/// One request of a send queue; pieces, or the bytes themselves, follow.
struct send_entry {
  // By the sender, before it counts the entry as posted.
  request what = request::blocked;
  bool has_immediate = false;
  bool is_solicited = false;
  bool is_inline = false;  ///< the bytes follow, not the pieces
  std::uint32_t immediate = 0;
  std::uint32_t remote_key = 0;
  std::uint32_t piece_count = 0;
  std::uint64_t remote_address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t compare_or_add = 0;
  std::uint64_t swap = 0;
  // By the sender: the transmission under way. `attempt` is written last.
  std::atomic<std::uint64_t> arrives_at;
  std::atomic<std::uint32_t> attempt;
  // By the receiver: how an attempt ended. `outcome` is written last.
  std::atomic<std::uint32_t> outcome;
  std::atomic<std::uint64_t> answered_at;
};

/// How an attempt ended: its number, and `arrived`, `not_ready` or a work completion status.
inline constexpr std::uint32_t arrived = 1;
inline constexpr std::uint32_t not_ready = 2;
inline constexpr std::uint32_t failed_with = 16;  ///< plus the status
constexpr std::uint32_t outcome_word(std::uint32_t attempt, std::uint32_t code) {
  return attempt << 8 | code;
}
constexpr std::uint32_t attempt_of(std::uint32_t outcome) {
  return outcome >> 8;
}
constexpr std::uint32_t code_of(std::uint32_t outcome) {
  return outcome & 0xff;
}

/// What peers know of a queue pair.
struct qp_slot {
  // By the owner.
  alignas(line_bytes) std::atomic<std::uint64_t> life;  ///< generation << 8 | state
  std::atomic<std::uint32_t> destination;               ///< number of the peer's queue pair
  std::atomic<std::uint32_t> send_psn;                  ///< sequence number of entry 0
  std::atomic<std::uint32_t> receive_psn;               ///< of the first request it takes
  std::atomic<std::uint32_t> path_mtu_bytes;
  std::atomic<std::uint32_t> not_ready_timer;  ///< code of what a peer waits for a receive
  std::atomic<std::uint32_t> destination_lid;
  std::array<std::atomic<std::uint64_t>, 2> destination_gid;
  std::atomic<std::uint64_t> bound;  ///< generation of the peer it takes requests of; 0: none yet
  std::atomic<std::uint64_t> ring_offset;
  std::atomic<std::uint32_t> ring_entries;
  std::atomic<std::uint32_t> entry_bytes;
  alignas(line_bytes) std::atomic<std::uint64_t> posted;  ///< entries, since the generation began
  std::atomic<std::uint64_t> retired;                     ///< of them, those that have ended
  // By the peer that reads the queue: its number while it moves bytes of this process.
  alignas(line_bytes) std::atomic<std::uint32_t> busy;
};

constexpr std::uint64_t life_word(std::uint64_t generation, unsigned state) {
  return generation << 8 | state;
}

inline constexpr std::size_t gid_count = 2;

/// Distances of net/emulation/network_model.hpp.
inline constexpr std::size_t wire_count = 6;

/// The front of a segment.
struct segment_header {
  std::uint32_t magic = 0;
  std::uint32_t version = 0;
  std::uint64_t own_address = 0;  ///< where its owner maps it
  std::atomic<std::uint32_t> port_is_up;
  std::atomic<std::uint32_t> lid;
  std::array<std::array<std::atomic<std::uint64_t>, 2>, gid_count> gids;
  // By everybody: until when its port takes in what was sent, by the sender's distance.
  alignas(line_bytes) std::array<std::atomic<std::uint64_t>, wire_count> wire_free_at;
  // By everybody: slots that have news.
  alignas(line_bytes) std::atomic<std::uint64_t> rung_words;
  std::array<std::atomic<std::uint64_t>, slot_count / 64> rung_slots;
  alignas(line_bytes) std::atomic<std::uint32_t> is_asleep;  ///< wants to be woken by a doorbell
};

inline constexpr std::uint64_t slots_offset = 4096;
inline constexpr std::uint64_t rings_offset = slots_offset + slot_count * sizeof(qp_slot);
static_assert(sizeof(segment_header) <= slots_offset);
static_assert(rings_offset % 64 == 0);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace troupe::net::emulation
