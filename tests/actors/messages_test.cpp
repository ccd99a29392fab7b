#define BOOST_TEST_MODULE messages
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/actors/open_ranks.hpp"

// The counts of docs/architecture.md, "Messages", with real workers and sockets; the simulated
// world has the same case in tests/sim/actors.

namespace troupe::actors {
namespace {

using test::open_ranks;

BOOST_AUTO_TEST_CASE(messages_are_a_constant_an_operation_over_sockets_too) {
  auto ranks = open_ranks(2, {});
  for (const auto& r : ranks)
    BOOST_REQUIRE(r.world);
  std::vector<std::vector<float>> data(2, std::vector<float>(16, 1.0f));
  auto once = [&] {
    std::vector<work_handle> works;
    for (std::size_t r = 0; r < 2; ++r)
      works.push_back(*ranks[r].world->all_reduce(
          {.send = data[r].data(), .receive = data[r].data(), .count = 16}));
    for (const auto& work : works)
      BOOST_REQUIRE(work->wait(std::chrono::seconds(10)).has_value());
  };
  once();  // connects
  auto settled = [&](actor_kind kind) {
    // The last message of an operation is handled after its work is done.
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return ranks[0].host->worker_statistics().messages_of(kind);
  };
  const auto rank_before = settled(actor_kind::rank);
  const auto collective_before = settled(actor_kind::collective);
  const auto dqplb_before = settled(actor_kind::dqplb);
  for (int i = 0; i < 100; ++i)
    once();
  BOOST_TEST(settled(actor_kind::rank) - rank_before == 200u);
  BOOST_TEST(settled(actor_kind::collective) - collective_before == 300u);
  BOOST_TEST(settled(actor_kind::dqplb) - dqplb_before == 0u);
}

BOOST_AUTO_TEST_CASE(a_split_and_what_runs_on_it_open_no_connection_that_its_parent_has) {
  auto ranks = open_ranks(4, {});
  for (const auto& r : ranks)
    BOOST_REQUIRE(r.world);
  std::atomic<int> wrong{0};
  const auto on_all = [&](auto call) {
    std::vector<std::thread> threads;
    for (std::size_t r = 0; r < ranks.size(); ++r)
      threads.emplace_back([&, r] { wrong += !call(*ranks[r].world, static_cast<int>(r)); });
    for (auto& t : threads)
      t.join();
  };
  const auto exchange_all = [](communicator& c) {
    std::vector<float> in(c.size(), 1.0f), out(c.size());
    const auto work = c.all_to_all({.send = in.data(), .receive = out.data(), .count = 1});
    return work.has_value() && (*work)->wait().has_value();
  };
  on_all([&](communicator& world, int) { return exchange_all(world); });
  const auto links = [&] {
    std::vector<double> out;
    for (const auto& r : ranks)
      out.push_back(static_cast<double>(r.host->operation_statistics().links_open.get()));
    return out;
  };
  const auto before = links();
  on_all([&](communicator& world, int r) {
    const auto half = world.split({.colour = r % 2, .key = -r});
    return half.has_value() && (*half)->size() == 2 && exchange_all(**half);
  });
  BOOST_TEST(wrong.load() == 0);
  BOOST_TEST(before == std::vector<double>(4, 3.0), boost::test_tools::per_element());
  BOOST_TEST(links() == before, boost::test_tools::per_element());
}

}  // namespace
}  // namespace troupe::actors
