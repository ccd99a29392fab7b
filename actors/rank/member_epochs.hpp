#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "actors/endpoint/endpoint_context.hpp"
#include "actors/rank/epoch_board.hpp"
#include "actors/rank/epoch_machine.hpp"
#include "actors/worker/timer_queue.hpp"

namespace troupe::actors {

/// What a rank does for its epochs.
class epoch_host {
 public:
  virtual ~epoch_host() = default;
  virtual void do_start(const start_promised& effect) = 0;
  virtual void do_stop(const stop_promised& effect) = 0;
  virtual void do_stop_others() = 0;
  virtual void do_restore(const restore_promised& effect) = 0;
  virtual void do_finish(const finish_promised& effect) = 0;
  virtual void do_fail(const fail_promised& effect) = 0;
  virtual void do_enter(const std::shared_ptr<const seated_epoch>& next) = 0;
  virtual void do_leave(errc why) = 0;
};

/// The shell around `epoch_machine`: carries frames between members and their links, keeps the
/// timers of the view change, and knows which process each member is.
///
/// Thread: the worker only.
class member_epochs {
 public:
  member_epochs(endpoint_context& context, epoch_host& host, communicator_id id, rank self,
                const membership& members);
  ~member_epochs();
  member_epochs(const member_epochs&) = delete;
  member_epochs& operator=(const member_epochs&) = delete;

  /// Asks the member in process `contact` to be let in, again and again until it is.
  void come_in(communicator_id id, std::uint64_t token, rank contact);

  /// May be called from within `epoch_host`: the event then comes after what is being done.
  void drive(epoch_event event);

  void hear(rank world, const std::vector<std::byte>& bytes);
  void suspect(rank world);
  void prove_ended(rank world);

  bool is_open() const { return state_.membership.phase == net::membership_phase::open; }
  bool has_calls() const { return !state_.calls.empty(); }
  /// The epoch that this member is in, as it sits in it.
  std::shared_ptr<const seated_epoch> seat() const;
  net::member_id name_of(rank member) const;

 private:
  class alarm;
  class knocking;

  void apply(const epoch_effect& effect);
  void apply_one(const start_promised& effect) { host_.do_start(effect); }
  void apply_one(const stop_promised& effect) { host_.do_stop(effect); }
  void apply_one(const stop_others&) { host_.do_stop_others(); }
  void apply_one(const restore_promised& effect) { host_.do_restore(effect); }
  void apply_one(const finish_promised& effect) { host_.do_finish(effect); }
  void apply_one(const fail_promised& effect) { host_.do_fail(effect); }
  void apply_one(const net::send_membership& effect);
  void apply_one(const net::send_to_joiner& effect);
  void apply_one(const net::send_join& effect);
  void apply_one(const net::enter_epoch& effect);
  void apply_one(const net::leave_communicator& effect) { host_.do_leave(effect.why); }
  void apply_one(const net::arm_membership_timer& effect);

  void send(rank world, const net::membership_frame& frame);
  void publish();

  endpoint_context& context_;
  epoch_host& host_;
  epoch_state state_;
  std::map<net::member_id, rank> worlds_;  ///< the process of every member that ever was
  std::array<std::unique_ptr<alarm>, net::membership_timer_count> alarms_;
  std::unique_ptr<knocking> knocks_;  ///< of a member that came in, or wants to
  rank contact_{};
  std::deque<epoch_event> waiting_;
  bool driving_ = false;
  net::membership_counters published_;
};

}  // namespace troupe::actors
