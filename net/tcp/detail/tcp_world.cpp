#include "net/tcp/detail/tcp_world.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "net/tcp/detail/socket.hpp"
#include "runtime/assert.hpp"

namespace troupe::net::detail {

namespace {

constexpr std::uint32_t lane_events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;

// Events taken from epoll in one poll. Chosen: a poll of everything stays below 100 us.
constexpr std::size_t event_count_max = 64;

// Accepted in one poll, and accepted but not shown. Chosen as the events above.
constexpr std::size_t accept_count_max = 64;

// Where the payload of refused writes goes. Chosen: as much as the socket gives in one call.
constexpr std::size_t scratch_bytes = 64 * 1024;

// A peer that never closes its end costs a descriptor this long, and so many peers at most.
// Chosen: several retransmissions on a working network.
constexpr duration farewell_time = std::chrono::seconds(2);
constexpr std::size_t farewell_count_max = 64;

// How long accepting rests when even the reserve descriptor is gone.
constexpr duration accept_pause = std::chrono::milliseconds(100);

descriptor open_reserve() {
  return descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

}  // namespace

// -- ready lanes ----------------------------------------------------------------------------------

void lane_list::insert(tcp_lane& lane) {
  if (lane.ready_) return;
  lane.ready_ = true;
  lane.ready_before_ = last_;
  lane.ready_after_ = nullptr;
  (last_ == nullptr ? first_ : last_->ready_after_) = &lane;
  last_ = &lane;
}

void lane_list::remove(tcp_lane& lane) {
  if (!lane.ready_) return;
  lane.ready_ = false;
  auto* const before = lane.ready_before_;
  auto* const after = lane.ready_after_;
  (before == nullptr ? first_ : before->ready_after_) = after;
  (after == nullptr ? last_ : after->ready_before_) = before;
}

tcp_lane& lane_list::pop() {
  auto& lane = *first_;
  remove(lane);
  return lane;
}

// -- start ----------------------------------------------------------------------------------------

tcp_world::tcp_world(descriptor epoll, descriptor listener, const tcp_network_options& options,
                     buffer_table& buffers)
    : options_(options),
      buffers_(buffers),
      epoll_(std::move(epoll)),
      listener_(std::move(listener)),
      reserve_(open_reserve()),
      address_(local_address(listener_.number())),
      scratch_(scratch_bytes),
      held_(options.ledger, memory_purpose::lanes, scratch_bytes) {}

result<void> tcp_world::start() {
  resume_accepting();
  if (!accepting_) return fail(errc::system_failure, errno);
  return {};
}

bool tcp_world::watch(int socket, epoll_target& target, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = &target;
  return ::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, socket, &event) == 0;
}

void tcp_world::unwatch(const descriptor& socket) {
  if (socket.valid()) ::epoll_ctl(epoll_.number(), EPOLL_CTL_DEL, socket.number(), nullptr);
}

// close(2) alone is not enough: a child that was forked meanwhile keeps the socket open, and with
// it the connection and the entry in epoll, which names an object that is gone.
void tcp_world::drop(descriptor& socket) {
  if (!socket.valid()) return;
  unwatch(socket);
  ::shutdown(socket.number(), SHUT_RDWR);
  socket.reset();
}

// -- poll -----------------------------------------------------------------------------------------

std::size_t tcp_world::poll(instant now, std::span<network_event> out) {
  now_ = now;
  ++turn_;
  if (now >= accept_again_) resume_accepting();
  std::array<epoll_event, event_count_max> events;
  const int found = ::epoll_wait(epoll_.number(), events.data(), event_count_max, 0);
  for (int i = 0; i < found; ++i)
    on_event(events[static_cast<std::size_t>(i)]);
  end_late_dials();
  end_late_farewells();

  std::size_t count = 0;
  for (; count < out.size() && !notices_.empty(); ++count) {
    out[count] = open(notices_.front());
    notices_.pop_front();
  }
  for (; count < out.size() && !ready_.empty(); ++count)
    out[count] = {.what = network_event::kind::lane_ready, .ready = &ready_.pop()};
  return count;
}

void tcp_world::on_event(const epoll_event& event) {
  auto& target = *static_cast<epoll_target*>(event.data.ptr);
  switch (target.what) {
    case epoll_target::kind::listener: return accept_some();
    case epoll_target::kind::dial: return on_dial_event(static_cast<tcp_dial&>(target));
    case epoll_target::kind::lane: return static_cast<tcp_lane&>(target).on_events(event.events);
    case epoll_target::kind::farewell: return on_farewell_event(static_cast<tcp_farewell&>(target));
  }
}

instant tcp_world::next_deadline() const {
  if (!notices_.empty() || !ready_.empty()) return now_;
  instant next = accept_again_;
  for (const auto& dial : dials_)
    next = std::min(next, dial->deadline);
  for (const auto& farewell : farewells_)
    next = std::min(next, farewell->deadline);
  return next;
}

network_event tcp_world::open(notice& from) {
  if (from.what == network_event::kind::dial_failed)
    return {.what = from.what, .context = from.context, .cause = from.cause};
  const int socket = from.socket.number();
  auto opened =
      std::make_unique<tcp_lane>(*this, std::move(from.socket), options_.sockets.lane_depth);
  // Raises an edge for what came before.
  if (!watch(socket, *opened, lane_events)) opened->on_events(EPOLLERR);
  return {.what = from.what, .opened = std::move(opened), .context = from.context};
}

// -- accepting ------------------------------------------------------------------------------------

void tcp_world::accept_some() {
  for (std::size_t i = 0; i < accept_count_max && notices_.size() < accept_count_max; ++i) {
    descriptor socket(
        ::accept4(listener_.number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.valid()) {
      tune_connection(socket.number(), peer_address(socket.number()).host == address_.host,
                      options_.sockets);
      notices_.push_back({.what = network_event::kind::accepted, .socket = std::move(socket)});
      continue;
    }
    switch (errno) {
      case EAGAIN: return;
      case EMFILE:
      case ENFILE:
        if (!reserve_.valid()) return pause_accepting();
        refuse_one();
        break;
      case ENOBUFS:
      case ENOMEM: return pause_accepting();
      case EINTR: break;
      // The peer gave up before we took it, or the network failed under it (accept(2)).
      default: ++refused_total_; break;
    }
  }
}

// At the descriptor limit: without this the listener would stay readable and its peers would wait.
void tcp_world::refuse_one() {
  reserve_.reset();
  descriptor refused(::accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC));
  if (refused.valid()) ++refused_total_;
  refused.reset();
  reserve_ = open_reserve();
}

void tcp_world::pause_accepting() {
  accepting_ = false;
  accept_again_ = saturating_add(now_, accept_pause);
  ::epoll_ctl(epoll_.number(), EPOLL_CTL_DEL, listener_.number(), nullptr);
}

void tcp_world::resume_accepting() {
  if (!reserve_.valid()) reserve_ = open_reserve();
  accepting_ = watch(listener_.number(), listener_target_, EPOLLIN);
  accept_again_ = accepting_ ? never : saturating_add(now_, accept_pause);
}

// -- dials ----------------------------------------------------------------------------------------

void tcp_world::dial(const lane_address& to, std::uint64_t context, instant deadline) {
  auto socket = start_connect(address_, to, options_.sockets);
  if (!socket) return fail_dial(context, socket.error());
  auto dial = std::make_unique<tcp_dial>();
  dial->socket = std::move(*socket);
  dial->context = context;
  dial->deadline = deadline;
  if (!watch(dial->socket.number(), *dial, lane_events))
    return fail_dial(context, dial_error(errno));
  dials_.push_back(std::move(dial));
}

void tcp_world::fail_dial(std::uint64_t context, error cause) {
  notices_.push_back(
      {.what = network_event::kind::dial_failed, .context = context, .socket = {}, .cause = cause});
}

void tcp_world::cancel_dial(std::uint64_t context) {
  std::erase_if(dials_, [&](const auto& dial) {
    if (dial->context != context) return false;
    drop(dial->socket);
    return true;
  });
  std::erase_if(notices_, [&](const notice& entry) {
    return entry.what != network_event::kind::accepted && entry.context == context;
  });
}

void tcp_world::on_dial_event(tcp_dial& dial) {
  int code = 0;
  socklen_t length = sizeof code;
  if (::getsockopt(dial.socket.number(), SOL_SOCKET, SO_ERROR, &code, &length) != 0) code = errno;
  const auto local = local_address(dial.socket.number());
  const auto peer = peer_address(dial.socket.number());
  // On one machine the system may pick the dialled port as the source: the socket then answers
  // itself, and nobody listens.
  if (code == 0 && local == peer) code = ECONNREFUSED;
  if (code == 0 && peer == lane_address{}) return;
  unwatch(dial.socket);
  if (code != 0)
    fail_dial(dial.context, dial_error(code));
  else
    notices_.push_back({.what = network_event::kind::connected,
                        .context = dial.context,
                        .socket = std::move(dial.socket)});
  end_dial(dial);
}

void tcp_world::end_dial(tcp_dial& dial) {
  std::erase_if(dials_, [&](const auto& entry) { return entry.get() == &dial; });
}

void tcp_world::end_late_dials() {
  std::erase_if(dials_, [&](const auto& dial) {
    if (dial->deadline > now_) return false;
    drop(dial->socket);
    fail_dial(dial->context, {errc::timed_out, ETIMEDOUT});
    return true;
  });
}

// -- farewells ------------------------------------------------------------------------------------

void tcp_world::say_farewell(descriptor socket, std::vector<std::byte> rest) {
  unwatch(socket);
  if (farewells_.size() == farewell_count_max) end_farewell(*farewells_.front());
  auto farewell = std::make_unique<tcp_farewell>();
  farewell->socket = std::move(socket);
  farewell->rest = std::move(rest);
  farewell->deadline = saturating_add(now_, farewell_time);
  if (!watch(farewell->socket.number(), *farewell, lane_events)) return;
  farewells_.push_back(std::move(farewell));
  on_farewell_event(*farewells_.back());
}

void tcp_world::on_farewell_event(tcp_farewell& farewell) {
  const int socket = farewell.socket.number();
  while (farewell.rest_sent < farewell.rest.size()) {
    const auto sent = ::send(socket, farewell.rest.data() + farewell.rest_sent,
                             farewell.rest.size() - farewell.rest_sent, MSG_NOSIGNAL);
    if (sent < 0 && errno == EAGAIN) break;
    if (sent < 0) return end_farewell(farewell);
    farewell.rest_sent += static_cast<std::size_t>(sent);
  }
  if (farewell.rest_sent == farewell.rest.size() && !farewell.shut_down) {
    farewell.shut_down = true;
    if (::shutdown(socket, SHUT_WR) != 0) return end_farewell(farewell);
  }
  // What the peer still sends is thrown away, a bounded amount a poll: it ends by the deadline.
  for (int i = 0; i < 16; ++i) {
    const auto received = ::recv(socket, scratch_.data(), scratch_.size(), 0);
    if (received < 0 && errno == EAGAIN) return;
    if (received <= 0) return end_farewell(farewell);
  }
  unwatch(farewell.socket);
  if (!watch(socket, farewell, lane_events)) end_farewell(farewell);
}

void tcp_world::end_farewell(tcp_farewell& farewell) {
  drop(farewell.socket);
  std::erase_if(farewells_, [&](const auto& entry) { return entry.get() == &farewell; });
}

void tcp_world::end_late_farewells() {
  std::erase_if(farewells_, [&](const auto& entry) {
    if (entry->deadline > now_) return false;
    drop(entry->socket);
    return true;
  });
}

}  // namespace troupe::net::detail
