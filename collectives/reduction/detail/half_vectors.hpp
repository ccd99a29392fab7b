#pragma once

#ifdef __F16C__

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

/// A vector of float32 and of as many 16-bit codes, with the processor's conversions between
/// float32 and float16. Internal linkage for the reason given in loop_bodies.hpp.
namespace troupe::collectives::detail {
namespace {

#if defined(__AVX512F__)

constexpr std::size_t lanes = 16;
using floats = __m512;
using codes = __m256i;

floats load_floats(const float* from) {
  return _mm512_loadu_ps(from);
}
void store_floats(float* to, floats values) {
  _mm512_storeu_ps(to, values);
}
codes load_16(const std::byte* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
void store_16(std::byte* to, codes values) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), values);
}
codes load_8(const std::byte* from) {
  return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}
void store_8(std::byte* to, codes values) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_cvtepi16_epi8(values));
}

floats floats_of_halves(codes halves) {
  return _mm512_cvtph_ps(halves);
}
floats scaled(floats values, float factor) {
  return _mm512_mul_ps(values, _mm512_set1_ps(factor));
}
floats with_canonical_nan(floats values) {
  const __mmask16 nan = _mm512_cmp_ps_mask(values, values, _CMP_UNORD_Q);
  return _mm512_mask_mov_ps(values, nan, _mm512_set1_ps(__builtin_nanf("")));
}
codes nearest_halves(floats values) {
  return _mm512_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
/// Truncated, with the last bit set if that was not exact: rounding such a half to a format of
/// fewer bits gives what rounding the float32 would.
codes odd_halves(floats values) {
  const codes halves = _mm512_cvtps_ph(values, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
  const __mmask16 inexact = _mm512_cmp_ps_mask(_mm512_cvtph_ps(halves), values, _CMP_NEQ_UQ);
  return _mm256_or_si256(halves, _mm256_maskz_set1_epi16(inexact, 1));
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
  return _mm256_mask_mov_epi16(otherwise, _mm256_cmpgt_epi16_mask(l, r), then);
}

#else

constexpr std::size_t lanes = 8;
using floats = __m256;
using codes = __m128i;

floats load_floats(const float* from) {
  return _mm256_loadu_ps(from);
}
void store_floats(float* to, floats values) {
  _mm256_storeu_ps(to, values);
}
codes load_16(const std::byte* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}
void store_16(std::byte* to, codes values) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), values);
}
codes load_8(const std::byte* from) {
  return _mm_cvtepu8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
}
void store_8(std::byte* to, codes values) {
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packus_epi16(values, values));
}

floats floats_of_halves(codes halves) {
  return _mm256_cvtph_ps(halves);
}
floats scaled(floats values, float factor) {
  return _mm256_mul_ps(values, _mm256_set1_ps(factor));
}
floats with_canonical_nan(floats values) {
  const __m256 nan = _mm256_cmp_ps(values, values, _CMP_UNORD_Q);
  return _mm256_blendv_ps(values, _mm256_set1_ps(__builtin_nanf("")), nan);
}
codes nearest_halves(floats values) {
  return _mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
/// Truncated, with the last bit set if that was not exact: rounding such a half to a format of
/// fewer bits gives what rounding the float32 would.
codes odd_halves(floats values) {
  const codes halves = _mm256_cvtps_ph(values, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
  const __m256i inexact =
      _mm256_castps_si256(_mm256_cmp_ps(_mm256_cvtph_ps(halves), values, _CMP_NEQ_UQ));
  const codes narrow =
      _mm_packs_epi32(_mm256_castsi256_si128(inexact), _mm256_extracti128_si256(inexact, 1));
  return _mm_or_si128(halves, _mm_srli_epi16(narrow, 15));
}

codes same(int value) {
  return _mm_set1_epi16(static_cast<short>(value));
}
codes both(codes l, codes r) {
  return _mm_and_si128(l, r);
}
codes either(codes l, codes r) {
  return _mm_or_si128(l, r);
}
codes sum(codes l, codes r) {
  return _mm_add_epi16(l, r);
}
template <int Bits>
codes up(codes values) {
  return _mm_slli_epi16(values, Bits);
}
template <int Bits>
codes down(codes values) {
  return _mm_srli_epi16(values, Bits);
}
/// `then` where l is above r, as signed numbers.
codes where_above(codes l, codes r, codes then, codes otherwise) {
  return _mm_blendv_epi8(otherwise, then, _mm_cmpgt_epi16(l, r));
}

#endif

}  // namespace
}  // namespace troupe::collectives::detail

#endif
