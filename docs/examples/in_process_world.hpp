#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/communicator.hpp"

namespace examples {

struct in_process_options {
  std::uint32_t size = 1;
  /// Every work ends a while after its last member has called, up to this long, drawn anew for
  /// each member: nothing that a member sees early, another is sure to see.
  troupe::duration longest_delay = std::chrono::microseconds(500);
  std::uint64_t seed = 1;
};

/// The members of a world inside one process, each for a thread of its own: a stand-in for
/// `troupe::join` with which a test of a trainer needs no sockets. Has all_reduce by
/// recursive doubling (which the call must name), all_gather, reduce_scatter (float32 sums) and
/// split; everything else answers not_available. Members that call different operations get
/// `mismatch`.
std::vector<std::unique_ptr<troupe::communicator>> make_in_process_world(
    const in_process_options& options);

}  // namespace examples
