#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "net/emulation/detail/segment_layout.hpp"

namespace troupe::net::emulation {

/// A piece of our own memory.
struct local_piece {
  std::byte* begin = nullptr;
  std::uint64_t bytes = 0;
};

enum class move_result : std::uint8_t {
  moved,
  bad_memory,    ///< one side's memory is not there any more
  process_gone,  ///< the other process ended
};

/// Which way, seen from us.
enum class direction : std::uint8_t { to_us, to_peer };

/// Copies `bytes` between the pieces of another process (0: of this one) and ours, from byte
/// `offset` of both. Both hold at least so many.
move_result move_bytes(::pid_t process, std::span<const source_piece> theirs,
                       std::span<const local_piece> ours, std::uint64_t offset, std::uint64_t bytes,
                       direction way);

}  // namespace troupe::net::emulation
