#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/data_type.hpp"
#include "runtime/strong_types.hpp"

namespace troupe::cli {

/// What a reduction is checked with.
struct reduction_recipe {
  data_type type = data_type::float32;
  reduction op = reduction::sum;
  std::uint32_t rank_count = 1;
  std::uint64_t seed = 0;  ///< another one for every check
};

/// Inputs whose reduction is exact in any order, and the one result that is right.
///
/// A wanted result is split into integers, one for each rank, whose absolute values together stay
/// within the type's significant bits; floating-point elements are scaled by a power of two and
/// given a sign. So every partial sum is representable and no order of additions rounds: the check
/// compares for equality and sees a single wrong bit. Which rank gets which part changes from
/// element to element. A product has one rank with all the bits and others with 1, -1 or 2; only
/// the division of an average rounds, once.
///
/// Cost: the value of an element takes the same time whatever the number of ranks.
/// Source: the idea of exact contributions is that of nccl-tests, verifiable/.
class reduction_data {
 public:
  explicit reduction_data(const reduction_recipe& recipe);

  /// Elements [first, first + n) of a rank's input; n from the size of `out`.
  void fill_input(std::span<std::byte> out, rank who, std::uint64_t first) const;

  /// Elements of `found`, which starts at element `first`, that are not the right result.
  std::uint64_t count_wrong(std::span<const std::byte> found, std::uint64_t first) const;

  /// The rank's factor for premultiplied_sum.
  double scalar_of(rank who) const;

 private:
  /// A value of the element type: mantissa * 2^scale.
  struct exact {
    std::int64_t mantissa = 0;
    int scale = 0;
  };
  struct element;

  element element_at(std::uint64_t index) const;
  exact input_of(const element& e, rank who) const;
  exact result_of(const element& e) const;
  std::uint64_t encode(const exact& value) const;
  std::uint64_t encode_average(const exact& sum) const;
  void make_parts();

  reduction_recipe recipe_;
  bool is_float_ = true;
  bool is_signed_ = true;
  std::int64_t bound_ = 0;           ///< of the sum of absolute parts
  std::int64_t own_bound_ = 0;       ///< of the part that changes with the element
  std::vector<std::int64_t> parts_;  ///< of the position that a rank has at an element
  std::int64_t combined_ = 0;        ///< the reduction of all parts
};

/// Elements of a rank's block that only moves: any bits.
void fill_moved(std::span<std::byte> out, std::uint64_t seed, rank source);

/// Elements of `element_bytes` each in `found` that are not what `fill_moved` writes.
std::uint64_t count_wrong_moved(std::span<const std::byte> found, std::uint64_t seed, rank source,
                                std::size_t element_bytes);

/// The bits of a floating-point type narrower than 32 bits, rounded to nearest, ties to even.
/// `value` is finite and within the type's range.
std::uint64_t encode_narrow_float(data_type type, double value);

}  // namespace troupe::cli
