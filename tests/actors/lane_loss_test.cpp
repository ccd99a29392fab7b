#define BOOST_TEST_MODULE lane_loss
#include <boost/test/unit_test.hpp>

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "runtime/random.hpp"
#include "tests/actors/open_ranks.hpp"

namespace troupe::test {
namespace {

using namespace std::chrono_literals;

/// Descriptors of this process that are connected sockets of the internet.
std::set<int> connected_sockets() {
  std::set<int> out;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int number = std::stoi(entry.path().filename().string());
    sockaddr_storage peer{};
    socklen_t length = sizeof peer;
    if (::getpeername(number, reinterpret_cast<sockaddr*>(&peer), &length) != 0) continue;
    if (peer.ss_family == AF_INET || peer.ss_family == AF_INET6) out.insert(number);
  }
  return out;
}

bool reduce_once(communicator& c, std::size_t count, float value) {
  std::vector<float> data(count, value);
  const auto work = c.all_reduce({.send = data.data(), .receive = data.data(), .count = count});
  if (!work || !(*work)->wait(20s).has_value()) return false;
  const float sum = value * static_cast<float>(c.size());
  return std::all_of(data.begin(), data.end(), [&](float each) { return each == sum; });
}

std::uint64_t rebuilt(const std::vector<open_rank>& ranks) {
  std::uint64_t sum = 0;
  for (const auto& r : ranks)
    sum += r.host->operation_statistics().lanes_rebuilt.get();
  return sum;
}

BOOST_AUTO_TEST_CASE(sockets_that_break_under_load_are_replaced_and_no_operation_notices) {
  auto ranks = open_ranks(2, {{"transport.lanes", "tcp"}, {"transport.data_lane_count", "3"}});
  for (const auto& r : ranks)
    BOOST_REQUIRE(r.world);
  std::atomic<int> wrong{0};
  std::atomic<bool> stop{false};
  const auto on_both = [&](auto call) {
    std::thread other([&] { call(*ranks[1].world); });
    call(*ranks[0].world);
    other.join();
  };
  const auto of_bootstrap = connected_sockets();
  on_both([&](communicator& c) { wrong += !reduce_once(c, 16, 1.0f); });
  std::thread breaker([&] {
    random_stream draw(7);
    const auto end = std::chrono::steady_clock::now() + 20s;
    // Each break takes a lane of either rank down; one at a time, so that the link lives.
    for (std::uint64_t broken = 1; broken <= 8 && std::chrono::steady_clock::now() < end;) {
      std::vector<int> lanes;
      for (const int each : connected_sockets())
        if (!of_bootstrap.contains(each)) lanes.push_back(each);
      if (lanes.size() == 8) {
        ::shutdown(lanes[draw.below(lanes.size())], SHUT_RDWR);
        // Both ends have the new one.
        while (rebuilt(ranks) < 2 * broken && std::chrono::steady_clock::now() < end)
          std::this_thread::sleep_for(1ms);
        ++broken;
      }
      std::this_thread::sleep_for(2ms);
    }
    stop = true;
  });
  on_both([&](communicator& c) {
    // Rank 0 says when it is over: all ranks make the same calls.
    for (float value = 1;; ++value) {
      wrong += !reduce_once(c, 3'000'000, value);
      float over = c.rank().value == 0 && stop ? 1.0f : 0.0f;
      const auto work = c.broadcast({.buffer = &over, .count = 1, .root = rank{0}});
      wrong += !work || !(*work)->wait(20s).has_value();
      if (over != 0 || wrong != 0) break;
    }
  });
  breaker.join();
  BOOST_TEST(wrong.load() == 0);
  BOOST_TEST(rebuilt(ranks) == 16u);
  for (const auto& r : ranks)
    BOOST_TEST(r.host->operation_statistics().links_lost.get() == 0u);
}

}  // namespace
}  // namespace troupe::test
