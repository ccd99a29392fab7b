#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/communicator.hpp"

namespace troupe::test {

/// A whole job in one process: every rank an endpoint of its own with its own worker thread, over
/// real sockets on loopback.
struct local_job {
  std::vector<std::unique_ptr<communicator>> ranks;
  std::vector<failure> failures;  ///< by rank; code ok for those that joined

  communicator& operator[](std::size_t r) { return *ranks[r]; }
  std::size_t size() const { return ranks.size(); }
};

/// A port of loopback that was free a moment ago.
std::uint16_t free_port();

/// Joins `count` ranks, each from a thread of its own.
local_job join_locally(std::uint32_t count,
                       std::vector<std::pair<std::string, std::string>> settings = {});

/// Runs `call(rank)` on one thread a rank and waits for all.
template <class Call>
void on_all_ranks(local_job& job, Call call) {
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < job.size(); ++r)
    threads.emplace_back([&, r] { call(r); });
  for (auto& t : threads)
    t.join();
}

}  // namespace troupe::test
