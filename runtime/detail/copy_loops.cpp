#include "runtime/detail/copy_loops.hpp"

#include <cstdint>
#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace troupe::detail::TROUPE_INSTRUCTION_SET {

// No function of the standard library that could be emitted here: compiled for this instruction
// set, it might be the copy that the linker picks for everybody. A test looks at the symbols.
namespace {

constexpr std::size_t line_bytes = 64;

#if defined(__AVX512F__)
using vector = __m512i;
vector load(const std::byte* from) {
  return _mm512_loadu_si512(from);
}
void store(std::byte* to, vector value) {
  _mm512_storeu_si512(to, value);
}
void stream(std::byte* to, vector value) {
  _mm512_stream_si512(reinterpret_cast<vector*>(to), value);
}
#elif defined(__AVX2__)
using vector = __m256i;
vector load(const std::byte* from) {
  return _mm256_loadu_si256(reinterpret_cast<const vector*>(from));
}
void store(std::byte* to, vector value) {
  _mm256_storeu_si256(reinterpret_cast<vector*>(to), value);
}
void stream(std::byte* to, vector value) {
  _mm256_stream_si256(reinterpret_cast<vector*>(to), value);
}
#elif defined(__SSE2__)
using vector = __m128i;
vector load(const std::byte* from) {
  return _mm_loadu_si128(reinterpret_cast<const vector*>(from));
}
void store(std::byte* to, vector value) {
  _mm_storeu_si128(reinterpret_cast<vector*>(to), value);
}
void stream(std::byte* to, vector value) {
  _mm_stream_si128(reinterpret_cast<vector*>(to), value);
}
#else
struct vector {
  std::uint64_t words[2];
};
vector load(const std::byte* from) {
  vector value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}
void store(std::byte* to, vector value) {
  __builtin_memcpy(to, &value, sizeof value);
}
/// No such store here: the caches it is.
void stream(std::byte* to, vector value) {
  store(to, value);
}
#endif

constexpr std::size_t line_vectors = line_bytes / sizeof(vector);

/// One line, all of it loaded before any of it is stored.
template <bool Streaming>
void copy_line(std::byte* to, const std::byte* from) {
  vector values[line_vectors];
#pragma GCC unroll 4
  for (std::size_t i = 0; i < line_vectors; ++i)
    values[i] = load(from + i * sizeof(vector));
#pragma GCC unroll 4
  for (std::size_t i = 0; i < line_vectors; ++i) {
    if constexpr (Streaming)
      stream(to + i * sizeof(vector), values[i]);
    else
      store(to + i * sizeof(vector), values[i]);
  }
}

/// Whole lines of the target, between a first and a last line that overlap them.
template <bool Streaming>
void copy(std::byte* target, const std::byte* source, std::size_t bytes) {
  if (bytes < 4 * line_bytes) {
    __builtin_memcpy(target, source, bytes);
    return;
  }
  const std::size_t past = reinterpret_cast<std::uintptr_t>(target) % line_bytes;
  std::size_t done = past == 0 ? 0 : line_bytes - past;
  if (done != 0) copy_line<false>(target, source);
  for (; done + 4 * line_bytes <= bytes; done += 4 * line_bytes) {
    copy_line<Streaming>(target + done, source + done);
    copy_line<Streaming>(target + done + line_bytes, source + done + line_bytes);
    copy_line<Streaming>(target + done + 2 * line_bytes, source + done + 2 * line_bytes);
    copy_line<Streaming>(target + done + 3 * line_bytes, source + done + 3 * line_bytes);
  }
  for (; done + line_bytes <= bytes; done += line_bytes)
    copy_line<Streaming>(target + done, source + done);
  if (done < bytes) copy_line<false>(target + bytes - line_bytes, source + bytes - line_bytes);
}

}  // namespace

void copy_cached(std::byte* target, const std::byte* source, std::size_t bytes) {
  copy<false>(target, source, bytes);
}

void copy_streaming(std::byte* target, const std::byte* source, std::size_t bytes) {
  copy<true>(target, source, bytes);
}

}  // namespace troupe::detail::TROUPE_INSTRUCTION_SET
