#pragma once

#include <cstdint>
#include <deque>
#include <variant>
#include <vector>

#include "net/membership/membership_machine.hpp"
#include "runtime/errc.hpp"
#include "runtime/instant.hpp"
#include "runtime/strong_types.hpp"

namespace troupe::actors {

// A promised operation is one that keeps the promise of docs/protocols/ftar.md.

// -- events ---------------------------------------------------------------------------------------

/// The trainer called a promised operation; `slot` names it until its end.
struct promised_called {
  std::uint32_t slot = 0;
};

/// The operation is over at every member of the epoch: this one heard all confirmations.
struct promised_confirmed {
  std::uint32_t slot = 0;
};

/// The operation stands still: no lane reads or writes its buffers and it confirms nothing any
/// more. Answer to `stop_promised`, or of its own accord with a reason.
struct promised_stopped {
  std::uint32_t slot = 0;
  bool complete = false;                 ///< the whole result is here
  errc why = errc::ok;                   ///< ok: it was asked to stop
  net::member_id peer = net::no_member;  ///< peer_lost: which
};

/// The input is what it was before the call. Answer to `restore_promised`.
struct input_restored {
  std::uint32_t slot = 0;
};

/// Nothing of the closing epoch runs any more that carries no promise, and no memory of it is open.
/// Answer to `stop_others`.
struct others_stopped {};

using epoch_event = std::variant<promised_called, promised_confirmed, promised_stopped,
                                 input_restored, others_stopped, net::membership_event>;

// -- effects --------------------------------------------------------------------------------------

/// Run the operation of `slot` among the members of the current epoch. `again`: it ran in an
/// earlier epoch, and its input is where `saving` put it.
struct start_promised {
  std::uint32_t slot = 0;
  operation_number number;
  bool again = false;
};

struct stop_promised {
  std::uint32_t slot = 0;
};

/// The epoch closes: stop every operation of it that carries no promise, and withdraw its windows.
struct stop_others {};

/// The operation failed everywhere: put its input back.
struct restore_promised {
  std::uint32_t slot = 0;
};

/// The result stands, over these contributors.
struct finish_promised {
  std::uint32_t slot = 0;
  operation_number number;
  troupe::epoch epoch;  ///< in which it was computed
  net::member_list contributors;
};

/// The operation failed and its input is intact.
struct fail_promised {
  std::uint32_t slot = 0;
  operation_number number;
  errc why = errc::internal_failure;
};

using epoch_effect =
    std::variant<start_promised, stop_promised, stop_others, restore_promised, finish_promised,
                 fail_promised, net::send_membership, net::send_to_joiner, net::send_join,
                 net::enter_epoch, net::leave_communicator, net::arm_membership_timer>;

/// What a view change sends, and an end for each call that waits. Control path.
using epoch_effects = std::vector<epoch_effect>;

// -- the machine ----------------------------------------------------------------------------------

/// Most calls that wait here. The endpoint's operation table is smaller.
inline constexpr std::size_t promised_call_count_max = 65'536;

/// One member's promised operations across epochs. They run one after the other; each ends in the
/// epoch that decides it, with the same outcome at every member of that epoch.
struct epoch_state {
  enum class activity : std::uint8_t {
    idle,       ///< nothing runs
    running,    ///< the first of `calls` runs
    stopping,   ///< it was told to stop
    stopped,    ///< it waits for the next epoch
    restoring,  ///< it failed; its input is being put back
  };

  net::membership_state membership;

  struct call {
    std::uint32_t slot = 0;
    operation_number number;

    friend bool operator==(const call&, const call&) = default;
  };
  std::deque<call> calls;  ///< in the order of the calls; the first one is under way
  activity now = activity::idle;
  bool has_others = false;       ///< whether the member has anything that `stop_others` stops
  bool stopping_others = false;  ///< `stop_others` was not answered yet
  bool again = false;            ///< the first one ran in an earlier epoch
  bool complete = false;         ///< stopped: its whole result is here
  errc failed = errc::ok;  ///< stopped: why it cannot go on in any epoch; restoring: its outcome

  std::uint64_t resolved_through = 0;  ///< every promised operation up to this one has its outcome
  std::uint64_t called_through = 0;
  errc over = errc::ok;  ///< why this member is out, if it is

  /// Operations that failed everywhere before they were called here.
  struct missed_failure {
    std::uint64_t number = 0;
    errc why = errc::ok;

    friend bool operator==(const missed_failure&, const missed_failure&) = default;
  };
  std::vector<missed_failure> missed;

  std::uint64_t ignored = 0;  ///< events that fitted no state
};

/// Total: every event is defined in every state.
void step(epoch_state& state, const epoch_event& event, instant now, epoch_effects& out);

}  // namespace troupe::actors
