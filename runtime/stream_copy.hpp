#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/instruction_set.hpp"

namespace troupe {

/// Whether what a loop writes stays in the caches. Past them (non-temporal stores) a line is not
/// read before it is overwritten, which saves a third of the traffic; but who reads it next waits
/// for memory.
enum class store_path : std::uint8_t {
  by_size,    ///< streaming from `streaming_bytes` on
  cached,     ///< somebody reads it soon
  streaming,  ///< nobody does before it would have left the caches
};

/// From here on the size alone decides for streaming. Measured (docs/performance.md): below 1 MiB
/// streaming halves the speed, from 4 MiB on it is a draw or wins. A processor with
/// 32 MiB of fast last-level cache draws at 8 MiB, when both buffers fill half of it. A caller that
/// works through a large buffer in pieces knows better than the size of a piece: it names the path.
inline constexpr std::uint64_t streaming_bytes = 8 * 1024 * 1024;

/// Never by_size.
constexpr store_path store_path_for(store_path asked, std::uint64_t bytes) {
  if (asked != store_path::by_size) return asked;
  return bytes < streaming_bytes ? store_path::cached : store_path::streaming;
}

/// How a loop goes about its work; the outcome is the same. The instruction set must be one that
/// `has_instruction_set`.
struct loop_choice {
  store_path path = store_path::by_size;
  instruction_set instructions = best_instruction_set();
};

/// target[i] = source[i] for i in [0, bytes). Any alignment; `target` may be `source`, partial
/// overlap is not allowed. Own loops, because `memcpy` of glibc 2.36 falls to 3.5 GB/s on some
/// processors where (target - source) mod 4096 is small and the size between 2 KiB and its own
/// threshold for streaming.
/// Cost: one pass. Thread: any; what was written is visible to whoever synchronises with the
/// caller, streamed or not.
void copy_memory(void* target, const void* source, std::size_t bytes,
                 const loop_choice& choice = {});

/// copy_memory past the caches without the closing fence: for loops of many pieces, which then call
/// `finish_streaming` once, before anybody else may look.
void stream_piece(void* target, const void* source, std::size_t bytes,
                  instruction_set instructions);
void finish_streaming();

}  // namespace troupe
