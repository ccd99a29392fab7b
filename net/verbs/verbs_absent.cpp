// What net/verbs is in a build without the headers of libibverbs.

#include "net/verbs/verbs_devices.hpp"
#include "net/verbs/verbs_network.hpp"

namespace troupe::net {

namespace detail {
class verbs_world {};
}  // namespace detail

bool has_verbs() {
  return false;
}

outcome<std::vector<verbs_port>> find_verbs_ports() {
  return std::vector<verbs_port>{};
}

outcome<std::unique_ptr<verbs_network>> verbs_network::make(const verbs_network_options&,
                                                            buffer_table&) {
  return fail(errc::not_available,
              "transport.lanes is verbs, and this build of Troupe has no RDMA: it was configured "
              "without infiniband/verbs.h; install libibverbs-dev and build again, or set "
              "transport.lanes to auto");
}

verbs_network::verbs_network(std::unique_ptr<detail::verbs_world>) {}
verbs_network::~verbs_network() = default;
lane_address verbs_network::address() const {
  return {};
}
void verbs_network::dial(const lane_address&, std::uint64_t, instant) {}
void verbs_network::dial_plain(const lane_address&, std::uint64_t, instant) {}
void verbs_network::cancel_dial(std::uint64_t) {}
std::size_t verbs_network::poll(instant, std::span<network_event>) {
  return 0;
}
instant verbs_network::next_deadline() const {
  return never;
}
instant verbs_network::prepare_to_wait() {
  return never;
}
int verbs_network::wait_descriptor() const {
  return -1;
}
std::uint64_t verbs_network::refused_total() const {
  return 0;
}
std::string verbs_network::take_notice() {
  return {};
}

}  // namespace troupe::net
