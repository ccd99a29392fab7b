#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <variant>
#include <vector>

#include "runtime/error.hpp"
#include "runtime/operation.hpp"

namespace troupe::actors {

// Member ranks throughout, except where a name says `world`.

// -- events ---------------------------------------------------------------------------------------

/// The trainer called an operation; `slot` names it until `operation_ended`.
struct operation_called {
  std::uint32_t slot = 0;
  operation_signature signature;
  rank peer = no_rank;  ///< send and receive: the other side
};

/// The collective of `slot` is done; `why.code()` is ok or its failure.
struct operation_ended {
  std::uint32_t slot = 0;
  failure why;
};

/// A member told us that the communicator failed.
struct failure_heard {
  failure why;
};

/// A peer's transfer has waited here for a while and matches no call of ours.
struct unmatched_heard {
  rank peer;
  operation_number operation;
  operation_signature theirs;
};

/// A member's process ended.
struct member_lost {
  rank member;
  failure why;
};

/// A link to a member opened: it may not know yet that we failed.
struct member_connected {
  rank member;
};

struct abort_called {};

/// The epoch that these operations belong to is over: they all end with `why`. Answered by
/// `report_ended` when nothing of it runs any more.
struct epoch_ending {
  failure why;
};
struct finalize_called {};

using rank_event =
    std::variant<operation_called, operation_ended, failure_heard, unmatched_heard, member_lost,
                 member_connected, abort_called, epoch_ending, finalize_called>;

// -- effects --------------------------------------------------------------------------------------

/// Start the collective of `slot` as operation `number`.
struct start_operation {
  std::uint32_t slot = 0;
  operation_number number;
};

/// End the work of `slot`, which never started.
struct refuse_operation {
  std::uint32_t slot = 0;
  failure why;
};

/// Stop the running collective of `slot`: its work ends with `why`.
struct stop_operation {
  std::uint32_t slot = 0;
  failure why;
};

/// Tell every connected member that the communicator failed.
struct spread_failure {
  failure why;
};

/// Tell this member that the communicator failed.
struct tell_failure {
  rank member;
  failure why;
};

/// Nothing runs any more and nothing will: `finalize` is answered.
struct report_finalized {};

/// Nothing runs any more in this epoch. Answer to `epoch_ending`.
struct report_ended {};

using rank_effect = std::variant<start_operation, refuse_operation, stop_operation, spread_failure,
                                 tell_failure, report_finalized, report_ended>;

/// Grows with what runs: a failure stops everything at once. Control path.
using rank_effects = std::vector<rank_effect>;

// -- the machine ----------------------------------------------------------------------------------

/// Point-to-point operations number themselves per pair of ranks and direction, apart from the
/// collectives: bit 63 is set.
inline constexpr std::uint64_t point_to_point_bit = 1ull << 63;

/// Neither all members call it, nor in the same order.
constexpr bool is_collective(operation_number number) {
  return (number.value & (point_to_point_bit | one_sided_bit)) == 0;
}

/// Operations that keep the promise of docs/protocols/ftar.md are numbered across epochs, apart
/// from the others of their communicator: bit 60 is set, which no other number reaches.
inline constexpr std::uint64_t promised_bit = 1ull << 60;

/// What a text shows of a number: the calls of its kind.
constexpr std::uint64_t shown(operation_number number) {
  if ((number.value & point_to_point_bit) != 0) return number.value & ~point_to_point_bit;
  if ((number.value & one_sided_bit) != 0) return number.value & one_sided_call_mask;
  return number.value & ~promised_bit;
}

/// One member of one communicator: numbers operations, remembers what it called, and makes the
/// first failure final.
///
/// A communicator fails as a whole: after an operation ended in an error its members can no longer
/// agree which operations happened, so every running and later operation ends with that first
/// error, here and at all members it reaches. In a fault-tolerant communicator that holds for one
/// epoch: each has a state of its own, and operations with a promise are epoch_machine's.
struct rank_state {
  /// What the state remembers comes from `memory`.
  explicit rank_state(std::pmr::memory_resource* memory = std::pmr::get_default_resource())
      : sends(memory), receives(memory), running(memory), history(memory), early(memory) {}

  rank self;
  std::uint32_t size = 1;

  operation_number last_collective{0};
  std::pmr::map<rank, std::uint64_t> sends;     ///< calls of `send` per peer
  std::pmr::map<rank, std::uint64_t> receives;  ///< calls of `receive` per peer
  std::uint64_t one_sided = 0;                  ///< calls on windows

  struct running_operation {
    std::uint32_t slot = 0;
    operation_number number;
    operation_signature signature;
  };
  std::pmr::vector<running_operation> running;

  /// Signatures of the last `history_operation_count` collectives, to compare unmatched transfers
  /// with; the next one replaces `oldest`.
  std::pmr::vector<running_operation> history;
  std::size_t oldest = 0;

  /// Unmatched transfers of operations that we have not called yet.
  struct early_transfer {
    rank peer;
    operation_number operation;
    operation_signature theirs;
  };
  std::pmr::vector<early_transfer> early;

  failure sticky;  ///< code ok while the communicator works
  bool finalizing = false;
  bool finalized = false;
  bool ending = false;  ///< `report_ended` is owed
};

inline constexpr std::size_t history_operation_count = 256;
inline constexpr std::size_t early_transfer_count = 64;

/// Total: every event is defined in every state.
void step(rank_state& state, const rank_event& event, rank_effects& out);

}  // namespace troupe::actors
