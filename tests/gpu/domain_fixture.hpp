#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "collectives/reduction/combine_bytes.hpp"
#include "kernels/device/memory.hpp"
#include "kernels/device/stream.hpp"
#include "kernels/domain/domain.hpp"
#include "tests/gpu/members.hpp"

namespace troupe::test {

/// A member with its domain, a stream, and two shared buffers.
struct domain_seat {
  domain_seat(member& who, std::uint64_t bytes);

  member& who;
  std::unique_ptr<kernels::domain> group;
  kernels::stream in;
  kernels::device_memory send;
  kernels::device_memory receive;

  /// The buffer with random elements of the type, the same at each member for a seed and rank.
  void fill(kernels::device_memory& buffer, std::uint64_t at, const std::vector<std::byte>& bytes);
  std::vector<std::byte> contents(const kernels::device_memory& buffer, std::uint64_t at,
                                  std::uint64_t bytes) const;
  /// Bytes that no result has, everywhere in the buffer.
  void poison(kernels::device_memory& buffer);
};

/// What member `rank` contributes in a test with this seed.
std::vector<std::byte> contribution(data_type type, std::uint64_t count, std::uint64_t seed,
                                    std::uint32_t rank);

/// What all contributions make, element by element in the order of ranks, by the loops of the host.
std::vector<std::byte> expected_reduction(const kernels::all_reduce_call& call, std::uint64_t seed,
                                          std::uint32_t size);

/// "element 7 is 1f, not 20"; empty if all are equal.
std::string first_difference(const std::vector<std::byte>& expected,
                             const std::vector<std::byte>& got, std::size_t element_bytes);

}  // namespace troupe::test
