#include "net/verbs/verbs_network.hpp"

#include <sys/epoll.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "net/verbs/detail/verbs_world.hpp"
#include "net/verbs/verbs_devices.hpp"
#include "runtime/descriptor.hpp"

namespace troupe::net {

namespace {

failure system_text(const std::string& call, int code) {
  return {{errc::system_failure, code}, call + ": " + std::strerror(code)};
}

// The connection beside a lane takes its last messages and the words before them at once.
tcp_network_options beside(const verbs_network_options& options) {
  auto out = options.tcp;
  out.sockets.lane_depth = std::max(out.sockets.lane_depth, 2 * options.queue_pairs.lane_depth + 4);
  return out;
}

}  // namespace

bool has_verbs() {
  return true;
}

outcome<std::unique_ptr<verbs_network>> verbs_network::make(const verbs_network_options& options,
                                                            buffer_table& buffers) {
  const auto found = find_verbs_ports();
  if (!found) return fail(found.error());
  const auto chosen = choose_ports(options.queue_pairs.devices, *found);
  if (!chosen) return fail(chosen.error());
  std::vector<std::unique_ptr<detail::adapter>> adapters;
  for (const auto& port : *chosen) {
    auto opened = detail::adapter::open({port, static_cast<std::uint16_t>(adapters.size())},
                                        options.queue_pairs, buffers);
    if (!opened) return fail(std::move(opened.error()));
    adapters.push_back(std::move(*opened));
  }
  auto tcp = tcp_network::make(beside(options), buffers);
  if (!tcp) return fail(std::move(tcp.error()));
  descriptor epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.valid()) return fail(system_text("epoll_create1", errno));
  std::uint64_t instance = 0;
  if (::getrandom(&instance, sizeof instance, 0) != sizeof instance)
    return fail(system_text("getrandom", errno));
  auto world = std::make_unique<detail::verbs_world>(std::move(*tcp), std::move(adapters), buffers,
                                                     std::move(epoll), instance | 1);
  if (const auto started = world->start(); !started)
    return fail(
        system_text("epoll_ctl on the descriptors of an RDMA device", started.error().native));
  return std::unique_ptr<verbs_network>(new verbs_network(std::move(world)));
}

verbs_network::verbs_network(std::unique_ptr<detail::verbs_world> world)
    : world_(std::move(world)) {}

verbs_network::~verbs_network() = default;

lane_address verbs_network::address() const {
  return world_->address();
}

void verbs_network::dial(const lane_address& to, std::uint64_t context, instant deadline) {
  world_->dial(to, context, deadline);
}

void verbs_network::dial_plain(const lane_address& to, std::uint64_t context, instant deadline) {
  world_->dial_plain(to, context, deadline);
}

void verbs_network::cancel_dial(std::uint64_t context) {
  world_->cancel_dial(context);
}

std::size_t verbs_network::poll(instant now, std::span<network_event> out) {
  return world_->poll(now, out);
}

instant verbs_network::next_deadline() const {
  return world_->next_deadline();
}

instant verbs_network::prepare_to_wait() {
  return world_->prepare_to_wait();
}

int verbs_network::wait_descriptor() const {
  return world_->wait_descriptor();
}

std::uint64_t verbs_network::refused_total() const {
  return world_->refused_total();
}

std::string verbs_network::take_notice() {
  return world_->take_notice();
}

}  // namespace troupe::net
