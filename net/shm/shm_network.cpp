#include "net/shm/shm_network.hpp"

#include <sys/epoll.h>
#include <sys/random.h>

#include <cerrno>
#include <cstring>

#include "net/shm/detail/segment.hpp"
#include "net/shm/detail/shm_world.hpp"
#include "net/shm/detail/unix_socket.hpp"
#include "net/shm/shm_segment_layout.hpp"
#include "runtime/descriptor.hpp"

namespace troupe::net {

namespace {

// Dials of a whole host at once; beyond, diallers try again every millisecond.
constexpr int backlog = 1024;

outcome<void> check(const shm_network_options& options) {
  const auto& memory = options.memory;
  const shm_geometry sizes{memory.ring_bytes, memory.bulk_bytes, memory.lane_depth};
  if (!is_valid(sizes) || memory.bulk_bytes == 0)
    return fail(errc::bad_configuration,
                "shm.ring_bytes = " + std::to_string(memory.ring_bytes) +
                    " does not fit shm.lane_depth = " + std::to_string(memory.lane_depth) +
                    ": a power of two of at least " +
                    std::to_string(ring_bytes_min(memory.lane_depth)) + " bytes is needed");
  if (memory.inline_bytes > shm_inline_bytes_max)
    return fail(errc::bad_configuration,
                "shm.inline_bytes = " + std::to_string(memory.inline_bytes) + " is above " +
                    std::to_string(shm_inline_bytes_max));
  // A lane is made and thrown away: what would fail in mid-job fails now.
  if (const auto trial = detail::segment::create(sizes); !trial) return fail(trial.error());
  return {};
}

failure system_text(const std::string& call, error what) {
  return {{errc::system_failure, what.native}, call + ": " + std::strerror(what.native)};
}

}  // namespace

outcome<std::unique_ptr<shm_network>> shm_network::make(const shm_network_options& options,
                                                        buffer_table& buffers) {
  if (auto checked = check(options); !checked) return fail(std::move(checked.error()));
  auto listener = detail::listen_unix(options.address, backlog);
  if (!listener)
    return fail(system_text("cannot listen for shared memory as " + to_string(options.address),
                            listener.error()));
  descriptor epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.valid()) return fail(system_text("epoll_create1", {errc::system_failure, errno}));
  std::uint64_t probe = 0;
  if (::getrandom(&probe, sizeof probe, 0) != sizeof probe)
    return fail(system_text("getrandom", {errc::system_failure, errno}));
  auto world = std::make_unique<detail::shm_world>(std::move(epoll), std::move(*listener), options,
                                                   buffers, probe | 1);
  if (const auto started = world->start(); !started)
    return fail(system_text("epoll_ctl on the listening socket", started.error()));
  return std::unique_ptr<shm_network>(new shm_network(std::move(world)));
}

shm_network::shm_network(std::unique_ptr<detail::shm_world> world) : world_(std::move(world)) {}

shm_network::~shm_network() = default;

lane_address shm_network::address() const {
  return world_->address();
}

void shm_network::dial(const lane_address& to, std::uint64_t context, instant deadline) {
  world_->dial(to, context, deadline);
}

void shm_network::cancel_dial(std::uint64_t context) {
  world_->cancel_dial(context);
}

std::size_t shm_network::poll(instant now, std::span<network_event> out) {
  return world_->poll(now, out);
}

instant shm_network::next_deadline() const {
  return world_->next_deadline();
}

instant shm_network::prepare_to_wait() {
  return world_->prepare_to_wait();
}

int shm_network::wait_descriptor() const {
  return world_->wait_descriptor();
}

std::uint64_t shm_network::refused_total() const {
  return world_->refused_total();
}

std::string shm_network::take_notice() {
  return world_->take_notice();
}

const std::string& shm_network::trouble() const {
  return world_->trouble();
}

}  // namespace troupe::net
