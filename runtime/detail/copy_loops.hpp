#pragma once

#include <cstddef>

/// Copies of one instruction set. Compiled from one source, once for each.
namespace troupe::detail {

namespace baseline {
void copy_cached(std::byte* target, const std::byte* source, std::size_t bytes);
void copy_streaming(std::byte* target, const std::byte* source, std::size_t bytes);
}  // namespace baseline

namespace avx2 {
void copy_cached(std::byte* target, const std::byte* source, std::size_t bytes);
void copy_streaming(std::byte* target, const std::byte* source, std::size_t bytes);
}  // namespace avx2

namespace avx512 {
void copy_cached(std::byte* target, const std::byte* source, std::size_t bytes);
void copy_streaming(std::byte* target, const std::byte* source, std::size_t bytes);
}  // namespace avx512

}  // namespace troupe::detail
