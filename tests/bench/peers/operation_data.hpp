#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tests/bench/peers/measured_library.hpp"

namespace troupe::peers {

std::optional<operation> operation_named(std::string_view name);

/// Elements of one call's count and buffers. Sizes follow nccl-tests: `bytes` is the larger buffer
/// of a rank, at least one element for each peer.
struct call_size {
  std::uint64_t count = 0;
  std::uint64_t send_count = 0;
  std::uint64_t receive_count = 0;
};
call_size size_of_call(operation what, std::uint64_t bytes, std::uint32_t ranks);

/// Pages of zeros, given back when it goes.
class page_buffer {
 public:
  explicit page_buffer(std::uint64_t count);
  ~page_buffer();
  page_buffer(const page_buffer&) = delete;
  page_buffer& operator=(const page_buffer&) = delete;

  std::span<float> elements() const { return {data_, count_}; }

 private:
  std::uint64_t count_ = 0;
  std::uint64_t bytes_ = 0;
  float* data_ = nullptr;
};

/// Writes a rank's input, whose sums are exact in any order, and something else into the output.
void fill(const planned_call& call, std::uint32_t rank);

/// Nothing if every element of the result is right; else which is not.
std::optional<std::string> find_wrong(const planned_call& call, const float* result,
                                      std::uint32_t rank, std::uint32_t ranks);

}  // namespace troupe::peers
