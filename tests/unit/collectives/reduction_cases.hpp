#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "collectives/reduction/combine_bytes.hpp"
#include "runtime/data_type.hpp"
#include "runtime/random.hpp"
#include "runtime/stream_copy.hpp"

/// What the tests of element arithmetic try.
namespace troupe::test {

std::vector<data_type> all_types();

/// Every rule that the machines ask for: each operator, with and without what belongs to it.
std::vector<collectives::combine_rule> all_rules(data_type type, random_stream& random);

/// Every instruction set that this machine has, by each path. What it does not have is named once.
std::vector<loop_choice> all_choices();

/// The codes that trouble a type: zeros, ones, ends of the range and, of floating point, smallest
/// and largest subnormal and normal numbers, infinities, quiet and signalling NaN with payloads, of
/// both signs.
std::vector<std::uint64_t> special_codes(data_type type);

/// Bits from all over the type, with the values that trouble floating point among them.
std::uint64_t draw_code(data_type type, random_stream& random);

std::vector<std::byte> draw_buffer(data_type type, std::uint64_t count, random_stream& random);

/// What the reference makes of two buffers.
std::vector<std::byte> reference_combine(const collectives::combine_rule& rule,
                                         const std::vector<std::byte>& left,
                                         const std::vector<std::byte>& right);

std::string describe(const collectives::combine_rule& rule);
std::string describe(const loop_choice& choice);

/// Reports the first element that differs.
void check_equal(data_type type, const std::vector<std::byte>& expected, const std::byte* got,
                 const std::string& what);

}  // namespace troupe::test
