#pragma once

#include <memory>
#include <optional>
#include <set>

#include "actors/collector/collector_messages.hpp"
#include "actors/endpoint/endpoint_context.hpp"
#include "actors/endpoint/endpoint_messages.hpp"
#include "actors/watchdog/watchdog_messages.hpp"
#include "net/bootstrap/bootstrap_options.hpp"

namespace troupe::actors {

/// The root of an endpoint's actors: spawns and supervises them by the table in
/// docs/architecture.md, and leads what concerns a peer to everybody who must know.
///
/// Messages handled: none an operation; a constant for a link, a communicator, a lost peer.
class endpoint_actor_state : public timer_owner {
 public:
  endpoint_actor_state() {}
  ~endpoint_actor_state() override;

  static inline const char* name = "troupe.endpoint";

  void init(endpoint_actor::pointer self, endpoint_context& context,
            net::bootstrap_options bootstrap, const std::array<std::byte, 32>& entropy);
  endpoint_actor::behavior_type make_behavior();

 private:
  void on_join(const join_requested& message);
  void on_joined(const join_ended& message);
  void on_communicator(const communicator_requested& message);
  void on_dropped(const communicator_dropped& message);
  void on_lane(const lane_handed& message);
  void on_peer_failed(const peer_failed& message);
  void on_process_ended(const process_ended& message);
  void on_link_spawned(const link_spawned& message);
  void on_link_opened(const link_opened& message);
  void on_link_closed(const link_closed& message);
  void on_link_left(const link_left& message);
  void on_shut_down(const shut_down& message);
  void on_down(const caf::down_msg& message);
  void on_timer(std::uint64_t generation) override;

  communicator_seat seat(const communicator_requested& wanted,
                         const std::optional<coming_in>& coming = std::nullopt);
  void introduce(rank peer);
  void spawn_watchdog_child();
  void spawn_dqplb_child(tier which);
  void spawn_collector_child();
  void note_dead(rank peer, const std::shared_ptr<const failure>& why);
  void forget_link(rank peer);
  void end_transfers(rank peer);
  void finish_shut_down();

  endpoint_actor::pointer self_ = nullptr;
  endpoint_context* context_ = nullptr;
  net::bootstrap_options bootstrap_options_;
  std::array<std::byte, 32> entropy_{};
  watchdog_actor watchdog_;
  collector_actor collector_;
  ticket_handle<communicator_seat> join_answer_;
  ticket_handle<done_value> shut_down_answer_;
  std::set<rank> ended_;  ///< world ranks that are proven to have ended
  std::set<rank> leaving_links_;
  timer_queue::timer_id leave_timer_ = 0;
};

endpoint_actor spawn_endpoint(endpoint_context& context, net::bootstrap_options bootstrap,
                              const std::array<std::byte, 32>& entropy);

}  // namespace troupe::actors
