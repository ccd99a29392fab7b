#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/domain/meeting.hpp"

namespace troupe::test {

/// How the members of a domain live.
enum class living { in_processes, in_one_process };

const char* to_string(living how);

/// One member: a process, or a thread, with a GPU of its own where there are enough.
struct member {
  std::uint32_t rank = 0;
  std::uint32_t size = 0;
  int device = 0;
  kernels::meeting* others = nullptr;

  /// Waits for all members.
  /// Errors: timed_out.
  outcome<void> gather() const;
  /// What each of them says, by rank.
  std::vector<double> all_say(double mine) const;
};

/// What a member does; what went wrong, or nothing.
using member_body = std::function<std::string(member&)>;

/// How many GPUs there are, asked by a process of its own: whoever forks must not have used CUDA.
int visible_devices();

/// Runs `size` members to their end in processes that are children of this one, which stays without
/// CUDA. Whoever is not through at the deadline is killed and reported: a hang is a failure, too.
/// What went wrong at which member; empty if nothing did.
std::string run_members(living how, std::uint32_t size, std::chrono::seconds deadline,
                        const member_body& body);

}  // namespace troupe::test
