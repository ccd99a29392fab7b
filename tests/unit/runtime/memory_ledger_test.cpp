#define BOOST_TEST_MODULE memory_ledger
#include "runtime/memory_ledger.hpp"

#include <boost/test/unit_test.hpp>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace troupe {
namespace {

BOOST_AUTO_TEST_CASE(a_container_is_counted_under_its_purpose_while_it_lives) {
  memory_ledger ledger;
  {
    std::pmr::vector<std::uint64_t> held(ledger.of(memory_purpose::links));
    held.reserve(100);
    BOOST_TEST(ledger.usage()[memory_purpose::links] == 800u);
    BOOST_TEST(ledger.usage().total() == 800u);
    held.reserve(200);
    BOOST_TEST(ledger.usage()[memory_purpose::links] == 1600u);
  }
  BOOST_TEST(ledger.usage().total() == 0u);
}

BOOST_AUTO_TEST_CASE(a_charge_moves_with_its_owner_and_counts_once) {
  memory_ledger ledger;
  memory_charge first(&ledger, memory_purpose::lanes, 4096);
  BOOST_TEST(ledger.usage()[memory_purpose::lanes] == 4096u);
  memory_charge second = std::move(first);
  BOOST_TEST(ledger.usage()[memory_purpose::lanes] == 4096u);
  memory_charge third(&ledger, memory_purpose::segments, 100);
  second = std::move(third);
  BOOST_TEST(ledger.usage()[memory_purpose::lanes] == 0u);
  BOOST_TEST(ledger.usage()[memory_purpose::segments] == 100u);
  second.release();
  second.release();
  BOOST_TEST(ledger.usage().total() == 0u);
}

BOOST_AUTO_TEST_CASE(without_a_ledger_nobody_counts) {
  memory_charge nothing(nullptr, memory_purpose::lanes, 1);
  nothing.release();
}

BOOST_AUTO_TEST_CASE(every_purpose_has_a_name_of_its_own) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < memory_purpose_count; ++i)
    names.emplace(to_string(static_cast<memory_purpose>(i)));
  BOOST_TEST(names.size() == memory_purpose_count);
  BOOST_TEST(names.count("") == 0u);
}

BOOST_AUTO_TEST_CASE(threads_that_count_at_once_lose_nothing) {
  memory_ledger ledger;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&ledger] {
      for (int i = 0; i < 1000; ++i) {
        memory_charge held(&ledger, memory_purpose::works, 64);
        ledger.add(memory_purpose::scratch, 1);
      }
    });
  for (auto& thread : threads)
    thread.join();
  BOOST_TEST(ledger.usage()[memory_purpose::works] == 0u);
  BOOST_TEST(ledger.usage()[memory_purpose::scratch] == 4000u);
}

}  // namespace
}  // namespace troupe
