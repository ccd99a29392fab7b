#pragma once

#ifdef __F16C__

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

/// Two vectors of float32 and one of as many 16-bit codes, with the processor's conversions between
/// float32 and float16. Internal linkage for the reason given in loop_bodies.hpp.
namespace troupe::collectives::detail {
namespace {

#if defined(__AVX512F__)

constexpr std::size_t lanes = 32;
using codes = __m512i;
struct floats {
  __m512 low;
  __m512 high;
};

floats load_floats(const float* from) {
  return {_mm512_loadu_ps(from), _mm512_loadu_ps(from + lanes / 2)};
}
void store_floats(float* to, floats values) {
  _mm512_storeu_ps(to, values.low);
  _mm512_storeu_ps(to + lanes / 2, values.high);
}
codes load_16(const std::byte* from) {
  return _mm512_loadu_si512(from);
}
void store_16(std::byte* to, codes values) {
  _mm512_storeu_si512(to, values);
}
/// With their highest bit all over the upper half.
codes load_8(const std::byte* from) {
  return _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}
/// The lower halves.
void store_8(std::byte* to, codes values) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtepi16_epi8(values));
}

floats floats_of_halves(codes halves) {
  return {_mm512_cvtph_ps(_mm512_castsi512_si256(halves)),
          _mm512_cvtph_ps(_mm512_extracti64x4_epi64(halves, 1))};
}
floats scaled(floats values, float factor) {
  const __m512 by = _mm512_set1_ps(factor);
  return {_mm512_mul_ps(values.low, by), _mm512_mul_ps(values.high, by)};
}
__m512 with_canonical_nan(__m512 values) {
  const __mmask16 nan = _mm512_cmp_ps_mask(values, values, _CMP_UNORD_Q);
  return _mm512_mask_mov_ps(values, nan, _mm512_set1_ps(__builtin_nanf("")));
}
floats with_canonical_nan(floats values) {
  return {with_canonical_nan(values.low), with_canonical_nan(values.high)};
}
template <int Rounding>
codes halves_of(floats values) {
  return _mm512_inserti64x4(
      _mm512_castsi256_si512(_mm512_cvtps_ph(values.low, Rounding | _MM_FROUND_NO_EXC)),
      _mm512_cvtps_ph(values.high, Rounding | _MM_FROUND_NO_EXC), 1);
}
/// Truncated, with the last bit set if that was not exact: rounding such a half to a format of
/// fewer bits gives what rounding the float32 would.
codes odd_halves(floats values) {
  const codes halves = halves_of<_MM_FROUND_TO_ZERO>(values);
  const floats back = floats_of_halves(halves);
  const __mmask32 inexact = _mm512_kunpackw(_mm512_cmp_ps_mask(back.high, values.high, _CMP_NEQ_UQ),
                                            _mm512_cmp_ps_mask(back.low, values.low, _CMP_NEQ_UQ));
  return _mm512_or_si512(halves, _mm512_maskz_set1_epi16(inexact, 1));
}

codes same(int value) {
  return _mm512_set1_epi16(static_cast<short>(value));
}
codes both(codes l, codes r) {
  return _mm512_and_si512(l, r);
}
codes either(codes l, codes r) {
  return _mm512_or_si512(l, r);
}
codes sum(codes l, codes r) {
  return _mm512_add_epi16(l, r);
}
template <int Bits>
codes up(codes values) {
  return _mm512_slli_epi16(values, Bits);
}
template <int Bits>
codes down(codes values) {
  return _mm512_srli_epi16(values, Bits);
}
/// `then` where l is above r, as signed numbers.
codes where_above(codes l, codes r, codes then, codes otherwise) {
  return _mm512_mask_mov_epi16(otherwise, _mm512_cmpgt_epi16_mask(l, r), then);
}
codes where_equal(codes l, codes r, codes then, codes otherwise) {
  return _mm512_mask_mov_epi16(otherwise, _mm512_cmpeq_epi16_mask(l, r), then);
}

