#pragma once

#include <cstdint>
#include <string>

#include "runtime/instant.hpp"

namespace troupe::config {

/// Communicators that go on without members that end. Section [fault_tolerance].
struct fault_tolerance_options {
  std::string world = "fail";  ///< "fail" or "continue"
  duration patience = std::chrono::milliseconds(50);
  duration succession = std::chrono::milliseconds(150);
  duration decision = std::chrono::seconds(5);
  std::string invitation = {};  ///< text from `communicator::invite`
  std::string exit_board = {};  ///< file in which a launcher notes which ranks ended
  std::uint64_t chunk_bytes = 8 * 1024 * 1024;
  std::uint32_t chunk_count = 4;

  bool world_continues() const { return world == "continue"; }
};

}  // namespace troupe::config
