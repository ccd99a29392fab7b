#define BOOST_TEST_MODULE bounce_pool
#include "net/registration/bounce_pool.hpp"

#include <boost/test/unit_test.hpp>
#include <set>

namespace troupe::net {
namespace {

BOOST_AUTO_TEST_CASE(places_do_not_overlap_and_are_bounded) {
  bounce_pool pool(4096, 8);
  std::set<std::uint64_t> taken;
  for (int i = 0; i < 8; ++i) {
    const auto place = pool.take();
    BOOST_REQUIRE(place.has_value());
    BOOST_TEST(*place % 4096 == 0u);
    BOOST_TEST(*place < 8u * 4096);
    BOOST_TEST(taken.insert(*place).second);
  }
  BOOST_TEST(!pool.take().has_value());
  BOOST_TEST(pool.refused_total() == 1u);
  BOOST_TEST(pool.taken_count() == 8u);
}

BOOST_AUTO_TEST_CASE(a_place_that_came_back_is_taken_next) {
  bounce_pool pool(64, 3);
  const auto first = *pool.take();
  const auto second = *pool.take();
  pool.give_back(first);
  BOOST_TEST(*pool.take() == first);
  pool.give_back(second);
  BOOST_TEST(pool.taken_count() == 1u);
  BOOST_TEST(pool.taken_count_max() == 2u);
}

}  // namespace
}  // namespace troupe::net
