#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "net/membership/epoch_record.hpp"
#include "net/membership/membership_wire.hpp"
#include "runtime/instant.hpp"

namespace troupe::net {

/// How long a view change waits for what. Each is longer than the one before.
struct membership_options {
  /// A leader goes on with the answers that it has, if they are a quorum, and repeats its question
  /// to the others. Derived: above one round trip and one stop of an operation.
  duration patience = std::chrono::milliseconds(50);
  /// A member that hears no decision believes the leader gone. Derived: two patiences and a margin.
  duration succession = std::chrono::milliseconds(150);
  /// A member that got no decision at all gives up with no_quorum.
  duration decision = std::chrono::seconds(5);
};

enum class membership_phase : std::uint8_t {
  joining,   ///< outside, with a token
  open,      ///< in `current`, operations run
  closing,   ///< a ballot is promised; operations of the epoch are being stopped
  deciding,  ///< the epoch is closed here; waits for the next one
  left,      ///< out for good: evicted, or without a quorum
};

/// What a machine waits for; each kind has one timer.
enum class membership_timer : std::uint8_t { patience, succession, decision };
inline constexpr std::size_t membership_timer_count = 3;

/// Whether a timer runs, and which of those that were ever armed it is.
struct timer_slot {
  std::uint32_t generation = 0;
  bool armed = false;

  friend bool operator==(const timer_slot&, const timer_slot&) = default;
};

/// An attempt that this member leads.
struct leading_state {
  struct answer {
    member_id from;
    report_frame report;

    friend bool operator==(const answer&, const answer&) = default;
  };
  std::vector<answer> reports;  ///< ascending by member, at most one each
  std::optional<epoch_record> proposal;
  member_list accepted_by;
  bool out_of_patience = false;

  friend bool operator==(const leading_state&, const leading_state&) = default;
};

struct membership_counters {
  std::uint64_t view_changes = 0;  ///< epochs entered after the first
  std::uint64_t ballots_led = 0;
  std::uint64_t stale_frames = 0;    ///< of an older epoch or a superseded ballot
  std::uint64_t foreign_frames = 0;  ///< from nobody who may say that; they change nothing
  std::uint64_t stale_timers = 0;

  friend bool operator==(const membership_counters&, const membership_counters&) = default;
};

/// One member's part in the view changes of one communicator.
struct membership_state {
  communicator_id communicator;
  member_id self = no_member;
  membership_options options;
  membership_phase phase = membership_phase::open;

  epoch_record current;
  ballot entered_in{};      ///< the ballot that decided `current`
  std::uint64_t token = 0;  ///< joining: what lets this rank in
  errc left_because = errc::ok;

  // -- why a view change is wanted --
  std::vector<accusation> accusations;  ///< silence or a broken lane, no proof; ascending
  member_list dead;                     ///< proof: ended, left, or given up by the trainer
  bool decision_wanted = false;         ///< an operation failed or is stuck
  bool at_boundary = true;              ///< no operation runs here
  std::vector<std::uint64_t> tokens;    ///< ranks that wait to come in
  std::vector<std::uint64_t> issued;    ///< tokens given away here and not yet shown

  // -- one decision --
  ballot promised{};
  std::uint32_t highest_round = 0;  ///< of any ballot heard of in this epoch
  ballot accepted_in{};
  std::optional<epoch_record> accepted;
  operation_progress progress;  ///< as it was when the epoch closed
  std::optional<leading_state> leading;
  std::array<timer_slot, membership_timer_count> timers;

  membership_counters counters;
};

/// Most ranks that may wait to come in, and tokens that may be given away at a time.
inline constexpr std::size_t membership_token_count_max = 1024;

/// A member of `first` from the start.
membership_state make_member(communicator_id communicator, member_id self,
                             const epoch_record& first, const membership_options& options);

/// A rank that wants to come in with `token`.
membership_state make_joiner(communicator_id communicator, std::uint64_t token,
                             const membership_options& options);

/// Whether the members in `who` may decide: more than half of the voters of the current epoch, or
/// everybody in it who is not proven dead, a voter among them.
bool is_quorum(const membership_state& state, const member_list& who);

/// Whether anybody believes that `member` is gone.
bool is_suspected(const membership_state& state, member_id member);

/// Whether this member itself believes that `member` is gone.
bool is_accused_here(const membership_state& state, member_id member);

/// Who should lead the next view change in this member's eyes.
member_id leader_of(const membership_state& state);

}  // namespace troupe::net
