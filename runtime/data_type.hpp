#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace troupe {

/// Element types of a collective. Numbers are wire values: stable, never reused.
enum class data_type : std::uint8_t {
  int8 = 0,
  uint8 = 1,
  int16 = 2,
  uint16 = 3,
  int32 = 4,
  uint32 = 5,
  int64 = 6,
  uint64 = 7,
  float16 = 8,       ///< IEEE 754 binary16
  bfloat16 = 9,      ///< upper half of a binary32
  float32 = 10,      ///< IEEE 754 binary32
  float64 = 11,      ///< IEEE 754 binary64
  float8_e4m3 = 12,  ///< OCP OFP8 E4M3: no infinity, S.1111.111 is NaN, largest 448
  float8_e5m2 = 13,  ///< OCP OFP8 E5M2: infinities as in IEEE, largest 57344
};

inline constexpr std::size_t data_type_count = 14;

/// How contributions are combined. Numbers are wire values.
/// `average` divides the sum by the number of contributors: integers truncate toward zero.
/// `premultiplied_sum` multiplies each rank's input by that rank's scalar first; the scalar is
/// converted to the operand's type before use.
enum class reduction : std::uint8_t {
  sum = 0,
  product = 1,
  minimum = 2,
  maximum = 3,
  average = 4,
  premultiplied_sum = 5,
};

inline constexpr std::size_t reduction_count = 6;

/// Bytes of one element; 0 for a value outside the list.
constexpr std::size_t size_of(data_type type) {
  switch (type) {
    case data_type::int8:
    case data_type::uint8:
    case data_type::float8_e4m3:
    case data_type::float8_e5m2: return 1;
    case data_type::int16:
    case data_type::uint16:
    case data_type::float16:
    case data_type::bfloat16: return 2;
    case data_type::int32:
    case data_type::uint32:
    case data_type::float32: return 4;
    case data_type::int64:
    case data_type::uint64:
    case data_type::float64: return 8;
  }
  return 0;
}

/// "float32", "bfloat16", ...; "invalid" for a value outside the list.
std::string_view to_string(data_type type);
std::string_view to_string(reduction op);

/// The type or operator of that name; none if there is none.
std::optional<data_type> data_type_from(std::string_view name);
std::optional<reduction> reduction_from(std::string_view name);

}  // namespace troupe
