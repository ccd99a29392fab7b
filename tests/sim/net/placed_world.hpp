#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include "config/options.hpp"
#include "net/dqplb/tier_budget_machine.hpp"
#include "net/fabric/fabric.hpp"
#include "net/link/link_machine.hpp"
#include "runtime/buffer_table.hpp"
#include "runtime/place.hpp"

namespace troupe::net {

/// Bytes that one endpoint sends to another: `put_count` times `put_bytes`, several at a time.
struct placed_flow {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t put_count = 1;
  instant done_at = never;
};

struct placed_options {
  std::uint64_t seed = 1;
  std::uint64_t put_bytes = 16ull << 20;
  std::uint64_t bytes_per_second = 50'000'000'000;  ///< of every network card: 400 Gbit/s
  config::options limits;  ///< sections of the tiers; lanes and segments of [transport]
};

/// Endpoints that send to each other over links as processes have them - the real cores of link and
/// tier budget, with the limits of the configuration - on the simulated network with its switches.
class placed_world {
 public:
  placed_world(const placed_options& options, std::vector<place> places);

  fabric& wires() { return fabric_; }
  tier tier_between(std::uint32_t a, std::uint32_t b) const;

  /// Connects every pair of `flows`. All lanes are open when it returns.
  void connect(const std::vector<placed_flow>& flows);

  /// Sends everything; calls `each_step` after every `step` of virtual time.
  void run(std::vector<placed_flow>& flows, duration step, const std::function<void()>& each_step);

  /// Lets `length` of virtual time pass.
  void rest(duration length);

  /// What the links of an endpoint may have in flight, all tiers together.
  std::uint64_t leased_bytes(std::uint32_t endpoint_number) const;

  std::uint64_t lease_requests() const { return lease_requests_; }

 private:
  struct link {
    std::uint32_t self = 0;
    std::uint32_t peer = 0;
    tier distance = tier::unknown;
    std::unique_ptr<link_state> state;
    std::vector<std::unique_ptr<lane>> lanes;
    std::vector<std::byte> ring;
    instant armed = never;
    std::uint64_t generation = 0;
    std::uint32_t opened = 0;
    std::uint32_t next_transfer = 0;
    std::uint32_t puts_open = 0;
    std::uint32_t accepts_open = 0;
    placed_flow* flow = nullptr;
  };

  struct endpoint {
    std::unique_ptr<buffer_table> buffers;
    buffer_view source;
    buffer_view target;
    std::unique_ptr<lane_network> network;
    std::map<std::uint32_t, link> links;
    std::array<tier_state, tier_count> tiers;
    std::vector<std::unique_ptr<lane>> strangers;  ///< accepted, not named yet
  };

  struct grant {
    link* to = nullptr;
    std::uint64_t bytes = 0;
  };

  link& link_of(std::uint32_t self, std::uint32_t peer);
  void give_lane(link& l, std::uint8_t index, std::unique_ptr<lane> given);
  void drive(link& l, const link_event& event);
  void apply(link& l, const link_effect& effect);
  void settle();
  void budget(link& l, const tier_event& event);
  void poll(std::uint32_t endpoint_number);
  void poll_lane(link& l, std::uint8_t index);
  void poll_stranger(endpoint& at, std::uint32_t number, lane& ready);
  bool step_once(instant limit);
  void fill(link& sender);
  void put(link& sender);

  placed_options options_;
  std::vector<place_code> places_;
  fabric fabric_;
  std::vector<std::byte> memory_;
  std::vector<endpoint> endpoints_;
  std::map<const lane*, std::pair<link*, std::uint8_t>> owners_;
  std::deque<grant> grants_;
  std::vector<link*> wants_fill_;
  using timer = std::pair<instant, std::pair<std::uint32_t, std::uint32_t>>;
  std::priority_queue<timer, std::vector<timer>, std::greater<>> timers_;
  std::uint64_t lease_requests_ = 0;
  std::uint32_t unconnected_ = 0;
};

}  // namespace troupe::net
