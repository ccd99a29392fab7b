#define BOOST_TEST_MODULE bootstrap_scale
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "tests/sim/net/bootstrap_world.hpp"

using namespace troupe;
using namespace troupe::net;
using namespace troupe::sim;
using namespace std::chrono_literals;

namespace {

struct measured {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t most_messages = 0;
  std::uint64_t most_bytes = 0;
  std::uint64_t pages = 0;
  std::uint32_t fan_in = 0;
  instant joined{};
};

bootstrap_options options_of(std::uint32_t r, std::uint32_t world_size, std::uint32_t fan_out) {
  bootstrap_options o;
  o.self = rank{r};
  o.world_size = world_size;
  o.rendezvous = address_of(0);
  o.secret.assign(16, std::byte{7});
  o.crypto = {quick_mac, quick_equal};
  o.place = {.host = r / 8 + 1};
  o.rendezvous_fan_out = fan_out;
  return o;
}

measured join(std::uint32_t world_size, std::uint32_t fan_out) {
  bootstrap_world world(1, {.delay_min = 20us, .delay_max = 60us});
  for (std::uint32_t r = 0; r < world_size; ++r)
    world.add_process(options_of(r, world_size, fan_out), r, instant{});
  BOOST_REQUIRE(world.run(instant{} + 600s, 10'000'000));
  measured m;
  for (std::uint32_t r = 0; r < world_size; ++r) {
    const auto& p = world.process(r);
    BOOST_REQUIRE_MESSAGE(p.joined_at != never, "rank " << r << ": " << p.reason.message);
    BOOST_REQUIRE((p.state.book == world.process(0).state.book));
    const auto& c = p.state.counters;
    m.joined = std::max(m.joined, p.joined_at);
    m.messages += c.messages_sent;
    m.bytes += c.bytes_sent;
    m.most_messages = std::max(m.most_messages, c.messages_sent);
    m.most_bytes = std::max(m.most_bytes, c.bytes_sent);
    m.fan_in = std::max(m.fan_in, c.connections_peak);
    m.pages += c.pages_sent;
  }
  for (std::uint32_t r = 0; r < world_size; ++r)
    BOOST_REQUIRE((world.process(0).state.book.at(rank{r}) ==
                   book_entry{address_of(r), {.host = r / 8 + 1}}));
  BOOST_TEST(world.deepest_lane() <= bootstrap_lane_depth_min);
  BOOST_TEST_MESSAGE(world_size << " ranks, fan-out " << fan_out << ": joined after "
                                << static_cast<double>(to_nanoseconds(m.joined)) * 1e-6
                                << " ms of virtual time; per rank " << m.messages / world_size
                                << " messages and " << m.bytes / world_size
                                << " bytes sent, at most " << m.most_messages << " and "
                                << m.most_bytes << "; largest fan-in " << m.fan_in);
  return m;
}

std::uint64_t page_count(std::uint64_t world_size) {
  return (world_size + page_entry_count - 1) / page_entry_count;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_thousand_ranks_join_with_the_stated_messages) {
  const std::uint64_t n = 1024;
  const auto m = join(n, 1024);
  const auto blocks = page_count(n);
  BOOST_TEST(m.pages == blocks * (n - 1) + n - blocks);
  // Everybody but rank 0: hello, proof, register; hello, proof, open; challenge, verdict; pages
  // and an acknowledgement for every fourth.
  const auto usual = 8 + blocks + 1 + (blocks + 1) / 4;
  // Rank 0 answers everybody: challenge, verdict, assigned.
  BOOST_TEST(m.messages <= n * usual + 3 * (n - 1));
  BOOST_TEST(m.most_messages <= usual + 3 * (n - 1));
  BOOST_TEST(m.fan_in <= n + 2);
}

BOOST_AUTO_TEST_CASE(four_thousand_ranks_join_through_a_tree_of_64) {
  const std::uint64_t n = 4096;
  const std::uint64_t fan_out = 64;
  const auto m = join(n, fan_out);
  const auto blocks = page_count(n);
  BOOST_TEST(m.pages == blocks * (n - 1) + n - blocks);
  // Its group, two ring connections, its own dial, and those who ask it at the same moment.
  BOOST_TEST(m.fan_in <= fan_out + 32);
  const auto usual = 12 + blocks + 1 + (blocks + 1) / 4;
  BOOST_TEST(m.messages <= n * (usual + 8));
  // Rank 0 is asked by everybody, once or twice: challenge, verdict, one word.
  BOOST_TEST(m.most_messages <= usual + 3 * 2 * n);
  BOOST_TEST(m.bytes / n <= blocks * 1004 + 1500 + 3 * 60);
}
