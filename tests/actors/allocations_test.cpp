#define BOOST_TEST_MODULE allocations
#include <atomic>
#include <barrier>
#include <boost/test/unit_test.hpp>

#include "tests/actors/local_job.hpp"
#include "tests/conformance/counted_allocation.hpp"

// What an operation takes from the heap once everything has been made: the one message by which a
// call reaches the endpoint's worker, which is CAF's, and nothing else. The messages behind it, the
// work and the records of the operation live in slabs.

namespace troupe::test {
namespace {

constexpr int warm_up_count = 600;  // beyond the 256 calls that a communicator remembers
constexpr std::size_t measured_count = 1000;

// Blocks for high-water marks that only a busy machine reaches. Chosen: far below the 182 that one
// block for every eleventh operation of a rank was.
constexpr std::size_t high_water_count = 20;

/// Heap allocations of the whole process while every rank makes `measured_count` calls.
template <class Call>
std::size_t allocations_of(local_job& job, Call call) {
  std::atomic<std::size_t> before{0}, after{0};
  std::atomic<int> wrong{0};
  std::barrier meet(static_cast<std::ptrdiff_t>(job.size()));
  on_all_ranks(job, [&](std::size_t r) {
    for (int i = 0; i < warm_up_count; ++i)
      wrong += !call(r);
    meet.arrive_and_wait();
    if (r == 0) before = conformance::allocation_count();
    meet.arrive_and_wait();
    for (std::size_t i = 0; i < measured_count; ++i)
      wrong += !call(r);
    meet.arrive_and_wait();
    if (r == 0) after = conformance::allocation_count();
  });
  BOOST_TEST(wrong.load() == 0);
  return after - before;
}

void check(const std::string& lanes) {
  auto job = join_locally(2, {{"transport.lanes", lanes}});
  BOOST_REQUIRE_MESSAGE(job.ranks[0], to_string(job.failures[0]));
  BOOST_REQUIRE_MESSAGE(job.ranks[1], to_string(job.failures[1]));
  std::vector<std::vector<float>> data(2, std::vector<float>(2, 1.0f));
  const auto made = allocations_of(job, [&](std::size_t r) {
    const auto work = job[r].all_reduce(
        {.send = data[r].data(), .receive = data[r].data(), .count = 2, .op = reduction::maximum});
    return work.has_value() && (*work)->wait().has_value();
  });
  BOOST_TEST_MESSAGE(lanes << ": " << made << " allocations by " << measured_count
                           << " all_reduce of 8 bytes on 2 ranks");
  BOOST_TEST(made <= job.size() * measured_count + high_water_count);
}

BOOST_AUTO_TEST_CASE(an_all_reduce_of_8_bytes_takes_one_message_from_the_heap_over_shared_memory) {
  check("shm");
}

BOOST_AUTO_TEST_CASE(an_all_reduce_of_8_bytes_takes_one_message_from_the_heap_over_sockets) {
  check("tcp");
}

}  // namespace
}  // namespace troupe::test
