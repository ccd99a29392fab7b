#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/lane.hpp"
#include "runtime/result.hpp"

namespace troupe::net {

/// Turns "host:port" or "[address]:port" into an address; a name with both families gives its IPv4
/// address, as a launcher's MASTER_ADDR=localhost means it.
/// Errors: bad_argument (the text names the part), unreachable (the name is not known).
/// Thread: any; may block on the resolver, so call it before the worker starts.
outcome<lane_address> resolve(std::string_view host_and_port);

/// One address of this machine.
struct network_interface {
  std::string name;
  lane_address address;  ///< port 0
  bool is_up = false;
};

/// The IPv4 and IPv6 addresses of this machine, link-local ones left out: a `lane_address` cannot
/// say on which link they are meant.
std::vector<network_interface> interfaces();

/// The address to listen on. `interface`: an address of this machine, or the name of an interface,
/// of which the address of `route_to`'s family is taken (IPv4 if `route_to` is all zero). Empty:
/// the address from which this machine would reach `route_to`; loopback if that is all zero.
/// Errors: bad_configuration; the text lists what this machine has.
outcome<lane_address> choose_listen_address(std::string_view interface,
                                            const lane_address& route_to);

/// Whether this process may open `needed` more descriptors.
/// Errors: resource_exhausted; the text has needed, available and the limit.
/// Cost: reads /proc/self/fd; for start-up.
outcome<void> check_descriptor_limit(std::uint64_t needed);

}  // namespace troupe::net
