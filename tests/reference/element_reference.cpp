#include "tests/reference/element_reference.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace troupe::reference {

namespace {

__extension__ using wide = __int128;
__extension__ using unsigned_wide = unsigned __int128;

using collectives::combine_rule;

/// The formats, by the numbers that their standards give.
struct format {
  int exponent_bits = 0;
  int mantissa_bits = 0;
  bool has_infinity = true;
  std::uint64_t canonical_nan = 0;
};

format format_of(data_type type) {
  switch (type) {
    case data_type::float16: return {5, 10, true, 0x7e00};
    case data_type::bfloat16: return {8, 7, true, 0x7fc0};
    case data_type::float32: return {8, 23, true, 0x7fc0'0000};
    case data_type::float64: return {11, 52, true, 0x7ff8'0000'0000'0000};
    case data_type::float8_e4m3: return {4, 3, false, 0x7f};
    case data_type::float8_e5m2: return {5, 2, true, 0x7e};
    default: return {};
  }
}

int bias_of(const format& f) {
  return (1 << (f.exponent_bits - 1)) - 1;
}

double largest_of(const format& f) {
  if (!f.has_infinity) return 448;
  return std::ldexp(2 - std::ldexp(1, -f.mantissa_bits), bias_of(f));
}

double not_a_number() {
  return std::numeric_limits<double>::quiet_NaN();
}

/// Rounds to what float32 holds, where the loops compute.
double in_float32(double value) {
  return static_cast<double>(static_cast<float>(value));
}

bool computes_in_float32(data_type type) {
  return is_floating(type) && type != data_type::float64;
}

double computed(data_type type, double value) {
  return computes_in_float32(type) ? in_float32(value) : value;
}

/// NaN beats numbers; of two zeros the negative one is lower.
double lower_of(double l, double r) {
  if (std::isnan(l) || std::isnan(r)) return not_a_number();
  if (l == r) return std::signbit(l) ? l : r;
  return l < r ? l : r;
}

double higher_of(double l, double r) {
  if (std::isnan(l) || std::isnan(r)) return not_a_number();
  if (l == r) return std::signbit(l) ? r : l;
  return l > r ? l : r;
}

std::uint64_t combine_floating(const combine_rule& rule, double l, double r) {
  const data_type type = rule.type;
  const double factor = decode(type, encode(type, rule.scalar));
  if (rule.scale_left) l = decode(type, encode(type, computed(type, l * factor)));
  if (rule.scale_right) r = decode(type, encode(type, computed(type, r * factor)));
  double out = 0;
  switch (rule.op) {
    case reduction::product: out = computed(type, l * r); break;
    case reduction::minimum: out = lower_of(l, r); break;
    case reduction::maximum: out = higher_of(l, r); break;
    default: out = computed(type, l + r); break;
  }
  if (rule.divide) out = computed(type, out / rule.divisor);
  return encode(type, out);
}

// -- integers -------------------------------------------------------------------------------------

bool is_signed(data_type type) {
  return type == data_type::int8 || type == data_type::int16 || type == data_type::int32 ||
         type == data_type::int64;
}

int bits_of(data_type type) {
  return static_cast<int>(size_of(type)) * 8;
}

wide value_of(data_type type, std::uint64_t code) {
  const wide modulus = static_cast<wide>(1) << bits_of(type);
  const wide value = static_cast<wide>(code);
  return is_signed(type) && value >= modulus / 2 ? value - modulus : value;
}

std::uint64_t code_of(data_type type, wide value) {
  const wide modulus = static_cast<wide>(1) << bits_of(type);
  return static_cast<std::uint64_t>(((value % modulus) + modulus) % modulus);
}

wide integer_factor(data_type type, double scalar) {
  const wide modulus = static_cast<wide>(1) << bits_of(type);
  const wide least = is_signed(type) ? -modulus / 2 : 0;
  const wide most = is_signed(type) ? modulus / 2 - 1 : modulus - 1;
  if (std::isnan(scalar)) return 0;
  if (scalar >= static_cast<double>(most)) return most;
  if (scalar <= static_cast<double>(least)) return least;
  return static_cast<wide>(scalar);
}

wide wrapped(data_type type, wide value) {
  return value_of(type, code_of(type, value));
}

/// The product of two values of the type. Of 64 bits and unsigned its 128 bits leave no room for a
/// sign, so it is taken modulo 2^128, which loses nothing that counts modulo 2^bits.
wide wrapped_product(data_type type, wide l, wide r) {
  const unsigned_wide product = static_cast<unsigned_wide>(l) * static_cast<unsigned_wide>(r);
  const unsigned_wide modulus = static_cast<unsigned_wide>(1) << bits_of(type);
  return value_of(type, static_cast<std::uint64_t>(product % modulus));
}

std::uint64_t combine_integer(const combine_rule& rule, wide l, wide r) {
  const wide factor = integer_factor(rule.type, rule.scalar);
  if (rule.scale_left) l = wrapped_product(rule.type, l, factor);
  if (rule.scale_right) r = wrapped_product(rule.type, r, factor);
  wide out = 0;
  switch (rule.op) {
    case reduction::product: out = wrapped_product(rule.type, l, r); break;
    case reduction::minimum: out = l < r ? l : r; break;
    case reduction::maximum: out = l > r ? l : r; break;
    default: out = l + r; break;
  }
  if (rule.divide) out = wrapped(rule.type, out) / static_cast<wide>(rule.divisor);
  return code_of(rule.type, out);
}

}  // namespace

bool is_floating(data_type type) {
  return format_of(type).mantissa_bits != 0;
}

double decode(data_type type, std::uint64_t code) {
  const format f = format_of(type);
  const std::uint64_t exponent_codes = std::uint64_t{1} << f.exponent_bits;
  const std::uint64_t mantissa_codes = std::uint64_t{1} << f.mantissa_bits;
  const std::uint64_t mantissa = code % mantissa_codes;
  const std::uint64_t exponent = code / mantissa_codes % exponent_codes;
  const double sign = (code >> (f.exponent_bits + f.mantissa_bits)) & 1 ? -1.0 : 1.0;
  const double fraction = std::ldexp(static_cast<double>(mantissa), -f.mantissa_bits);
  const int power = static_cast<int>(exponent) - bias_of(f);
  if (exponent == exponent_codes - 1) {
    if (f.has_infinity)
      return mantissa == 0 ? sign * std::numeric_limits<double>::infinity() : not_a_number();
    if (mantissa == mantissa_codes - 1) return not_a_number();
  }
  if (exponent == 0) return sign * std::ldexp(fraction, power + 1);
  return sign * std::ldexp(1 + fraction, power);
}

std::uint64_t encode(data_type type, double value) {
  const format f = format_of(type);
  if (std::isnan(value)) return f.canonical_nan;
  if (type == data_type::float64) return std::bit_cast<std::uint64_t>(value);
  const std::uint64_t sign_code = (std::signbit(value) ? std::uint64_t{1} : 0)
                                  << (f.exponent_bits + f.mantissa_bits);
  const std::uint64_t infinity_code = ((std::uint64_t{1} << f.exponent_bits) - 1)
                                      << f.mantissa_bits;
  const double magnitude = std::fabs(value);
  const std::uint64_t overflow = f.has_infinity ? sign_code | infinity_code : f.canonical_nan;
  if (std::isinf(value)) return overflow;
  if (magnitude == 0) return sign_code;

  // The grid on which the format has its values near this one; then the nearest point of it.
  const int lowest = 1 - bias_of(f);
  const int power = std::max(std::ilogb(magnitude), lowest);
  const double grid = std::ldexp(1, power - f.mantissa_bits);
  const double rounded = std::nearbyint(magnitude / grid) * grid;
  if (rounded > largest_of(f)) return overflow;
  if (rounded < std::ldexp(1, lowest))
    return sign_code | static_cast<std::uint64_t>(std::ldexp(rounded, f.mantissa_bits - lowest));
  const int exponent = std::ilogb(rounded);
  const auto mantissa =
      static_cast<std::uint64_t>(std::ldexp(rounded, f.mantissa_bits - exponent)) -
      (std::uint64_t{1} << f.mantissa_bits);
  const auto exponent_code = static_cast<std::uint64_t>(exponent + bias_of(f));
  return sign_code | exponent_code << f.mantissa_bits | mantissa;
}

std::uint64_t combine_element(const combine_rule& rule, std::uint64_t left, std::uint64_t right) {
  if (is_floating(rule.type))
    return combine_floating(rule, decode(rule.type, left), decode(rule.type, right));
  return combine_integer(rule, value_of(rule.type, left), value_of(rule.type, right));
}

std::uint64_t copy_element(const combine_rule& rule, std::uint64_t source) {
  const data_type type = rule.type;
  if (is_floating(type)) {
    double out = decode(type, source);
    if (rule.scale_left) out = computed(type, out * decode(type, encode(type, rule.scalar)));
    if (rule.divide) out = computed(type, out / rule.divisor);
    return rule.scale_left || rule.divide ? encode(type, out) : source;
  }
  wide out = value_of(type, source);
  if (rule.scale_left) out = wrapped_product(type, out, integer_factor(type, rule.scalar));
  if (rule.divide) out = out / static_cast<wide>(rule.divisor);
  return code_of(type, out);
}

std::uint64_t read_element(data_type type, const std::byte* buffer, std::uint64_t index) {
  std::uint64_t code = 0;
  const std::size_t bytes = size_of(type);
  for (std::size_t i = 0; i < bytes; ++i)
    code |= std::uint64_t{std::to_integer<std::uint8_t>(buffer[index * bytes + i])} << (8 * i);
  return code;
}

void write_element(data_type type, std::byte* buffer, std::uint64_t index, std::uint64_t code) {
  const std::size_t bytes = size_of(type);
  for (std::size_t i = 0; i < bytes; ++i)
    buffer[index * bytes + i] = static_cast<std::byte>(code >> (8 * i));
}

}  // namespace troupe::reference