#else

constexpr std::size_t lanes = 16;
using codes = __m256i;
struct floats {
  __m256 low;
  __m256 high;
};

floats load_floats(const float* from) {
  return {_mm256_loadu_ps(from), _mm256_loadu_ps(from + lanes / 2)};
}
void store_floats(float* to, floats values) {
  _mm256_storeu_ps(to, values.low);
  _mm256_storeu_ps(to + lanes / 2, values.high);
}
codes load_16(const std::byte* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
void store_16(std::byte* to, codes values) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), values);
}
/// With their highest bit all over the upper half.
codes load_8(const std::byte* from) {
  return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}
/// Values up to 255.
void store_8(std::byte* to, codes values) {
  _mm_storeu_si128(
      reinterpret_cast<__m128i*>(to),
      _mm_packus_epi16(_mm256_castsi256_si128(values), _mm256_extracti128_si256(values, 1)));
}

floats floats_of_halves(codes halves) {
  return {_mm256_cvtph_ps(_mm256_castsi256_si128(halves)),
          _mm256_cvtph_ps(_mm256_extracti128_si256(halves, 1))};
}
floats scaled(floats values, float factor) {
  const __m256 by = _mm256_set1_ps(factor);
  return {_mm256_mul_ps(values.low, by), _mm256_mul_ps(values.high, by)};
}
__m256 with_canonical_nan(__m256 values) {
  const __m256 nan = _mm256_cmp_ps(values, values, _CMP_UNORD_Q);
  return _mm256_blendv_ps(values, _mm256_set1_ps(__builtin_nanf("")), nan);
}
floats with_canonical_nan(floats values) {
  return {with_canonical_nan(values.low), with_canonical_nan(values.high)};
}
template <int Rounding>
codes halves_of(floats values) {
  return _mm256_inserti128_si256(
      _mm256_castsi128_si256(_mm256_cvtps_ph(values.low, Rounding | _MM_FROUND_NO_EXC)),
      _mm256_cvtps_ph(values.high, Rounding | _MM_FROUND_NO_EXC), 1);
}
/// Truncated, with the last bit set if that was not exact: rounding such a half to a format of
/// fewer bits gives what rounding the float32 would.
codes odd_halves(floats values) {
  const codes halves = halves_of<_MM_FROUND_TO_ZERO>(values);
  const floats back = floats_of_halves(halves);
  const codes low = _mm256_castps_si256(_mm256_cmp_ps(back.low, values.low, _CMP_NEQ_UQ));
  const codes high = _mm256_castps_si256(_mm256_cmp_ps(back.high, values.high, _CMP_NEQ_UQ));
  // Packing goes by halves of the vectors: low, high, low, high.
  const codes inexact = _mm256_permute4x64_epi64(_mm256_packs_epi32(low, high), 0xd8);
  return _mm256_or_si256(halves, _mm256_srli_epi16(inexact, 15));
}

codes same(int value) {
  return _mm256_set1_epi16(static_cast<short>(value));
}
codes both(codes l, codes r) {
  return _mm256_and_si256(l, r);
}
codes either(codes l, codes r) {
  return _mm256_or_si256(l, r);
}
codes sum(codes l, codes r) {
  return _mm256_add_epi16(l, r);
}
template <int Bits>
codes up(codes values) {
  return _mm256_slli_epi16(values, Bits);
}
template <int Bits>
codes down(codes values) {
  return _mm256_srli_epi16(values, Bits);
}
/// `then` where l is above r, as signed numbers.
codes where_above(codes l, codes r, codes then, codes otherwise) {
  return _mm256_blendv_epi8(otherwise, then, _mm256_cmpgt_epi16(l, r));
}
codes where_equal(codes l, codes r, codes then, codes otherwise) {
  return _mm256_blendv_epi8(otherwise, then, _mm256_cmpeq_epi16(l, r));
}

#endif

}  // namespace
}  // namespace troupe::collectives::detail

#endif
