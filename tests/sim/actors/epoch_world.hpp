#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/rank/epoch_machine.hpp"
#include "collectives/collective_machine.hpp"

namespace troupe::sim {

/// Bugs that the checks have to find.
enum class planted_bug : std::uint8_t {
  none,
  silence_is_proof,         ///< a member that is silent counts as dead
  commit_without_accept,    ///< a leader decides as soon as it knows what it would propose
  fence_skipped,            ///< an epoch is closed while its operation runs on
  stale_timer_obeyed,       ///< a timer that was replaced counts as the one that replaced it
  contributor_not_counted,  ///< an average divides by the members of the epoch before
  confirmation_skipped,     ///< a result is returned as soon as it is here
  proposal_not_adopted,     ///< what was accepted before is not reported
  progress_overstated,      ///< an operation counts as complete while it runs
  input_not_saved,          ///< an operation in place is done again from its own output
  guest_votes,              ///< a rank that came in counts before all know of it
};
inline constexpr std::size_t planted_bug_count = 11;
const char* to_string(planted_bug bug);

/// Where a member stood when a fault hit it.
enum class fault_phase : std::uint8_t {
  idle,
  saving,
  reducing,
  gathering,
  confirming,
  closing,
  deciding,
  restoring
};
inline constexpr std::size_t fault_phase_count = 8;
const char* to_string(fault_phase phase);

enum class action_kind : std::uint8_t {
  call,         ///< a trainer calls its next operation
  land,         ///< a put meets its accept
  deliver,      ///< the oldest frame between two ranks
  suspect,      ///< silence is noticed
  prove,        ///< the launcher tells that a process ended
  fire,         ///< a timer of the view change
  time_out,     ///< the deadline of an operation
  answer_stop,  ///< an operation that was told to stop stands still
  answer_restore,
  crash,
  pause,
  resume,
  part,  ///< `mask` against the rest
  heal,
  lose,        ///< the frames between two ranks are lost
  fail,        ///< an operation finds that ranks called different ones
  fire_stale,  ///< a timer that was replaced
  forge,       ///< a rank from outside shows a token that nobody gave away
  join,        ///< a rank from outside shows its token
};
inline constexpr std::size_t action_kind_count = 19;
const char* to_string(action_kind kind);

struct action {
  action_kind kind = action_kind::call;
  std::uint32_t rank = 0;
  std::uint32_t other = 0;  ///< the peer, or the timer
  std::uint64_t mask = 0;
};

std::string describe(const action& what);

struct world_options {
  std::uint32_t rank_count = 3;
  std::uint32_t joiner_count = 0;
  std::uint32_t operation_count = 2;
  std::uint32_t outstanding_count = 1;  ///< calls that a trainer makes ahead
  bool stops_at_once = true;            ///< an operation that is told to stop stands still at once
  bool in_place = false;
  bool average = true;
  std::uint64_t chunk_elements = 1;
  std::uint32_t chunk_count = 2;
  planted_bug bug = planted_bug::none;
};

/// How one call of one rank ended.
struct call_outcome {
  std::uint64_t number = 0;
  errc code = errc::ok;
  epoch decided_in{};
  net::member_list contributors;
  std::vector<float> result;
};

/// A job whose ranks run the real cores, played one action at a time: members, their fault-tolerant
/// all-reduces with their bytes, the frames between them, and everything that may go wrong. A
/// value: a copy goes its own way.
///
/// There is no clock: any timer may fire whenever it is armed.
class epoch_world {
 public:
  explicit epoch_world(const world_options& options);

  /// What may happen next without a fault and without a timer: in the order of ranks.
  void enabled(std::vector<action>& out) const;
  /// What must happen if nothing else can: detection first, then timers from short to long.
  void overdue(std::vector<action>& out) const;
  /// Timers that are armed, long ones left out.
  void early_timers(std::vector<action>& out) const;

  bool may(const action& what) const;
  void apply(const action& what);

  /// Empty while everything holds that must.
  const std::string& violation() const { return violation_; }
  /// What must hold when nothing happens any more.
  void check_end();

  /// Equal for states from which the same can follow.
  std::uint64_t hash() const;

  std::uint32_t rank_count() const { return static_cast<std::uint32_t>(ranks_.size()); }
  bool is_up(std::uint32_t rank) const { return ranks_[rank].alive && !ranks_[rank].paused; }
  bool is_alive(std::uint32_t rank) const { return ranks_[rank].alive; }
  bool is_paused(std::uint32_t rank) const { return ranks_[rank].paused; }
  bool is_parted() const { return parted_ != 0; }
  bool is_member(std::uint32_t rank) const;
  fault_phase phase_of(std::uint32_t rank) const;
  const std::vector<call_outcome>& outcomes(std::uint32_t rank) const {
    return ranks_[rank].outcomes;
  }
  const actors::epoch_state& state_of(std::uint32_t rank) const { return ranks_[rank].state; }
  std::uint64_t trace() const { return trace_; }

