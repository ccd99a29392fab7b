#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>

#include "actors/endpoint/endpoint_context.hpp"
#include "actors/qp_group/qp_group_messages.hpp"
#include "actors/rank/fetch_wire.hpp"
#include "actors/rank/membership_carrier.hpp"
#include "net/link/link_machine.hpp"

namespace troupe::actors {

/// The connection to one peer: the shell around `net::link_state`. Owns the lanes and steps the
/// link over them from the worker's poll loop, where a lane says that it is ready.
///
/// Messages handled: 1 a put, 1 an accept; 1 a lease of `dqplb.lease_bytes`. None a segment, an
/// acknowledgement or a byte.
/// Messages sent: 1 `transfer_ended` a put and an accept; 2 a lease.
class qp_group_actor_state : public lane_owner, public timer_owner {
 public:
  qp_group_actor_state() {}
  ~qp_group_actor_state() override;

  static inline const char* name = "troupe.qp_group";

  void init(qp_group_actor::pointer self, endpoint_context& context, rank peer);
  qp_group_actor::behavior_type make_behavior();

 private:
  /// What answers a peer's get: no operation of ours waits for its end. No slot has this number.
  static constexpr std::uint64_t nobodys_token = ~std::uint64_t{0};

  void drive(const net::link_event& event);
  void apply(const net::link_effect& effect);

  void apply_one(const net::post_segment& effect);
  void apply_one(const net::post_control& effect);
  void apply_one(const net::stage_eager& effect);
  void apply_one(const net::drain_eager& effect);
  void apply_one(const net::park_eager& effect);
  void apply_one(const net::unpark_eager& effect);
  void apply_one(const net::report_put& effect);
  void apply_one(const net::report_accept& effect);
  void apply_one(const net::release_source& effect);
  void apply_one(const net::report_written& effect);
  void apply_one(const net::report_refused& effect);
  void apply_one(const net::withdraw_key& effect);
  void apply_one(const net::report_unmatched& effect);
  void apply_one(const net::deliver_notice& effect);
  void apply_one(const net::request_budget& effect);
  void apply_one(const net::return_budget& effect);
  void apply_one(const net::arm_link_timer& effect);
  void apply_one(const net::close_lane& effect);
  void apply_one(const net::report_lost& effect);
  void apply_one(const net::resume_soon& effect);

  void on_put(const put_request& message);
  void on_accept(const accept_request& message);
  void on_cancel(const cancel_request& message);
  void on_lane_given(const lane_given& message);
  void on_lane_ready(lane& ready) override;
  void on_lane_event(std::uint8_t index, const lane_event& event);
  void on_timer(std::uint64_t generation) override;
  void on_notice(const notice& heard);
  void on_fetch(const fetch& wanted);
  void refuse_fetch(const transfer_id& id);

  void make_rings();
  lane_kind lanes_to_peer() const;
  void report(std::uint64_t token, bool was_put, error failed, const operation_signature& theirs);
  void close_lanes();
  void publish();
  void note_link();
  void note_silence();
  void watch_unmatched(bool waiting);
  void send_notice(std::shared_ptr<const notice_frame> frame);
  void send_frame(std::span<const std::byte> frame);
  void on_part(std::span<const std::byte> part);
  void flush_notices();

  qp_group_actor::pointer self_ = nullptr;
  endpoint_context* context_ = nullptr;
  rank peer_;
  tier tier_ = tier::unknown;
  std::unique_ptr<net::link_state> state_;
  net::link_effects effects_;
  bool resume_ = false;
  std::array<std::unique_ptr<lane>, net::lane_count_max> lanes_;
  std::array<lane_event, 16> events_;  ///< taken in one call; not made anew for each
  timer_queue::timer_id timer_ = 0;

  std::uint64_t slot_bytes_ = 0;
  std::uint64_t parking_bytes_ = 0;
  std::unique_ptr<std::byte[]> receive_ring_;
  std::unique_ptr<std::byte[]> staging_ring_;
  std::unique_ptr<std::byte[]> parking_;  ///< made when the first message is parked
  memory_charge rings_held_, parking_held_, state_held_;
  buffer_view receive_view_;
  buffer_view staging_view_;
  std::uint64_t eager_key_ = 0;

  /// Notices beyond the link's own room, oldest first.
  std::deque<std::shared_ptr<const notice_frame>> notices_;
  frame_assembler arriving_;  ///< of the view change, from the peer
  net::link_counters published_;
  bool opened_ = false;
  bool lost_ = false;
  bool unmatched_waiting_ = false;  ///< counted in the context's `unmatched_links`
  bool peer_leaving_ = false;
};

qp_group_actor spawn_qp_group(endpoint_context& context, rank peer);

}  // namespace troupe::actors
