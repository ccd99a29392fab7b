#include "tests/bench/peers/operation_data.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace troupe::peers {
namespace {

constexpr std::array<std::pair<std::string_view, operation>, 6> names{{
    {"all_reduce", operation::all_reduce},
    {"all_gather", operation::all_gather},
    {"reduce_scatter", operation::reduce_scatter},
    {"all_to_all", operation::all_to_all},
    {"barrier", operation::barrier},
    {"ping_pong", operation::ping_pong},
}};

/// A prime, so that blocks differ from each other.
constexpr std::uint64_t period = 61;

float input_of(std::uint32_t rank, std::uint64_t index) {
  return static_cast<float>(index % period + rank + 1);
}

float sum_at(std::uint32_t ranks, std::uint64_t index) {
  return static_cast<float>(ranks * (index % period) + std::uint64_t{ranks} * (ranks + 1) / 2);
}

/// What element `index` of the result should be.
float expected(const planned_call& call, std::uint64_t index, std::uint32_t rank,
               std::uint32_t ranks) {
  const std::uint64_t mine = rank * call.count;
  switch (call.what) {
    case operation::all_reduce: return sum_at(ranks, index);
    case operation::reduce_scatter: return sum_at(ranks, mine + index);
    case operation::all_gather:
      return input_of(static_cast<std::uint32_t>(index / call.count), index % call.count);
    case operation::all_to_all:
      return input_of(static_cast<std::uint32_t>(index / call.count), mine + index % call.count);
    case operation::ping_pong: return input_of(0, index);
    case operation::barrier: break;
  }
  return 0;
}

}  // namespace

std::optional<operation> operation_named(std::string_view name) {
  for (const auto& [text, what] : names)
    if (text == name) return what;
  return std::nullopt;
}

call_size size_of_call(operation what, std::uint64_t bytes, std::uint32_t ranks) {
  const std::uint64_t whole = std::max<std::uint64_t>(1, bytes / sizeof(float));
  const std::uint64_t part = std::max<std::uint64_t>(1, whole / ranks);
  switch (what) {
    case operation::all_reduce:
    case operation::ping_pong: return {whole, whole, whole};
    case operation::all_gather: return {part, part, part * ranks};
    case operation::reduce_scatter: return {part, part * ranks, part};
    case operation::all_to_all: return {part, part * ranks, part * ranks};
    case operation::barrier: break;
  }
  return {};
}

page_buffer::page_buffer(std::uint64_t count) : count_(count), bytes_(count * sizeof(float)) {
  if (bytes_ == 0) return;
  void* const place =
      ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) {
    std::fprintf(stderr, "peers: no memory for %llu bytes\n",
                 static_cast<unsigned long long>(bytes_));
    std::abort();
  }
  data_ = static_cast<float*>(place);
}

page_buffer::~page_buffer() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

void fill(const planned_call& call, std::uint32_t rank) {
  for (std::uint64_t i = 0; i < call.send.size(); ++i)
    call.send[i] = input_of(rank, i);
  std::fill(call.receive.begin(), call.receive.end(), -1.0f);
}

std::optional<std::string> find_wrong(const planned_call& call, const float* result,
                                      std::uint32_t rank, std::uint32_t ranks) {
  // Of a ping-pong, rank 0 gets back what it sent.
  const std::uint64_t count = call.receive.size();
  for (std::uint64_t i = 0; i < count; ++i) {
    const float right = expected(call, i, rank, ranks);
    if (result[i] != right)
      return "element " + std::to_string(i) + " of " + std::to_string(count) + " is " +
             std::to_string(result[i]) + " instead of " + std::to_string(right);
  }
  return std::nullopt;
}

}  // namespace troupe::peers
