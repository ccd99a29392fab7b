#define BOOST_TEST_MODULE tier_budget_machine
#include <boost/test/unit_test.hpp>

#include <map>

#include "net/dqplb/tier_budget_machine.hpp"
#include "runtime/random.hpp"

namespace troupe::net {
namespace {

tier_state make(std::uint64_t cap, std::uint64_t lease) {
  tier_state s;
  s.cap_bytes = cap;
  s.lease_bytes = lease;
  return s;
}

tier_effects run(tier_state& s, const tier_event& e) {
  tier_effects out;
  step(s, e, out);
  return out;
}

BOOST_AUTO_TEST_CASE(a_grant_is_at_most_one_lease) {
  auto s = make(100, 10);
  const auto out = run(s, lease_wanted{1, 50});
  BOOST_REQUIRE(out.size() == 1u);
  BOOST_TEST(out[0].bytes == 10u);
}

BOOST_AUTO_TEST_CASE(a_link_that_holds_nothing_is_served_even_above_the_cap) {
  auto s = make(5, 10);
  BOOST_TEST(run(s, lease_wanted{1, 10}).size() == 1u);
  BOOST_TEST(run(s, lease_wanted{2, 10}).size() == 1u);
  BOOST_TEST(run(s, lease_wanted{1, 10}).empty());
  BOOST_TEST(s.throttled_total == 1u);
}

BOOST_AUTO_TEST_CASE(what_comes_back_serves_those_who_wait_in_order) {
  auto s = make(20, 10);
  run(s, lease_wanted{1, 10});
  run(s, lease_wanted{2, 10});
  BOOST_TEST(run(s, lease_wanted{1, 10}).empty());
  BOOST_TEST(run(s, lease_wanted{2, 10}).empty());
  const auto out = run(s, lease_returned{2, 10});
  BOOST_REQUIRE(out.size() == 2u);
  BOOST_TEST(out[0].link == 1u);
  BOOST_TEST(out[1].link == 2u);  // holds nothing now, so it is served above the cap
}

BOOST_AUTO_TEST_CASE(a_link_that_is_gone_gives_everything_back) {
  auto s = make(10, 10);
  run(s, lease_wanted{1, 10});
  run(s, lease_wanted{1, 10});
  BOOST_TEST(run(s, link_gone{1}).empty());
  BOOST_TEST(s.held_bytes == 0u);
  BOOST_TEST(s.waiting.empty());
}

BOOST_AUTO_TEST_CASE(books_balance_and_nobody_waits_beside_free_budget_under_random_traffic) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    random_stream draw(seed);
    auto s = make(draw.between(1, 100), draw.between(1, 40));
    std::map<std::uint64_t, std::uint64_t> held;
    std::uint64_t granted = 0;
    for (int i = 0; i < 60; ++i) {
      const auto link = draw.below(5);
      tier_effects out;
      if (const auto way = draw.below(5); way < 3) {
        out = run(s, lease_wanted{link, draw.between(1, 50)});
      } else if (way == 3) {
        const auto back = held[link] == 0 ? 0 : draw.between(0, held[link]);
        held[link] -= back;
        out = run(s, lease_returned{link, back});
      } else {
        held[link] = 0;
        out = run(s, link_gone{link});
      }
      for (const auto& grant : out) {
        held[grant.link] += grant.bytes;
        granted += grant.bytes;
      }
      std::uint64_t sum = 0;
      for (const auto& [l, bytes] : held)
        sum += bytes;
      BOOST_REQUIRE(s.held_bytes == sum);
      BOOST_REQUIRE(s.waiting.size() <= 5u);
      BOOST_REQUIRE(sum <= s.cap_bytes + 5 * s.lease_bytes);
      if (sum == 0) BOOST_REQUIRE(s.waiting.empty());
    }
    BOOST_REQUIRE(granted == s.granted_total);
  }
}

}  // namespace
}  // namespace troupe::net
