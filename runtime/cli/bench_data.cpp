#include "runtime/cli/bench_data.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "runtime/random.hpp"

namespace troupe::cli {
namespace {

__extension__ using uint128 = unsigned __int128;

/// One round of splitmix64.
std::uint64_t mixed(std::uint64_t value) {
  return random_stream(value).next();
}

/// `bits` scaled to [0, bound].
std::int64_t scaled(std::uint64_t bits, std::int64_t bound) {
  const auto count = static_cast<std::uint64_t>(bound) + 1;
  return static_cast<std::int64_t>((static_cast<uint128>(bits) * count) >> 64);
}

bool is_floating(data_type type) {
  return type >= data_type::float16;
}

bool has_sign(data_type type) {
  switch (type) {
    case data_type::uint8:
    case data_type::uint16:
    case data_type::uint32:
    case data_type::uint64: return false;
    default: return true;
  }
}

/// Layout of a floating-point type.
struct float_layout {
  int exponent_bits = 8;
  int mantissa_bits = 23;  ///< without the leading one
};

float_layout layout_of(data_type type) {
  switch (type) {
    case data_type::float16: return {5, 10};
    case data_type::bfloat16: return {8, 7};
    case data_type::float64: return {11, 52};
    case data_type::float8_e4m3: return {4, 3};
    case data_type::float8_e5m2: return {5, 2};
    default: return {8, 23};
  }
}

/// Largest sum of absolute values of which every partial sum is exact. 64-bit integers stop at 62
/// bits, so that the arithmetic here does not overflow.
std::int64_t exact_bound(data_type type) {
  if (is_floating(type)) return std::int64_t{1} << (layout_of(type).mantissa_bits + 1);
  const int bits = static_cast<int>(8 * size_of(type)) - (has_sign(type) ? 1 : 0);
  return bits >= 62 ? std::int64_t{1} << 62 : (std::int64_t{1} << bits) - 1;
}

/// Powers of two by which elements are scaled. Chosen: the narrowest type, float8_e4m3, has them
/// around every mantissa used here without leaving its range.
constexpr int scale_max = 3;

bool is_product(reduction op) {
  return op == reduction::product;
}
bool is_extreme(reduction op) {
  return op == reduction::minimum || op == reduction::maximum;
}

template <class Element>
std::uint64_t count_different(std::span<const std::byte> found, std::span<const std::byte> right) {
  std::uint64_t count = 0;
  for (std::size_t at = 0; at < found.size(); at += sizeof(Element))
    count += std::memcmp(&found[at], &right[at], sizeof(Element)) != 0 ? 1u : 0u;
  return count;
}

std::uint64_t count_different(std::span<const std::byte> found, std::span<const std::byte> right,
                              std::size_t element_bytes) {
  switch (element_bytes) {
    case 1: return count_different<std::uint8_t>(found, right);
    case 2: return count_different<std::uint16_t>(found, right);
    case 4: return count_different<std::uint32_t>(found, right);
    default: return count_different<std::uint64_t>(found, right);
  }
}

/// Bytes that are computed and compared at a time: they stay in the cache.
constexpr std::size_t block_bytes = 16 * 1024;

/// Words [first, ...) of what a rank moves.
void fill_words(std::span<std::byte> out, std::uint64_t seed, rank source, std::uint64_t first) {
  const std::uint64_t start = mixed(seed ^ (std::uint64_t{source.value} << 40));
  for (std::size_t at = 0; at < out.size(); at += 8) {
    const std::uint64_t word = mixed(start + first + at / 8);
    std::memcpy(&out[at], &word, std::min<std::size_t>(8, out.size() - at));
  }
}

}  // namespace

std::uint64_t encode_narrow_float(data_type type, double value) {
  const float_layout layout = layout_of(type);
  const auto wide = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t sign = (wide >> 63) << (layout.exponent_bits + layout.mantissa_bits);
  if (value == 0) return sign;
  const int bias = (1 << (layout.exponent_bits - 1)) - 1;
  const int exponent = static_cast<int>((wide >> 52) & 0x7ff) - 1023;
  const int kept_exponent = std::max(exponent, 1 - bias);  // subnormals share the smallest
  const int dropped_bits = 52 - layout.mantissa_bits + (kept_exponent - exponent);
  if (dropped_bits > 53) return sign;  // less than half of the smallest
  const std::uint64_t mantissa = (wide & ((1ull << 52) - 1)) | 1ull << 52;
  const std::uint64_t half = 1ull << (dropped_bits - 1);
  const std::uint64_t rest = mantissa & (2 * half - 1);
  std::uint64_t units = mantissa >> dropped_bits;
  if (rest > half || (rest == half && units % 2 != 0)) ++units;
  // The leading one of a normal number counts as one unit of the exponent field; rounding up to
  // the next power of two carries into it by itself.
  const auto field = static_cast<std::uint64_t>(kept_exponent + bias - 1) << layout.mantissa_bits;
  return sign | (field + units);
}

/// What all ranks know of one element.
struct reduction_data::element {
  std::uint32_t rotation = 0;  ///< rank r has position (r + rotation) mod n
  int scale = 0;
  bool negative = false;
  std::int64_t own = 0;  ///< goes to position 0
};

reduction_data::reduction_data(const reduction_recipe& recipe)
    : recipe_(recipe), is_float_(is_floating(recipe.type)), is_signed_(has_sign(recipe.type)) {
  bound_ = exact_bound(recipe.type);
  if (recipe.op == reduction::premultiplied_sum) bound_ /= 2;  // parts are doubled
  own_bound_ = bound_ / 2;
  if (is_product(recipe.op)) own_bound_ = is_float_ ? bound_ - 1 : bound_ / 4;
  make_parts();
}

void reduction_data::make_parts() {
  random_stream random(mixed(recipe_.seed ^ 0x7061'7274'73ull));
  const std::uint32_t n = recipe_.rank_count;
  const std::int64_t budget = bound_ / 2;
  // More ranks than units: some contribute one unit, the others nothing.
  const std::int64_t largest =
      is_extreme(recipe_.op) ? budget : std::max<std::int64_t>(budget / n, 1);
  for (std::uint32_t position = 0; position < n; ++position) {
    std::int64_t part = 0;
    if (is_product(recipe_.op)) {
      part = position == 1 ? 2 : (position == 2 && is_signed_ ? -1 : 1);
    } else if (is_extreme(recipe_.op) || static_cast<std::int64_t>(position) < budget) {
      part = scaled(random.next(), largest);
      if (is_signed_ && random.one_in(2)) part = -part;
    }
    parts_.push_back(part);
  }
  combined_ = parts_[0];
  for (std::uint32_t position = 1; position < n; ++position) {
    const std::int64_t part = parts_[position];
    switch (recipe_.op) {
      case reduction::product: combined_ *= part; break;
      case reduction::minimum: combined_ = std::min(combined_, part); break;
      case reduction::maximum: combined_ = std::max(combined_, part); break;
      default: combined_ += part; break;
    }
  }
}

reduction_data::element reduction_data::element_at(std::uint64_t index) const {
  const std::uint64_t bits = mixed(recipe_.seed * 0x9e37'79b9ull + index);
  element e;
  e.rotation = static_cast<std::uint32_t>(((bits >> 32) * recipe_.rank_count) >> 32);
  e.negative = is_signed_ && !is_extreme(recipe_.op) && (bits & 1u) != 0;
  if (is_float_) e.scale = static_cast<int>((bits >> 1) % (2 * scale_max + 1)) - scale_max;
  e.own = scaled(mixed(bits), own_bound_);
  if (is_product(recipe_.op)) e.own = std::max<std::int64_t>(e.own, 1);
  return e;
}

reduction_data::exact reduction_data::input_of(const element& e, rank who) const {
  const std::uint32_t n = recipe_.rank_count;
  std::uint32_t position = to_index(who) + e.rotation;
  if (position >= n) position -= n;
  const std::int64_t part = parts_[position];
  if (is_product(recipe_.op)) {
    if (position != 0) return {part, 0};
    return {e.negative ? -e.own : e.own, e.scale};
  }
  if (is_extreme(recipe_.op)) return {part + e.own, e.scale};
  std::int64_t mantissa = position == 0 ? part + e.own : part;
  if (e.negative) mantissa = -mantissa;
  // Parts are doubled, and this rank's factor, 1 or 2, is taken out again.
  if (recipe_.op == reduction::premultiplied_sum && scalar_of(who) == 1) mantissa *= 2;
  return {mantissa, e.scale};
}

reduction_data::exact reduction_data::result_of(const element& e) const {
  if (is_product(recipe_.op)) {
    const std::int64_t mantissa = combined_ * e.own;
    return {e.negative ? -mantissa : mantissa, e.scale};
  }
  if (is_extreme(recipe_.op)) return {combined_ + e.own, e.scale};
  std::int64_t mantissa = combined_ + e.own;
  if (recipe_.op == reduction::premultiplied_sum) mantissa *= 2;
  return {e.negative ? -mantissa : mantissa, e.scale};
}

std::uint64_t reduction_data::encode(const exact& value) const {
  if (!is_float_) return static_cast<std::uint64_t>(value.mantissa);
  constexpr std::array<double, 2 * scale_max + 1> powers{0.125, 0.25, 0.5, 1, 2, 4, 8};
  const double number = static_cast<double>(value.mantissa) *
                        powers[static_cast<std::size_t>(value.scale + scale_max)];
  if (recipe_.type == data_type::float64) return std::bit_cast<std::uint64_t>(number);
  if (recipe_.type == data_type::float32)
    return std::bit_cast<std::uint32_t>(static_cast<float>(number));
  return encode_narrow_float(recipe_.type, number);
}

/// The sum divided by the number of ranks. Rounding the quotient of doubles again to a narrower
/// type gives what one rounding would: 53 bits are more than twice the bits of float32 and two.
std::uint64_t reduction_data::encode_average(const exact& sum) const {
  const auto n = static_cast<std::int64_t>(recipe_.rank_count);
  if (!is_float_) return static_cast<std::uint64_t>(sum.mantissa / n);
  const double number =
      std::ldexp(static_cast<double>(sum.mantissa), sum.scale) / static_cast<double>(n);
  if (recipe_.type == data_type::float64) return std::bit_cast<std::uint64_t>(number);
  if (recipe_.type == data_type::float32)
    return std::bit_cast<std::uint32_t>(static_cast<float>(number));
  return encode_narrow_float(recipe_.type, number);
}

void reduction_data::fill_input(std::span<std::byte> out, rank who, std::uint64_t first) const {
  const std::size_t element_bytes = size_of(recipe_.type);
  for (std::size_t at = 0; at + element_bytes <= out.size(); at += element_bytes) {
    const std::uint64_t bits = encode(input_of(element_at(first + at / element_bytes), who));
    std::memcpy(&out[at], &bits, element_bytes);  // the low bytes: little-endian machines only
  }
}

std::uint64_t reduction_data::count_wrong(std::span<const std::byte> found,
                                          std::uint64_t first) const {
  const std::size_t element_bytes = size_of(recipe_.type);
  std::array<std::byte, block_bytes> block;
  std::uint64_t count = 0;
  for (std::size_t start = 0; start < found.size(); start += block.size()) {
    const auto part = found.subspan(start, std::min(block.size(), found.size() - start));
    for (std::size_t at = 0; at + element_bytes <= part.size(); at += element_bytes) {
      const exact right = result_of(element_at(first + (start + at) / element_bytes));
      const std::uint64_t bits =
          recipe_.op == reduction::average ? encode_average(right) : encode(right);
      std::memcpy(&block[at], &bits, element_bytes);
    }
    count += count_different(part, block, element_bytes);
  }
  return count;
}

double reduction_data::scalar_of(rank who) const {
  return to_index(who) % 2 == 0 ? 1 : 2;
}

void fill_moved(std::span<std::byte> out, std::uint64_t seed, rank source) {
  fill_words(out, seed, source, 0);
}

std::uint64_t count_wrong_moved(std::span<const std::byte> found, std::uint64_t seed, rank source,
                                std::size_t element_bytes) {
  std::array<std::byte, block_bytes> block;
  std::uint64_t count = 0;
  for (std::size_t start = 0; start < found.size(); start += block.size()) {
    const auto part = found.subspan(start, std::min(block.size(), found.size() - start));
    fill_words(std::span(block).first(part.size()), seed, source, start / 8);
    count += count_different(part, block, element_bytes);
  }
  return count;
}

}  // namespace troupe::cli
