#include "tests/actors/local_job.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace troupe::test {

std::uint16_t free_port() {
  const int s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ::bind(s, reinterpret_cast<sockaddr*>(&address), sizeof address);
  socklen_t length = sizeof address;
  ::getsockname(s, reinterpret_cast<sockaddr*>(&address), &length);
  ::close(s);
  return ntohs(address.sin_port);
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
