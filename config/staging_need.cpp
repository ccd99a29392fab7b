#include "config/staging_need.hpp"

#include <algorithm>
#include <bit>

namespace troupe::config {

namespace {

// Numbers of the machines in collectives/, which this directory may not see; a test of theirs
// compares this function with what plans ask for.
constexpr std::uint64_t small_chunk_bytes = 64 * 1024;
constexpr std::uint64_t small_chunk_count = 32;

}  // namespace

std::uint64_t staging_bytes_max(const collective_options& options) {
  const std::uint64_t in_flight = options.pipeline_chunk_count;
  const std::uint64_t held = 2 * in_flight + std::max<std::uint64_t>(1, in_flight / 2);
  const std::uint64_t large = held * options.chunk_bytes;
  const std::uint64_t small = small_chunk_count * std::min(options.chunk_bytes, small_chunk_bytes);
  return std::bit_ceil(std::max(large, small));
}

}  // namespace troupe::config
