#include "tests/gpu/domain_fixture.hpp"

#include <cstdio>

#include "tests/gpu/gpu_fixture.hpp"
#include "tests/unit/collectives/reduction_cases.hpp"

namespace troupe::test {

namespace {

/// Small, so that test buffers are many chunks and places are used again and again.
constexpr std::uint64_t test_chunk_bytes = 64 << 10;

}  // namespace

domain_seat::domain_seat(member& member, std::uint64_t bytes)
    : who(member),
      group(got(kernels::domain::form({.device = member.device,
                                       .rank = member.rank,
                                       .size = member.size,
                                       .chunk_bytes = test_chunk_bytes},
                                      *member.others))),
      in(got(kernels::stream::create(member.device))),
      send(got(kernels::device_memory::allocate(member.device, bytes))),
      receive(got(kernels::device_memory::allocate(member.device, bytes))) {
  got(group->share(send.data(), bytes, *member.others));
  got(group->share(receive.data(), bytes, *member.others));
}

void domain_seat::fill(kernels::device_memory& buffer, std::uint64_t at,
                       const std::vector<std::byte>& bytes) {
  got(buffer.write(at, bytes.data(), bytes.size()));
}

std::vector<std::byte> domain_seat::contents(const kernels::device_memory& buffer, std::uint64_t at,
                                             std::uint64_t bytes) const {
  std::vector<std::byte> read(bytes);
  got(buffer.read(at, read.data(), bytes));
  return read;
}

void domain_seat::poison(kernels::device_memory& buffer) {
  fill(buffer, 0, std::vector<std::byte>(buffer.bytes(), std::byte{0xa5}));
}

std::vector<std::byte> contribution(data_type type, std::uint64_t count, std::uint64_t seed,
                                    std::uint32_t rank) {
  random_stream random(seed * 1000 + rank);
  return draw_buffer(type, count, random);
}

std::vector<std::byte> expected_reduction(const kernels::all_reduce_call& call, std::uint64_t seed,
                                          std::uint32_t size) {
  auto out = contribution(call.type, call.count, seed, 0);
  for (std::uint32_t rank = 1; rank < size; ++rank) {
    const auto next = contribution(call.type, call.count, seed, rank);
    const bool scaled = call.op == reduction::premultiplied_sum;
    const collectives::combine_rule rule{
        .type = call.type,
        .op = call.op,
        .scalar = call.scalar,
        .divisor = size,
        .scale_left = scaled && rank == 1,
        .scale_right = scaled,
        .divide = call.op == reduction::average && rank + 1 == size,
    };
    collectives::combine_bytes(rule, out.data(), out.data(), next.data(), call.count);
  }
  return out;
}

std::string first_difference(const std::vector<std::byte>& expected,
                             const std::vector<std::byte>& got, std::size_t element_bytes) {
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (expected[i] != got[i]) {
      char text[96];
      std::snprintf(text, sizeof text, "byte %zu of element %zu is %02x, not %02x",
                    i % element_bytes, i / element_bytes, std::to_integer<unsigned>(got[i]),
                    std::to_integer<unsigned>(expected[i]));
      return text;
    }
  return "";
}

}  // namespace troupe::test
