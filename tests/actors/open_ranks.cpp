#include "tests/actors/open_ranks.hpp"

#include <thread>

#include "tests/actors/local_job.hpp"

namespace troupe::test {

std::vector<open_rank> open_ranks(
    std::uint32_t count, const std::vector<std::pair<std::string, std::string>>& settings) {
  std::vector<open_rank> ranks(count);
  const auto rendezvous = "127.0.0.1:" + std::to_string(free_port());
  std::vector<std::thread> threads;
  for (std::uint32_t r = 0; r < count; ++r)
    threads.emplace_back([&, r] {
      communicator_options options;
      options.rank = r;
      options.world_size = count;
      options.rendezvous = rendezvous;
      options.settings = settings;
      auto host = actors::endpoint_host::open(options);
      if (!host) return;
      auto seat = (*host)->join();
      if (!seat) return;
      ranks[r].host = *host;
      ranks[r].world = std::make_unique<actors::communicator_handle>(*host, *seat);
    });
  for (auto& t : threads)
    t.join();
  return ranks;
}

}  // namespace troupe::test