 private:
  struct member {
    actors::epoch_state state;
    bool alive = true;
    bool paused = false;
    bool joined = true;        ///< false: has not asked to come in yet
    std::uint64_t proofs = 0;  ///< of whose end this rank was told
    std::array<std::uint32_t, net::membership_timer_count> timers{};  ///< generation to fire with
    std::array<std::uint8_t, net::membership_timer_count> fires{};  ///< in this epoch, when overdue
    std::uint8_t joins = 0;
    std::uint32_t calls = 0;
    std::vector<call_outcome> outcomes;

    // -- the operation under way --
    bool live = false;  ///< the runner has a state
    bool stop_asked = false;
    bool restore_asked = false;
    bool saved = false;  ///< the input lies in `save`
    std::uint32_t slot = 0;
    std::uint64_t number = 0;
    epoch in{};
    std::uint32_t divisor = 1;
    net::member_list peers;
    collectives::collective_state part;
    std::vector<float> input, output, save, scratch;
  };

  struct transfer {
    epoch in{};
    std::uint64_t number = 0;
    std::uint32_t from = 0, to = 0, step = 0;
    bool has_put = false, has_accept = false;
    buffer_view source{}, target{};
  };

  void post(std::uint32_t rank, actors::epoch_event event);
  void drain();
  void drive(std::uint32_t rank, const actors::epoch_event& event);
  void run(std::uint32_t rank, const collectives::collective_event& event);
  void effect(std::uint32_t rank, const actors::start_promised& e);
  void effect(std::uint32_t rank, const actors::stop_promised& e);
  void effect(std::uint32_t rank, const actors::stop_others& e);
  void effect(std::uint32_t rank, const actors::restore_promised& e);
  void effect(std::uint32_t rank, const actors::finish_promised& e);
  void effect(std::uint32_t rank, const actors::fail_promised& e);
  void effect(std::uint32_t rank, const net::send_membership& e);
  void effect(std::uint32_t rank, const net::send_to_joiner& e);
  void effect(std::uint32_t rank, const net::send_join& e);
  void effect(std::uint32_t rank, const net::enter_epoch& e);
  void effect(std::uint32_t rank, const net::leave_communicator& e);
  void effect(std::uint32_t rank, const net::arm_membership_timer& e);
  void move(std::uint32_t rank, const collectives::put& e);
  void move(std::uint32_t rank, const collectives::accept& e);
  void move(std::uint32_t rank, const collectives::combine& e);
  void move(std::uint32_t rank, const collectives::copy& e);
  void move(std::uint32_t rank, const collectives::finish& e);

  void land(std::size_t index);
  void fire(std::uint32_t rank, std::uint32_t timer);
  void crash(std::uint32_t rank);
  void part(std::uint64_t mask);
  void rested();
  void withdraw(std::uint32_t rank);
  void stop_now(std::uint32_t rank, errc why, net::member_id peer);
  bool is_complete(const member& m) const;
  std::byte* at(std::uint32_t rank, const buffer_view& view);
  transfer& transfer_of(const transfer& key);
  void start(std::uint32_t rank, const actors::start_promised& e);
  void send(std::uint32_t from, std::uint32_t to, net::membership_frame frame);
  bool may_land(const transfer& one) const;
  bool connected(std::uint32_t a, std::uint32_t b) const;
  bool can_hear(std::uint32_t rank, net::member_id member) const;
  std::uint32_t place_of(net::member_id id) const;
  float input_of(net::member_id id, std::uint64_t number, std::size_t element) const;
  void refill_input(std::uint32_t rank);
  void violate(std::uint32_t rank, const std::string& what);
  void check_epoch(std::uint32_t rank);
  void check_outcome(std::uint32_t rank, const call_outcome& outcome);
  void check_give_up(std::uint32_t rank);
  bool is_over(std::uint32_t rank) const;
  bool runs(std::uint32_t rank) const;

  world_options options_;
  std::vector<member> ranks_;
  std::vector<std::uint32_t> rank_of_member_;
  std::map<std::uint64_t, std::deque<net::membership_frame>> wires_;  ///< by from << 32 | to
  std::vector<transfer> transfers_;
  std::uint64_t parted_ = 0;  ///< ranks on one side; 0: no partition
  std::uint64_t trace_ = 0xcbf2'9ce4'8422'2325ull;
  std::deque<std::pair<std::uint32_t, actors::epoch_event>> inbox_;
  std::string violation_;
};

}  // namespace troupe::sim
