#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <vector>

#include "actors/collective/collective_messages.hpp"
#include "actors/endpoint/scratch_pool.hpp"
#include "actors/rank/membership.hpp"
#include "actors/rank/rank_messages.hpp"
#include "actors/trace/flight_board.hpp"
#include "actors/trace/trace_machine.hpp"
#include "actors/work/work_state.hpp"
#include "runtime/instant.hpp"
#include "runtime/result.hpp"

namespace troupe::actors {

/// One operation that a rank actor started, as everybody on the worker may read it: the collective
/// that runs it, the links that report to it, the watchdog that watches it.
struct operation_entry {
  explicit operation_entry(std::pmr::memory_resource* memory) : open(memory) {}

  std::shared_ptr<work_state> work;
  std::shared_ptr<const membership> members;
  communicator_id communicator;
  troupe::epoch epoch;
  rank self;
  operation_number number;
  rank_actor owner;
  collective_actor runner;
  std::shared_ptr<communicator_progress> progress;
  operation_trace trace;
  instant deadline = never;
  /// The oldest collective of its communicator: it never waits for memory, nor for its turn.
  bool may_overdraw_scratch = false;
  std::uint16_t generation = 0;
  bool live = false;
  bool stopping = false;
  bool ended = false;  ///< its work is done; the rank actor closes the entry
  /// A peer (world rank) whose link said that it ended this operation early; `no_rank` if none. Why
  /// it did is on its way as a failure notice.
  rank gave_up = no_rank;

  /// What the operation waits for, for the watchdog's message: open transfers, oldest first.
  struct open_transfer {
    rank peer;  ///< world rank
    std::uint32_t step = 0;
    bool is_put = false;
  };
  std::pmr::vector<open_transfer> open;

  /// What an operation keeps between its attempts in one epoch after another.
  struct promise_kept {
    std::optional<scratch_pool::block> saved_block;
    buffer_view saved_input;             ///< of an operation in place
    bool saved = false;                  ///< the input is there, and the buffer may be written to
    std::shared_ptr<const failure> why;  ///< why the last attempt ended
  };
  std::optional<promise_kept> promise;  ///< of an operation that keeps docs/protocols/ftar.md

  // The operation's entries in the buffer table, released by whoever ends the operation.
  std::optional<buffer_id> send_buffer;
  std::optional<buffer_id> receive_buffer;
  std::optional<scratch_pool::block> scratch;
};

/// Notes in the operation's record whom it waits for now.
void look_at_waits(operation_entry& entry, instant now);

/// The running operations of one endpoint.
///
/// Bound:  `capacity` operations; each communicator bounds its own share before.
/// Thread: the worker only.
class operation_table {
 public:
  operation_table(std::uint16_t capacity, std::pmr::memory_resource* memory)
      : capacity_(capacity), entries_(memory), free_(memory) {}

  /// Errors: queue_full if `capacity` operations run.
  result<operation_slot> open();

  void close(operation_slot slot);

  /// Null if the operation ended.
  operation_entry* find(operation_slot slot);

  std::pmr::vector<operation_entry>& entries() { return entries_; }
  std::uint32_t live_count() const { return live_count_; }

 private:
  std::uint16_t capacity_;
  std::uint32_t live_count_ = 0;
  std::pmr::vector<operation_entry> entries_;
  std::pmr::vector<std::uint16_t> free_;
};

/// A link's token for one transfer: operation and step in one word.
constexpr std::uint64_t transfer_token(operation_slot slot, std::uint32_t step) {
  return static_cast<std::uint64_t>(slot.index) << 48 |
         static_cast<std::uint64_t>(slot.generation) << 32 | step;
}

constexpr operation_slot slot_of(std::uint64_t token) {
  return {static_cast<std::uint16_t>(token >> 48), static_cast<std::uint16_t>(token >> 32)};
}

constexpr std::uint32_t step_of(std::uint64_t token) {
  return static_cast<std::uint32_t>(token);
}

}  // namespace troupe::actors
