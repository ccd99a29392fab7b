#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/errc.hpp"
#include "runtime/instant.hpp"
#include "runtime/operation.hpp"
#include "runtime/strong_types.hpp"

namespace troupe {

/// Where an operation of one rank stands. Numbers appear in dumps: stable.
enum class operation_phase : std::uint8_t {
  pending = 0,  ///< called; waits for its turn or for memory
  current = 1,  ///< runs its algorithm
  past = 2,     ///< ended, well or not
};

std::string_view to_string(operation_phase phase);

/// Peers that a record names as waited for; more are only counted.
inline constexpr std::size_t named_wait_count = 6;

/// What one rank remembers of one operation: its collective trace is a bounded number of these.
///
/// Trivially copyable, so that it can be read while its writer goes on. Instants are of the
/// endpoint's worker, taken when the worker looked at its clock last; `instant{}` is "not yet".
struct operation_record {
  std::uint64_t serial = 0;  ///< counts the operations of the endpoint from 1
  operation_number number;
  communicator_id communicator;
  troupe::epoch epoch;
  rank self;            ///< as member of the communicator
  rank peer = no_rank;  ///< member; operations between two ranks alone
  operation_signature signature;
  std::uint64_t bytes = 0;            ///< of the larger buffer
  std::uint64_t threshold_bytes = 0;  ///< input of the choice of the algorithm; 0 if none
  std::uint32_t ranks = 0;            ///< size of the communicator
  std::uint32_t contributors = 0;     ///< whose input is in the result; 0 until it ended well
  troupe::algorithm algorithm = troupe::algorithm::none;
  lane_kind lanes = lane_kind::none;
  choice_reason reason = choice_reason::only_algorithm;
  operation_phase phase = operation_phase::pending;
  errc failed = errc::ok;           ///< what it ended in
  rank failed_peer = no_rank;       ///< member that the failure names
  std::uint32_t open_accepts = 0;   ///< transfers to come from peers, when last looked
  std::uint32_t open_puts = 0;      ///< transfers to go to peers, when last looked
  instant queued{};                 ///< the rank took the call
  instant started{};                ///< its algorithm began
  instant first_byte{};             ///< its first transfer with a peer ended
  instant last_byte{};              ///< its last one so far did
  instant ended{};                  ///< its work was done
  instant deadline = never;         ///< when the watchdog ends it
  duration waited_for_peers{};      ///< started, and some peer's transfer had not come
  duration waited_for_sending{};    ///< all that was to come had come, and transfers had to go
  duration waited_for_resources{};  ///< called, and waiting for its turn or for staging memory
  instant looked{};                 ///< when `open_...` and `waits_for` were noted
  std::array<rank, named_wait_count> waits_for{};  ///< world ranks of open transfers, oldest first
  std::uint32_t waits_for_count = 0;               ///< distinct ones, unnamed ones included

  std::span<const rank> named_waits() const {
    return {waits_for.data(),
            waits_for_count < named_wait_count ? waits_for_count : named_wait_count};
  }

  // Derived; zero where an end is missing.
  duration queueing() const { return between(queued, started); }
  duration execution() const { return between(started, ended); }

 private:
  static constexpr duration between(instant from, instant to) {
    return from == instant{} || to == instant{} ? duration{} : to - from;
  }
};

}  // namespace troupe
