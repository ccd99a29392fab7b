#pragma once

#include <cstdint>
#include <span>

#include "runtime/instant.hpp"
#include "runtime/operation_record.hpp"

namespace troupe::actors {

/// What an operation waits for, of the things that are told apart.
enum class wait_reason : std::uint8_t {
  nothing,    ///< its own byte work goes on, or it ended
  peers,      ///< a transfer that a peer has to make
  sending,    ///< nothing is to come any more; transfers of its own are on their way
  resources,  ///< its turn, or staging memory
};

/// The record of one running operation, and what its waits are counted from.
struct operation_trace {
  operation_record record;
  wait_reason waits = wait_reason::nothing;
  instant waits_since{};
};

// -- events ---------------------------------------------------------------------------------------

/// The rank took the call; the fields that name the operation are in the record.
struct operation_queued {
  instant deadline = never;
};

/// Its algorithm begins on this path.
struct operation_began {
  operation_path path;
};

/// A transfer with a peer ended well.
struct transfer_finished {};

/// Whatever it waits for may have changed; `byte_jobs`: copies and reductions under way.
struct operation_stepped {
  std::uint32_t byte_jobs = 0;
};

/// Somebody looked which world ranks it waits for, in the order of their transfers; a rank may come
/// more than once.
struct waits_looked_at {
  std::span<const rank> peers;
};

struct operation_finished {
  errc failed = errc::ok;
  rank peer = no_rank;  ///< member that the failure names
};

/// What one running operation is doing, as a record: no effects, its owner publishes the record.
/// Counts of open transfers are the owner's to keep in the record.
void step(operation_trace& trace, const operation_queued& event, instant now);
void step(operation_trace& trace, const operation_began& event, instant now);
void step(operation_trace& trace, const transfer_finished& event, instant now);
void step(operation_trace& trace, const operation_stepped& event, instant now);
void step(operation_trace& trace, const waits_looked_at& event, instant now);
void step(operation_trace& trace, const operation_finished& event, instant now);

}  // namespace troupe::actors
