#define BOOST_TEST_MODULE random
#include "runtime/random.hpp"

#include <array>
#include <boost/test/unit_test.hpp>
#include <cstdint>

using troupe::random_stream;

// First outputs of splitmix64 for seed 1234567, computed from the published algorithm with
// arbitrary-precision integers.
BOOST_AUTO_TEST_CASE(the_numbers_are_those_of_splitmix64) {
  random_stream random(1234567);
  BOOST_TEST(random.next() == 6457827717110365317ull);
  BOOST_TEST(random.next() == 3203168211198807973ull);
  BOOST_TEST(random.next() == 9817491932198370423ull);
}

BOOST_AUTO_TEST_CASE(the_same_seed_gives_the_same_numbers) {
  random_stream one(42), other(42);
  for (int i = 0; i < 1000; ++i)
    BOOST_REQUIRE_EQUAL(one.next(), other.next());
}

BOOST_AUTO_TEST_CASE(a_number_below_a_bound_is_below_it_and_reaches_every_value) {
  random_stream random(1);
  std::array<int, 7> seen{};
  for (int i = 0; i < 7000; ++i) {
    const auto value = random.below(7);
    BOOST_REQUIRE_LT(value, 7u);
    ++seen[value];
  }
  for (const int count : seen) {
    BOOST_TEST(count > 800);
    BOOST_TEST(count < 1200);
  }
  BOOST_TEST(random.below(0) == 0u);
  BOOST_TEST(random.below(1) == 0u);
}

BOOST_AUTO_TEST_CASE(a_number_between_two_bounds_reaches_both) {
  random_stream random(1);
  bool low = false, high = false;
  for (int i = 0; i < 1000; ++i) {
    const auto value = random.between(10, 12);
    BOOST_REQUIRE(value >= 10 && value <= 12);
    low = low || value == 10;
    high = high || value == 12;
  }
  BOOST_TEST(low);
  BOOST_TEST(high);
}

BOOST_AUTO_TEST_CASE(a_fork_depends_on_its_name_and_leaves_its_parent_alone) {
  random_stream parent(7), untouched(7);
  auto first = parent.fork(1);
  auto again = parent.fork(1);
  auto second = parent.fork(2);
  const auto value = first.next();
  BOOST_TEST(value == again.next());
  BOOST_TEST(value != second.next());
  BOOST_TEST(parent.next() == untouched.next());
}

BOOST_AUTO_TEST_CASE(one_in_n_happens_once_in_n_calls_on_average) {
  random_stream random(3);
  int hits = 0;
  for (int i = 0; i < 10'000; ++i)
    hits += random.one_in(10) ? 1 : 0;
  BOOST_TEST(hits > 800);
  BOOST_TEST(hits < 1200);
}
