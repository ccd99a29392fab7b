#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/communicator.hpp"
#include "runtime/instant.hpp"
#include "runtime/memory_ledger.hpp"
#include "runtime/operation.hpp"
#include "runtime/result.hpp"

namespace troupe {

/// One collective of many ranks in the simulated world: one thread, virtual time, a seeded order
/// of everything that may happen in any order.
struct simulation_options {
  std::uint32_t rank_count = 64;
  std::uint64_t seed = 1;
  operation_signature operation{operation_kind::all_reduce, data_type::float32, reduction::sum, 0,
                                1024};
  std::uint32_t repetition_count = 1;
  operation_options call;
  duration latency = std::chrono::microseconds(5);     ///< of every simulated wire, one way
  std::uint64_t bytes_per_second = 25'000'000'000ull;  ///< of every simulated wire, one way
  duration virtual_limit = std::chrono::seconds(600);  ///< the run fails past this virtual time
  std::vector<std::pair<std::string, std::string>> settings;  ///< as communicator_options
};

/// What a simulated run did.
struct simulation_report {
  duration join_time{};                   ///< virtual time until the last rank had joined
  duration operation_time{};              ///< virtual time of all repetitions
  std::uint64_t actor_messages = 0;       ///< handled by all actors, joining included
  std::uint64_t operation_messages = 0;   ///< handled by all actors during the operations
  std::uint64_t wire_messages = 0;        ///< control messages on all lanes
  std::uint64_t wire_segments = 0;        ///< writes on all lanes
  std::uint64_t wire_bytes = 0;           ///< bytes of all writes
  std::uint32_t largest_fan_in = 0;       ///< most connections that any one rank held at once
  std::uint64_t wrong_elements = 0;       ///< outputs that differ from the expected ones
  std::uint64_t trace_hash = 0;           ///< equal for equal options and equal program
  operation_path path;                    ///< of rank 0's last operation
  std::vector<memory_usage> idle_memory;  ///< by rank, when all had joined
  std::vector<memory_usage> used_memory;  ///< by rank, after the operations
};

/// Runs `options` with the real actors. Errors: bad_argument, bad_configuration, or the failure of
/// the first operation that failed, with its rank.
/// Thread: any; runs on the caller's.
outcome<simulation_report> simulate(const simulation_options& options);

}  // namespace troupe
