#pragma once

#include <cstdint>

#include "collectives/reduction/combine_bytes.hpp"
#include "runtime/data_type.hpp"

/// The specification of element arithmetic, one value at a time: written for being read, without a
/// line in common with the loops it checks. Values travel as the bits of their type.
namespace troupe::reference {

/// The value of a floating-point code; NaN for every NaN. float64 included.
double decode(data_type type, std::uint64_t code);

/// The code of the floating-point type nearest to the value, ties to even; the canonical NaN for
/// NaN. Too large: infinity, or NaN where the type has no infinity.
std::uint64_t encode(data_type type, double value);

bool is_floating(data_type type);

/// What combine_bytes and copy_bytes do to one element.
std::uint64_t combine_element(const collectives::combine_rule& rule, std::uint64_t left,
                              std::uint64_t right);
std::uint64_t copy_element(const collectives::combine_rule& rule, std::uint64_t source);

/// Reads and writes element `index` of a buffer of such elements.
std::uint64_t read_element(data_type type, const std::byte* buffer, std::uint64_t index);
void write_element(data_type type, std::byte* buffer, std::uint64_t index, std::uint64_t code);

}  // namespace troupe::reference
