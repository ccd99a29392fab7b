#define BOOST_TEST_MODULE many_communicators
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <numeric>

#include "runtime/random.hpp"
#include "tests/actors/local_job.hpp"
#include "tests/actors/process_footprint.hpp"

namespace troupe::test {
namespace {

constexpr std::size_t communicator_count = 300;
constexpr std::size_t element_count = 100;

/// The numbers from 0 to `count` - 1 in an order of their own for each seed.
std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  random_stream draw(seed);
  for (std::size_t i = count; i > 1; --i)
    std::swap(order[i - 1], order[draw.below(i)]);
  return order;
}

/// Whether the sum over all ranks of `rank + i` came out.
bool is_sum(const std::vector<float>& got, std::uint32_t ranks) {
  for (std::size_t i = 0; i < got.size(); ++i)
    if (got[i] != static_cast<float>(ranks * i + ranks * (ranks - 1) / 2)) return false;
  return true;
}

/// Creates the communicators, has one operation run on each of them at the same time, begun in an
/// order that differs from rank to rank, and drops them in another. Returns what went wrong.
int create_use_destroy(communicator& world, std::uint64_t seed) {
  const auto me = static_cast<std::size_t>(to_index(world.rank()));
  std::vector<std::unique_ptr<communicator>> made;
  for (std::size_t i = 0; i < communicator_count; ++i) {
    auto split = world.split({.colour = 0, .key = static_cast<std::int32_t>(i + me)});
    if (!split) return 1000;
    made.push_back(std::move(*split));
  }
  std::vector<float> mine(element_count);
  std::iota(mine.begin(), mine.end(), static_cast<float>(me));
  std::vector<std::vector<float>> sums(communicator_count, std::vector<float>(element_count));
  std::vector<work_handle> works(communicator_count);
  int wrong = 0;
  for (const auto i : shuffled(communicator_count, seed + me)) {
    auto work = made[i]->all_reduce(
        {.send = mine.data(), .receive = sums[i].data(), .count = element_count});
    if (!work) return 2000;
    works[i] = *work;
  }
  for (std::size_t i = 0; i < communicator_count; ++i)
    wrong += !works[i]->wait().has_value() || !is_sum(sums[i], world.size());
  for (const auto i : shuffled(communicator_count, seed + 100 + me))
    made[i].reset();
  return wrong;
}

BOOST_AUTO_TEST_CASE(three_hundred_communicators_in_any_order_leave_nothing_behind) {
  constexpr std::uint32_t ranks = 3;
  auto job = join_locally(ranks);
  for (const auto& f : job.failures)
    BOOST_REQUIRE(f.code() == errc::ok);
  std::atomic<int> wrong{0};
  const auto round = [&](std::uint64_t seed) {
    on_all_ranks(job, [&](std::size_t r) {
      wrong += create_use_destroy(job[r], seed);
      wrong += !(*job[r].barrier())->wait().has_value();
    });
  };
  // An allocator settles after some rounds; what a communicator left behind would go on growing.
  std::uint64_t seed = 0;
  const auto least_of_rounds = [&](std::uint64_t count) {
    std::size_t least = resident_kib();
    for (std::uint64_t i = 0; i < count; ++i) {
      round(seed++);
      least = std::min(least, resident_kib());
    }
    return least;
  };
  constexpr std::uint64_t settling = 80, sampled = 20, between = 80;
  least_of_rounds(settling);
  const auto least_before = least_of_rounds(sampled);
  process_footprint before;
  before.resident = least_before;
  least_of_rounds(between);
  const auto least_now = least_of_rounds(sampled);
  BOOST_TEST(wrong.load() == 0);
  // 23 bytes for each of the 90,000 communicators.
  before.check_nothing_left(2048, least_now);
}

BOOST_AUTO_TEST_CASE(ten_thousand_starts_and_stops_of_two_endpoints_leave_nothing_behind) {
  const auto cycle = [] {
    auto job = join_locally(2);
    for (const auto& f : job.failures)
      BOOST_REQUIRE_MESSAGE(f.code() == errc::ok, f.message);
  };
  for (int i = 0; i < 200; ++i)
    cycle();
  const process_footprint before;
  for (int i = 0; i < 9'800; ++i)
    cycle();
  // A leak of 100 bytes a cycle would be 957 KiB.
  before.check_nothing_left(900);
}

}  // namespace
}  // namespace troupe::test
