#pragma once

#include <cstddef>
#include <cstdint>

namespace troupe::kernels {

/// Members of a domain: GPUs of one machine that reach each other's memory.
inline constexpr std::uint32_t domain_ranks_max = 16;

/// Blocks of a kernel that meets its peers block by block.
inline constexpr std::uint32_t meeting_blocks_max = 128;

/// Blocks of a small all-reduce, and 8-byte words that each of them takes at most.
inline constexpr std::uint32_t small_blocks_max = 64;
inline constexpr std::uint32_t small_words_per_block = 512;
inline constexpr std::uint64_t small_bytes_max =
    std::uint64_t{small_blocks_max} * small_words_per_block * 8;

/// Eight bytes of data, each half with a flag: whoever sees the flag of a round has the data of
/// that round, as each half is one access of eight bytes.
struct flagged_word {
  std::uint32_t low = 0;
  std::uint32_t low_flag = 0;
  std::uint32_t high = 0;
  std::uint32_t high_flag = 0;
};
static_assert(sizeof(flagged_word) == 16);

/// Chunks of a share in a pipelined all-reduce at most, and how many a peer may have on their way
/// to a member: the places for them are staging memory of the member.
inline constexpr std::uint32_t pipeline_chunks_max = 128;
inline constexpr std::uint32_t pipeline_depth = 3;

/// What a member keeps in the memory of its GPU for its peers to write to. Zero at first.
///
/// A block counts its own rounds, so that a launch needs nothing from the host and a captured one
/// can be replayed. It writes and reads places of its own alone: rounds of different blocks never
/// meet.
struct domain_board {
  /// Written by peers: the latest round in which `source` came to the meeting of `block`.
  alignas(128) std::uint32_t arrived[meeting_blocks_max][domain_ranks_max];
  /// Of this member: meetings that each block has had.
  alignas(128) std::uint32_t meetings[meeting_blocks_max];
  /// Of this member: small all-reduces that each block has done.
  alignas(128) std::uint32_t small_rounds[small_blocks_max];
  /// Flags of a pipelined all-reduce; who waits for one sets it back to 0. Of each peer and chunk:
  /// written by the peer's copy engine: its contribution is in the staging place;
  alignas(128) std::uint32_t contributed[domain_ranks_max][pipeline_chunks_max];
  /// written by the peer's kernel: the place of the chunk with it is free again;
  alignas(128) std::uint32_t freed[domain_ranks_max][pipeline_chunks_max];
  /// written by this member's kernel, for the copy to each peer: the outcome is there.
  alignas(128) std::uint32_t reduced[domain_ranks_max][pipeline_chunks_max];
  /// Of this member: blocks that are done with a chunk.
  alignas(128) std::uint32_t blocks_done[pipeline_chunks_max];
  /// Followed by flagged_word[2][ranks][small_blocks_max][small_words_per_block]: a place for each
  /// parity of the round, source and block. Two are enough: nobody is more than one round ahead of
  /// a peer whose words it needs. Then places of staging memory, [peer][pipeline_depth].
};

/// Where staging memory begins, in bytes from the start of the board.
constexpr std::uint64_t staging_at(std::uint32_t ranks) {
  return sizeof(domain_board) +
         std::uint64_t{2} * ranks * small_blocks_max * small_words_per_block * sizeof(flagged_word);
}

/// Where the words of one source and block begin, in bytes from the start of the board.
constexpr std::uint64_t flagged_words_at(std::uint32_t ranks, std::uint32_t parity,
                                         std::uint32_t source, std::uint32_t block) {
  const std::uint64_t place = (std::uint64_t{parity} * ranks + source) * small_blocks_max + block;
  return sizeof(domain_board) + place * small_words_per_block * sizeof(flagged_word);
}

/// What all members of a domain share in host memory, whatever process they are of. Kernels and
/// copy engines wait on it, so that a store of any member's CPU can free them all.
struct host_board {
  struct flag {
    alignas(64) std::uint32_t value;
  };
  /// Not 0: every wait of every member ends, and what it waited for is not there.
  flag aborted;
  /// [from][to]: `from` lets `to` write into its memory; `to` takes it back to 0.
  flag ready[domain_ranks_max][domain_ranks_max];
  /// [from][to]: what `from` wrote into the memory of `to` is there; `to` takes it back to 0.
  flag landed[domain_ranks_max][domain_ranks_max];
};

}  // namespace troupe::kernels
