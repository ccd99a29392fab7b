#include "net/tcp/tcp_network.hpp"

#include <sys/epoll.h>

#include <cerrno>
#include <cstring>

#include "net/tcp/detail/socket.hpp"
#include "net/tcp/detail/tcp_world.hpp"
#include "net/tcp/tcp_address.hpp"
#include "runtime/descriptor.hpp"

namespace troupe::net {

namespace {

outcome<void> check(const tcp_network_options& options) {
  if (options.sockets.lane_depth == 0)
    return fail(errc::bad_configuration, "tcp.lane_depth is 0; at least 1 is needed");
  if (options.port_last != 0 && options.port_last < options.port_first)
    return fail(errc::bad_configuration,
                "bootstrap.port_last (" + std::to_string(options.port_last) +
                    ") is below bootstrap.port_first (" + std::to_string(options.port_first) + ")");
  return {};
}

}  // namespace

outcome<std::unique_ptr<tcp_network>> tcp_network::make(const tcp_network_options& options,
                                                        buffer_table& buffers) {
  if (auto checked = check(options); !checked) return fail(std::move(checked.error()));
  const auto host = choose_listen_address(options.interface, options.route_to);
  if (!host) return fail(host.error());
  const auto port_last = options.port_last == 0 ? options.port_first : options.port_last;
  auto listener = detail::make_listener({*host, options.port_first, port_last}, options.sockets);
  if (!listener) return fail(std::move(listener.error()));
  descriptor epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.valid())
    return fail(failure({errc::system_failure, errno},
                        std::string("epoll_create1: ") + std::strerror(errno)));
  auto world =
      std::make_unique<detail::tcp_world>(std::move(epoll), std::move(*listener), options, buffers);
  if (const auto started = world->start(); !started)
    return fail(failure(started.error(), std::string("epoll_ctl on the listening socket: ") +
                                             std::strerror(started.error().native)));
  return std::unique_ptr<tcp_network>(new tcp_network(std::move(world)));
}

tcp_network::tcp_network(std::unique_ptr<detail::tcp_world> world) : world_(std::move(world)) {}

tcp_network::~tcp_network() = default;

lane_address tcp_network::address() const {
  return world_->address();
}

void tcp_network::dial(const lane_address& to, std::uint64_t context, instant deadline) {
  world_->dial(to, context, deadline);
}

void tcp_network::cancel_dial(std::uint64_t context) {
  world_->cancel_dial(context);
}

std::size_t tcp_network::poll(instant now, std::span<network_event> out) {
  return world_->poll(now, out);
}

instant tcp_network::next_deadline() const {
  return world_->next_deadline();
}
int tcp_network::wait_descriptor() const {
  return world_->wait_descriptor();
}
std::uint64_t tcp_network::refused_total() const {
  return world_->refused_total();
}

}  // namespace troupe::net
