#define BOOST_TEST_MODULE served_reduction
#include "kernels/reduce/served_reduction.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <string>

#include "kernels/device/stream.hpp"
#include "tests/gpu/domain_fixture.hpp"
#include "tests/gpu/gpu_fixture.hpp"
#include "tests/unit/collectives/reduction_cases.hpp"

namespace troupe::test {

namespace {

using namespace std::chrono_literals;

bool wait_until_done(kernels::served_reduction& served, std::uint64_t chunks) {
  const auto limit = std::chrono::steady_clock::now() + 20s;
  while (served.done() < chunks) {
    served.take_done();
    if (std::chrono::steady_clock::now() > limit) return false;
  }
  return true;
}

/// Chunks of odd sizes at odd places, more than the mailbox holds, of every type and operator.
std::string every_type_and_operator(member& who) {
  constexpr std::uint64_t count = 9'001;
  auto served = got(kernels::served_reduction::create(who.device));
  auto in = got(kernels::stream::create(who.device, kernels::stream_priority::high));
  auto left = got(kernels::device_memory::allocate(who.device, 8 * (count + 64)));
  auto right = got(kernels::device_memory::allocate(who.device, 8 * (count + 64)));
  auto target = got(kernels::device_memory::allocate(who.device, 8 * (count + 64)));
  random_stream random(1);
  for (const auto type : all_types())
    for (auto rule : all_rules(type, random)) {
      if (rule.op == reduction::premultiplied_sum && !(rule.scale_left && rule.scale_right))
        continue;
      if ((rule.op == reduction::average) != rule.divide) continue;
      const auto size = size_of(type);
      const auto l = draw_buffer(type, count, random);
      const auto r = draw_buffer(type, count, random);
      const std::uint64_t at = random.below(3) * size;
      got(left.write(at, l.data(), l.size()));
      got(right.write(at, r.data(), r.size()));
      const std::vector<std::byte> poison(target.bytes(), std::byte{0xa5});
      got(target.write(0, poison.data(), poison.size()));
      check(served.start(in.ref(), {.type = type,
                                    .op = rule.op,
                                    .scalar = rule.scalar,
                                    .divisor = rule.divisor,
                                    .blocks = 2}));
      std::uint64_t done = 0;
      for (std::uint64_t part = 1; done < count; ++part) {
        const std::uint64_t elements = std::min(part * 7, count - done);
        const std::uint64_t from = at + done * size;
        if (!served.post({target.data() + from, left.data() + from, right.data() + from, elements}))
          return "a chunk was refused";
        done += elements;
      }
      if (!wait_until_done(served, served.posted())) return "chunks are not done";
      if (!served.finish()) return "the mailbox is full";
      got(in.wait());
      std::vector<std::byte> expected(l.size());
      collectives::combine_bytes(rule, expected.data(), l.data(), r.data(), count);
      std::vector<std::byte> out(l.size());
      got(target.read(at, out.data(), out.size()));
      const auto wrong = first_difference(expected, out, size);
      if (!wrong.empty()) return describe(rule) + ": " + wrong;
    }
  return "";
}

std::string an_abort_ends_the_kernel(member& who) {
  auto served = got(kernels::served_reduction::create(who.device));
  auto in = got(kernels::stream::create(who.device));
  check(served.start(in.ref(), {}));
  const auto begin = std::chrono::steady_clock::now();
  served.abort();
  got(in.wait());
  return std::chrono::steady_clock::now() - begin < 1s ? "" : "not free within a second";
}

}  // namespace

BOOST_AUTO_TEST_CASE(chunks_of_every_type_have_the_bits_of_the_host, *on_a_gpu()) {
  BOOST_TEST(run_members(living::in_processes, 1, 120s, every_type_and_operator) == "");
}

BOOST_AUTO_TEST_CASE(an_abort_ends_a_kernel_that_waits_for_chunks, *on_a_gpu()) {
  BOOST_TEST(run_members(living::in_processes, 1, 60s, an_abort_ends_the_kernel) == "");
}

}  // namespace troupe::test
