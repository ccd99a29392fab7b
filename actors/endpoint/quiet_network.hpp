#pragma once

#include "runtime/lane.hpp"

namespace troupe::actors {

/// The network of a world of one rank: no socket, no lane, nothing ever happens.
class quiet_network final : public lane_network {
 public:
  lane_kind kind() const override { return lane_kind::none; }
  lane_address address() const override { return {}; }
  void dial(const lane_address&, std::uint64_t, instant) override {}
  void cancel_dial(std::uint64_t) override {}
  std::size_t poll(instant, std::span<network_event>) override { return 0; }
  instant next_deadline() const override { return never; }
  int wait_descriptor() const override { return -1; }
  std::uint64_t refused_total() const override { return 0; }
};

}  // namespace troupe::actors
