#include "net/fabric/detail/fabric_handles.hpp"

#include <string>

namespace troupe::net::detail {

namespace {

// Every simulated endpoint listens on one port. Not 0, which means "none" in an address.
constexpr std::uint16_t fabric_port = 1;

}  // namespace

lane_address fabric_address(std::uint32_t endpoint) {
  lane_address address;
  for (std::size_t i = 0; i < 4; ++i)
    address.host[12 + i] = static_cast<std::byte>(endpoint >> (24 - 8 * i));
  address.port = fabric_port;
  return address;
}

std::uint32_t fabric_endpoint_of(const lane_address& address) {
  std::uint32_t endpoint = 0;
  for (std::size_t i = 0; i < 12; ++i)
    if (address.host[i] != std::byte{0}) return no_index;
  for (std::size_t i = 12; i < 16; ++i)
    endpoint = endpoint << 8 | std::to_integer<std::uint32_t>(address.host[i]);
  return address.port == fabric_port ? endpoint : no_index;
}

std::string fabric_lane::describe() const {
  return "fabric " + std::to_string(world_.endpoint_of(half_)) + " -> " +
         std::to_string(world_.peer_of(half_)) + " wire " + std::to_string(half_ >> 1);
}

lane_address fabric_network::address() const {
  return fabric_address(endpoint_);
}

void fabric_network::dial(const lane_address& to, std::uint64_t context, instant deadline) {
  if (alive()) world_.dial(endpoint_, to, context, deadline);
}

void fabric_network::cancel_dial(std::uint64_t context) {
  if (alive()) world_.cancel_dial(endpoint_, context);
}

std::size_t fabric_network::poll(instant, std::span<network_event> out) {
  return alive() ? world_.poll_network(endpoint_, out) : 0;
}

instant fabric_network::next_deadline() const {
  return alive() ? world_.next_deadline(endpoint_) : never;
}

}  // namespace troupe::net::detail
