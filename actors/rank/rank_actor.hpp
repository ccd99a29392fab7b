#pragma once

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <unordered_map>
#include <vector>

#include "actors/endpoint/endpoint_context.hpp"
#include "actors/rank/membership.hpp"
#include "actors/rank/rank_machine.hpp"
#include "actors/rank/rank_messages.hpp"

namespace troupe::actors {

/// One member of one communicator: the shell around `rank_machine`. Numbers operations, hands each
/// to a runner, and makes the first failure final.
///
/// Messages handled: 2 an operation (`operation_requested`, `collective_ended`).
/// Messages sent: 1 an operation (`collective_start`).
class rank_actor_state {
 public:
  rank_actor_state() {}

  static inline const char* name = "troupe.rank";

  void init(rank_actor::pointer self, endpoint_context& context, communicator_id id, rank self_rank,
            std::shared_ptr<const membership> members);
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

  template <class Handler>
  void guarded(Handler handler);
  void on_peer_ended(const peer_ended& message);
  void on_window_opened(const window_open_request& message);
  void on_window_written(const window_written& message);
  void on_requested(const operation_requested& message);
  void on_ended(const collective_ended& message);
  void on_runner_down(const caf::down_msg& message);
  collective_actor take_runner();
  const rank_state::running_operation* oldest_collective() const;
  notice_frame frame_of(const failure& why) const;

  rank_actor::pointer self_ = nullptr;
  endpoint_context* context_ = nullptr;
  communicator_id id_;
  troupe::epoch epoch_;
  std::shared_ptr<const membership> members_;
  std::optional<rank_state> state_;
  rank_effects effects_;

  /// Works by machine slot; a machine slot is the index of the operation's table entry.
  using slot_map = std::pmr::unordered_map<std::uint32_t, operation_slot>;
  std::optional<slot_map> slots_;
  std::shared_ptr<work_state> pending_;  ///< a call that has no table entry yet
  std::vector<collective_actor> idle_;
  std::vector<ticket_handle<done_value>> finalizers_;
};

rank_actor spawn_rank(endpoint_context& context, communicator_id id, rank self,
                      std::shared_ptr<const membership> members);

}  // namespace troupe::actors
