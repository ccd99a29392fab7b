#pragma once

#include <cstdint>

#include "config/collective_options.hpp"

namespace troupe::config {

/// Bytes of staging memory that the hungriest operation takes under these options: its chunks,
/// rounded up to a power of two as the pool does. A ring reduce_scatter of premultiplied_sum keeps
/// 2 W + max(1, W / 2) chunks, W being pipeline_chunk_count; algorithms that look further ahead
/// where chunks are small keep 32 chunks of at most 64 KiB (docs/algorithms.md).
std::uint64_t staging_bytes_max(const collective_options& options);

}  // namespace troupe::config
