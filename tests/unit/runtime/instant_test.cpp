#define BOOST_TEST_MODULE instant
#include "runtime/instant.hpp"

#include <boost/test/unit_test.hpp>

using troupe::duration;
using troupe::instant;
using troupe::never;
using troupe::saturating_add;

BOOST_AUTO_TEST_CASE(a_sum_that_fits_is_the_sum) {
  BOOST_TEST((saturating_add(instant{duration{5}}, duration{7}) == instant{duration{12}}));
  BOOST_TEST((saturating_add(instant{duration{5}}, duration{-7}) == instant{duration{-2}}));
}

BOOST_AUTO_TEST_CASE(a_sum_past_the_end_is_never) {
  BOOST_TEST((saturating_add(instant{duration{5}}, duration::max()) == never));
  BOOST_TEST((saturating_add(never, duration{1}) == never));
  BOOST_TEST((saturating_add(never - duration{1}, duration{2}) == never));
}

BOOST_AUTO_TEST_CASE(the_last_instant_before_never_is_reachable) {
  const auto last = never - duration{1};
  BOOST_TEST((saturating_add(last - duration{5}, duration{5}) == last));
}
