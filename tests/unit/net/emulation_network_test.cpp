#define BOOST_TEST_MODULE net_emulation_network
#include <boost/test/unit_test.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tests/unit/net/emulated_node.hpp"

namespace {

using namespace troupe::net;
using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

constexpr std::string_view network = "tier same_host latency 3ms bandwidth 1Gbit/s queue 300KiB\n";

// The environment is read at the first call of verbs.
struct network_of_process {
  network_of_process() {
    const int file = ::memfd_create("network", 0);
    BOOST_REQUIRE(::write(file, network.data(), network.size()) ==
                  static_cast<ssize_t>(network.size()));
    ::setenv("TROUPE_EMULATION_NETWORK", ("/proc/self/fd/" + std::to_string(file)).c_str(), 1);
  }
};

struct pair_of_nodes {
  emulated_node sender;
  emulated_node receiver;

  explicit pair_of_nodes(std::uint8_t timeout) {
    sender.timeout = timeout;
    sender.retry_count = 7;
    connect(sender, receiver);
  }

  void write(std::size_t bytes) {
    auto wr = sender.aimed(IBV_WR_RDMA_WRITE, 1, receiver);
    BOOST_TEST(sender.post(wr, {sender.piece(0, bytes)}) == 0);
  }
};

ibv_wc_status status_of(emulated_node& node) {
  const auto done = node.completion();
  BOOST_REQUIRE(done);
  return done->status;
}

}  // namespace

BOOST_TEST_GLOBAL_FIXTURE(network_of_process);

BOOST_AUTO_TEST_CASE(an_answer_takes_the_latency_twice) {
  pair_of_nodes nodes(14);
  const auto start = clock_type::now();
  nodes.write(8);
  BOOST_TEST(status_of(nodes.sender) == IBV_WC_SUCCESS);
  BOOST_TEST((clock_type::now() - start >= 6ms));
}

BOOST_AUTO_TEST_CASE(bytes_pass_at_the_rate_of_the_wire) {
  pair_of_nodes nodes(14);
  const auto start = clock_type::now();
  for (int i = 0; i < 4; ++i)
    nodes.write(1'000'000);
  for (int i = 0; i < 4; ++i)
    BOOST_TEST(status_of(nodes.sender) == IBV_WC_SUCCESS);
  BOOST_TEST((clock_type::now() - start >= 38ms));  // 32 ms of bytes
}

BOOST_AUTO_TEST_CASE(a_timeout_shorter_than_the_wire_runs_out_of_retries) {
  pair_of_nodes nodes(6);  // 0.26 ms, eight times
  nodes.write(8);
  BOOST_TEST(status_of(nodes.sender) == IBV_WC_RETRY_EXC_ERR);
}
