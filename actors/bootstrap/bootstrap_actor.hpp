#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "actors/bootstrap/bootstrap_messages.hpp"
#include "actors/endpoint/endpoint_context.hpp"
#include "net/bootstrap/bootstrap_machine.hpp"

namespace troupe::actors {

/// How this endpoint finds and reaches the others: the shell around `net::bootstrap_state`. Owns
/// every lane that is not yet part of a link.
///
/// Messages handled: none an operation; 1 a link opened, lost or wanted.
class bootstrap_actor_state : public lane_owner, public lane_acceptor, public timer_owner {
 public:
  bootstrap_actor_state() {}
  ~bootstrap_actor_state() override;

  static inline const char* name = "troupe.bootstrap";

  void init(bootstrap_actor::pointer self, endpoint_context& context,
            net::bootstrap_options options, const std::array<std::byte, 32>& entropy);
  bootstrap_actor::behavior_type make_behavior();

 private:
  void drive(const net::bootstrap_event& event);
  void apply(const net::bootstrap_effect& effect);

  void apply_one(const net::dial_connection& effect);
  void apply_one(const net::dial_lane& effect);
  void apply_one(const net::send_on_connection& effect);
  void apply_one(const net::close_connection& effect);
  void apply_one(const net::hand_over_lane& effect);
  void apply_one(const net::report_joined& effect);
  void apply_one(const net::report_join_failed& effect);
  void apply_one(const net::report_unreachable& effect);
  void apply_one(const net::report_death& effect);
  void apply_one(const net::count_stranger& effect);
  void apply_one(const net::arm_bootstrap_timer& effect);

  void on_lane_ready(lane& ready) override;
  void on_accepted(std::unique_ptr<lane> opened) override;
  void on_connected(std::uint64_t context, std::unique_ptr<lane> opened) override;
  void on_dial_failed(std::uint64_t context, error cause) override;
  void on_timer(std::uint64_t generation) override;
  void on_addresses(const addresses_heard& message);
  void keep(std::uint64_t connection, std::unique_ptr<lane> opened);
  void drop(std::uint64_t connection);
  void take_notice();
  std::string with_notice(const std::string& text) const;

  endpoint_context* context_ = nullptr;
  std::unique_ptr<net::bootstrap_state> state_;
  memory_charge held_;
  std::array<std::byte, 32> entropy_{};
  timer_queue::timer_id timer_ = 0;
  std::uint64_t last_accepted_ = 0;
  std::map<std::uint64_t, std::unique_ptr<lane>> lanes_;
  std::map<const lane*, std::uint64_t> connections_;
  std::string last_notice_;  ///< of the network
  std::string why_refused_;  ///< what it said to the dials that failed since one stood
};

bootstrap_actor spawn_bootstrap(endpoint_context& context, net::bootstrap_options options,
                                const std::array<std::byte, 32>& entropy);

}  // namespace troupe::actors
