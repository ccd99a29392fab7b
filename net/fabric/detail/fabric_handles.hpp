#pragma once

#include <cstdint>

#include "net/fabric/detail/fabric_world.hpp"
#include "runtime/lane.hpp"

namespace troupe::net::detail {

/// The user's end of a lane: names a half of the world's wires.
class fabric_lane final : public lane {
 public:
  fabric_lane(fabric_world& world, std::uint32_t half) : world_(world), half_(half) {}
  ~fabric_lane() override { world_.release(half_); }
  fabric_lane(const fabric_lane&) = delete;
  fabric_lane& operator=(const fabric_lane&) = delete;

  lane_kind kind() const override { return lane_kind::fabric; }
  std::uint32_t depth() const override { return world_.options().lane_depth; }
  post_status post_write(const lane_write& write) override {
    return world_.post_write(half_, write);
  }
  post_status post_message(std::span<const std::byte> message) override {
    return world_.post_message(half_, message);
  }
  std::size_t poll(std::span<lane_event> out) override { return world_.poll_lane(half_, out); }
  void close() override { world_.close(half_); }
  std::string describe() const override;

  std::uint32_t half() const { return half_; }

 private:
  fabric_world& world_;
  std::uint32_t half_;
};

/// The user's end of an endpoint.
class fabric_network final : public lane_network {
 public:
  fabric_network(fabric_world& world, std::uint32_t endpoint, buffer_table& buffers)
      : world_(world), endpoint_(endpoint), incarnation_(world.join(endpoint, buffers)) {}
  ~fabric_network() override { world_.leave(endpoint_, incarnation_); }
  fabric_network(const fabric_network&) = delete;
  fabric_network& operator=(const fabric_network&) = delete;

  lane_kind kind() const override { return lane_kind::fabric; }
  lane_address address() const override;
  void dial(const lane_address& to, std::uint64_t context, instant deadline) override;
  void cancel_dial(std::uint64_t context) override;
  std::size_t poll(instant now, std::span<network_event> out) override;
  instant next_deadline() const override;
  int wait_descriptor() const override { return -1; }
  std::uint64_t refused_total() const override { return world_.refused_total(endpoint_); }

 private:
  bool alive() const { return world_.is_current(endpoint_, incarnation_); }

  fabric_world& world_;
  std::uint32_t endpoint_;
  std::uint32_t incarnation_;
};

lane_address fabric_address(std::uint32_t endpoint);
std::uint32_t fabric_endpoint_of(const lane_address& address);

}  // namespace troupe::net::detail
