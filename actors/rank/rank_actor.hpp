#pragma once

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <unordered_map>
#include <vector>

#include "actors/endpoint/endpoint_context.hpp"
#include "actors/rank/member_epochs.hpp"
#include "actors/rank/membership.hpp"
#include "actors/rank/rank_machine.hpp"
#include "actors/rank/rank_messages.hpp"

namespace troupe::actors {

/// One member of one communicator: the shell around `rank_machine`. Numbers operations, hands each
/// to a runner, and makes the first failure final.
///
/// In a fault-tolerant communicator it has epochs: all_reduce keeps its promise across them, every
/// other operation belongs to one and ends with it.
///
/// Messages handled: 2 an operation (`operation_requested`, `collective_ended` or `promise_ended`).
/// Messages sent: 1 an operation (`collective_start`).
class rank_actor_state : public epoch_host {
 public:
  rank_actor_state() {}
  ~rank_actor_state() override;

  static inline const char* name = "troupe.rank";

  void init(rank_actor::pointer self, endpoint_context& context, const communicator_seat& seat,
            const std::optional<coming_in>& coming);
  rank_actor::behavior_type make_behavior();

 private:
  void drive(const rank_event& event);
  void apply(const rank_effect& effect);

  void apply_one(const start_operation& effect);
  void apply_one(const refuse_operation& effect);
  void apply_one(const stop_operation& effect);
  void apply_one(const spread_failure& effect);
  void apply_one(const tell_failure& effect);
  void apply_one(const report_finalized& effect);
  void apply_one(const report_ended& effect);

  void do_start(const start_promised& effect) override;
  void do_stop(const stop_promised& effect) override;
  void do_stop_others() override;
  void do_restore(const restore_promised& effect) override;
  void do_finish(const finish_promised& effect) override;
  void do_fail(const fail_promised& effect) override;
  void do_enter(const std::shared_ptr<const seated_epoch>& next) override;
  void do_leave(errc why) override;
  void drive_epochs(epoch_event event);

  template <class Handler>
  void guarded(Handler handler);
  void on_peer_ended(const peer_ended& message);
  void on_window_opened(const window_open_request& message);
  void on_window_written(const window_written& message);
  void on_requested(const operation_requested& message);
  bool may_call(const operation_requested& message);
  void on_ended(const collective_ended& message);
  void on_promise_ended(const promise_ended& message);
  void on_failure_noticed(const failure_noticed& message);
  void on_reconfigure(const reconfigure_requested& message);
  void on_invitation_requested(const invitation_requested& message);
  void finalize_if_idle();
  void answer_coming_in(errc why);
  void open_entry(operation_slot slot, std::shared_ptr<work_state> work);
  void end_promise(operation_entry& entry);
  void close_entry(operation_slot slot);
  void give_back(collective_actor runner);
  void on_runner_down(const caf::down_msg& message);
  collective_actor take_runner();
  const rank_state::running_operation* oldest_collective() const;
  notice_frame frame_of(const failure& why) const;
  void note_failure();
  void note_refused(operation_slot slot, operation_entry& entry, const failure& why);

  rank_actor::pointer self_ = nullptr;
  endpoint_context* context_ = nullptr;
  communicator_id id_;
  troupe::epoch epoch_;
  std::shared_ptr<const membership> members_;
  std::shared_ptr<communicator_progress> progress_;
  std::optional<rank_state> state_;
  rank_effects effects_;
  bool failure_noted_ = false;
  bool refusal_noted_ = false;

  /// Works by machine slot; a machine slot is the index of the operation's table entry.
  using slot_map = std::pmr::unordered_map<std::uint32_t, operation_slot>;
  std::optional<slot_map> slots_;
  std::shared_ptr<work_state> pending_;  ///< a call that has no table entry yet
  std::vector<collective_actor> idle_;
  std::vector<ticket_handle<done_value>> finalizers_;

  std::shared_ptr<epoch_board> board_;
  ticket_handle<communicator_seat> coming_in_;  ///< null once this member is in
  /// Memory of the last operation in place, for the next one: memory that was touched before.
  std::optional<scratch_pool::block> spare_;
  std::optional<member_epochs> epochs_;  ///< of a fault-tolerant communicator
  bool decision_asked_ = false;          ///< the members are to agree what failed in this epoch
  bool others_ended_ = false;  ///< to be told to `epochs_` once the machine's step is over
};

rank_actor spawn_rank(endpoint_context& context, const communicator_seat& seat,
                      const std::optional<coming_in>& coming);

}  // namespace troupe::actors
