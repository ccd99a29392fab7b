#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/communicator/communicator_handle.hpp"
#include "actors/endpoint/endpoint_host.hpp"

namespace troupe::test {

/// A rank of a job in this process, with what the public interface hides: its counters.
struct open_rank {
  std::shared_ptr<actors::endpoint_host> host;
  std::unique_ptr<actors::communicator_handle> world;
};

/// Joins `count` ranks over loopback, each from a thread of its own. No `world` for one that could
/// not join.
std::vector<open_rank> open_ranks(std::uint32_t count,
                                  const std::vector<std::pair<std::string, std::string>>& settings);

}  // namespace troupe::test
