#include "tests/actors/local_job.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>

namespace troupe::test {

namespace {

bool can_be_bound(std::uint16_t port) {
  const int s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  ::setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  const bool bound = ::bind(s, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  ::close(s);
  return bound;
}

}  // namespace

// Below the range from which the system takes ports for those who want any: the other ranks do, and
// one of them would get this very port once in so many thousand jobs, before rank 0 listens on it.
std::uint16_t free_port() {
  constexpr std::uint32_t first = 16'000, count = 16'000;
  static std::atomic<std::uint32_t> next{static_cast<std::uint32_t>(::getpid()) * 127};
  for (std::uint32_t tried = 0; tried < count; ++tried) {
    const auto port = static_cast<std::uint16_t>(first + next++ % count);
    if (can_be_bound(port)) return port;
  }
  return 0;
}

local_job join_locally(std::uint32_t count,
                       std::vector<std::pair<std::string, std::string>> settings) {
  local_job job;
  job.ranks.resize(count);
  job.failures.resize(count);
  const auto rendezvous = "127.0.0.1:" + std::to_string(free_port());
  std::vector<std::thread> threads;
  for (std::uint32_t r = 0; r < count; ++r)
    threads.emplace_back([&, r] {
      communicator_options options;
      options.rank = r;
      options.world_size = count;
      options.rendezvous = rendezvous;
      options.settings = settings;
      auto joined = join(options);
      if (joined)
        job.ranks[r] = std::move(*joined);
      else
        job.failures[r] = joined.error();
    });
  for (auto& t : threads)
    t.join();
  return job;
}

}  // namespace troupe::test
