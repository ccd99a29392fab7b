#include "net/shm/detail/shm_world.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "net/shm/detail/memory_reader.hpp"
#include "net/shm/detail/unix_socket.hpp"
#include "runtime/assert.hpp"

namespace troupe::net::detail {

namespace {

// How long a polling endpoint may miss a new connection or the end of a peer. Chosen: one
// epoll_wait of 0.4 us in 200 us is 0.2 %.
constexpr duration look_interval = std::chrono::microseconds(200);

constexpr std::size_t event_count_max = 64;

// Accepted and not greeted yet; more wait in the listener's queue.
constexpr std::size_t opening_count_max = 64;

// A peer of this host answers in microseconds, unless it stands still; then it has no lane.
constexpr duration greeting_time = std::chrono::seconds(2);

// How long accepting rests when the system has no descriptor or memory for it.
constexpr duration accept_pause = std::chrono::milliseconds(100);

// Between two tries while the listener's queue is full.
constexpr duration retry_pause = std::chrono::milliseconds(1);

}  // namespace

shm_world::shm_world(descriptor epoll, descriptor listener, const shm_network_options& options,
                     buffer_table& buffers, std::uint64_t probe_value)
    : options_(options),
      buffers_(buffers),
      epoll_(std::move(epoll)),
      listener_(std::move(listener)),
      probe_(probe_value) {}

result<void> shm_world::start() {
  listening_ = watch(listener_, listener_target_);
  if (!listening_) return fail(errc::system_failure, errno);
  return {};
}

bool shm_world::watch(const descriptor& socket, socket_target& target) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP;
  event.data.ptr = &target;
  return ::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, socket.number(), &event) == 0;
}

void shm_world::unwatch(const descriptor& socket) {
  if (socket.valid()) ::epoll_ctl(epoll_.number(), EPOLL_CTL_DEL, socket.number(), nullptr);
}

// A forked child may hold a copy of the socket: only `shutdown` ends it for the peer.
void shm_world::drop(descriptor& socket) {
  if (!socket.valid()) return;
  unwatch(socket);
  ::shutdown(socket.number(), SHUT_RDWR);
  socket.reset();
}

void shm_world::enrol(shm_lane& lane) {
  lanes_.push_back(&lane);
  // Not watched: the end is found with the first look.
  if (!watch(lane.socket(), lane)) lane.on_socket();
}

void shm_world::expel(shm_lane& lane) {
  std::erase(lanes_, &lane);
}

// -- poll -----------------------------------------------------------------------------------------

std::size_t shm_world::poll(instant now, std::span<network_event> out) {
  now_ = now;
  ++turn_;
  const bool parked = armed_;
  if (parked) disarm();
  if (parked || !openings_.empty() || !listening_ || now - looked_ >= look_interval)
    look_at_sockets();

  std::size_t count = 0;
  for (; count < out.size() && !notices_.empty(); ++count) {
    out[count] = open(notices_.front());
    notices_.pop_front();
  }
  const auto lane_count = lanes_.size();
  for (std::size_t i = 0; i < lane_count && count < out.size(); ++i) {
    if (next_lane_ >= lane_count) next_lane_ = 0;
    auto& lane = *lanes_[next_lane_++];
    if (lane.is_announced() || !lane.wants_poll()) continue;
    lane.announce();
    out[count++] = {.what = network_event::kind::lane_ready, .ready = &lane};
  }
  return count;
}

void shm_world::look_at_sockets() {
  looked_ = now_;
  std::array<epoll_event, event_count_max> events;
  const int found = ::epoll_wait(epoll_.number(), events.data(), event_count_max, 0);
  for (int i = 0; i < found; ++i) {
    auto& target = *static_cast<socket_target*>(events[static_cast<std::size_t>(i)].data.ptr);
    switch (target.what) {
      case socket_target::kind::listener: accept_some(); break;
      case socket_target::kind::greeting: on_opening(static_cast<shm_opening&>(target)); break;
      case socket_target::kind::lane: static_cast<shm_lane&>(target).on_socket(); break;
    }
  }
  run_deadlines();
  std::erase_if(openings_, [](const auto& each) { return each->at == shm_opening::stage::over; });
  rest_or_listen();
}

// A listener that is not accepted from stays readable: nobody could park.
void shm_world::rest_or_listen() {
  const bool wanted = openings_.size() < opening_count_max && listen_again_ <= now_;
  if (wanted == listening_) return;
  listening_ = wanted && watch(listener_, listener_target_);
  if (!wanted) unwatch(listener_);
}

void shm_world::disarm() {
  armed_ = false;
  for (auto* lane : lanes_)
    lane->disarm_bell();
}

// The caller is about to sleep: whoever posts from now on rings, and what was posted before is
// found here.
instant shm_world::prepare_to_wait() {
  armed_ = true;
  for (auto* lane : lanes_)
    lane->arm_bell();
  for (auto* lane : lanes_)
    if (lane->wants_poll()) return now_;
  return next_deadline();
}

instant shm_world::next_deadline() const {
  if (!notices_.empty()) return now_;
  instant next = listening_ ? never : std::max(listen_again_, now_ + accept_pause);
  for (const auto& opening : openings_)
    next = std::min({next, opening->deadline, opening->retry_at});
  return next;
}

network_event shm_world::open(notice& from) {
  if (from.what == network_event::kind::dial_failed)
    return {.what = from.what, .context = from.context, .cause = from.cause};
  return {.what = from.what,
          .opened = std::make_unique<shm_lane>(*this, std::move(from.opened)),
          .context = from.context};
}

// -- greetings ------------------------------------------------------------------------------------

void shm_world::accept_some() {
  while (openings_.size() < opening_count_max) {
    auto opening = std::make_unique<shm_opening>();
    opening->socket =
        descriptor(::accept4(listener_.number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!opening->socket.valid()) {
      if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
        listen_again_ = saturating_add(now_, accept_pause);
      return;
    }
    const auto peer = peer_of(opening->socket);
    opening->side = 1;
    opening->peer = peer.process;
    opening->deadline = saturating_add(now_, greeting_time);
    if (!peer.same_user || !watch(opening->socket, *opening)) {
      ++refused_total_;
      continue;
    }
    openings_.push_back(std::move(opening));
  }
}

void shm_world::dial(const lane_address& to, std::uint64_t context, instant deadline) {
  auto opening = std::make_unique<shm_opening>();
  opening->to = to;
  opening->context = context;
  opening->deadline = deadline;
  begin_dial(*opening);
  if (opening->at != shm_opening::stage::over) openings_.push_back(std::move(opening));
}

void shm_world::begin_dial(shm_opening& opening) {
  auto socket = connect_unix(opening.to);
  if (!socket && socket.error().code == errc::queue_full) {
    opening.at = shm_opening::stage::queueing;
    opening.retry_at = saturating_add(now_, retry_pause);
    return;
  }
  if (!socket) return give_up(opening, socket.error());
  const auto peer = peer_of(*socket);
  if (!peer.same_user) {
    trouble_ = "the process that answers for " + to_string(opening.to) + " belongs to another user";
    return give_up(opening, {errc::unreachable, EPERM});
  }
  opening.retry_at = never;
  opening.peer = peer.process;
  opening.socket = std::move(*socket);
  opening.at = shm_opening::stage::awaiting_answer;
  const auto hello = encode(shm_greeting{.what = shm_greeting::kind::hello,
                                         .probe_address = reinterpret_cast<std::uintptr_t>(&probe_),
                                         .probe_value = probe_,
                                         .sizes = {}});
  if (!send_packet(opening.socket, hello, -1) || !watch(opening.socket, opening))
    give_up(opening, {errc::unreachable, errno});
}

void shm_world::cancel_dial(std::uint64_t context) {
  std::erase_if(openings_, [&](const auto& each) {
    if (!each->is_dial() || each->context != context) return false;
    drop(each->socket);
    return true;
  });
  std::erase_if(notices_, [&](const notice& entry) {
    return entry.what != network_event::kind::accepted && entry.context == context;
  });
}

void shm_world::on_opening(shm_opening& opening) {
  std::array<std::byte, shm_greeting_bytes + 1> bytes;
  auto packet = receive_packet(opening.socket, bytes);
  if (packet.what == unix_packet::kind::none) return;
  if (packet.what == unix_packet::kind::ended)
    return give_up(opening, {errc::unreachable, ECONNRESET});
  const auto said = decode_shm_greeting(std::span(bytes).first(packet.bytes));
  if (!said) return give_up(opening, {errc::unreachable, EPROTO});
  on_greeting(opening, *said, std::move(packet.file));
}

void shm_world::on_greeting(shm_opening& opening, const shm_greeting& said, descriptor file) {
  using kind = shm_greeting::kind;
  using stage = shm_opening::stage;
  if (opening.at == stage::awaiting_hello && said.what == kind::hello) return answer(opening, said);
  if (opening.at == stage::awaiting_answer && said.what == kind::answer)
    return send_segment(opening, said);
  if (opening.at == stage::awaiting_segment && said.what == kind::segment)
    return adopt_segment(opening, said, std::move(file));
  give_up(opening, {errc::unreachable, EPROTO});
}

bool shm_world::may_pull(const shm_opening& opening, const shm_greeting& said) {
  if (options_.memory.large_writes == "ring") {
    trouble_ = "large writes take the ring because shm.large_writes is ring";
    return false;
  }
  if (opening.peer == ::getpid() && options_.memory.large_writes == "auto") return true;
  const auto found = probe(opening.peer, said.probe_address, said.probe_value);
  if (!found) {
    const int code = found.error().native;
    trouble_ =
        "large writes take the ring: process " + std::to_string(opening.peer) +
        " cannot be read (process_vm_readv: " + (code == 0 ? "other memory" : std::strerror(code)) +
        ")";
    notice_ = trouble_;
  }
  return found.has_value();
}

source_path shm_world::path_of(const shm_opening& opening, bool pulls) const {
  if (!pulls) return source_path::ring;
  const bool direct = opening.peer == ::getpid() && options_.memory.large_writes == "auto";
  return direct ? source_path::direct : source_path::pulled;
}

void shm_world::answer(shm_opening& opening, const shm_greeting& hello) {
  opening.may_pull = may_pull(opening, hello);
  opening.at = shm_opening::stage::awaiting_segment;
  const auto bytes = encode(shm_greeting{.what = shm_greeting::kind::answer,
                                         .may_pull = opening.may_pull,
                                         .probe_address = reinterpret_cast<std::uintptr_t>(&probe_),
                                         .probe_value = probe_,
                                         .sizes = {}});
  if (!send_packet(opening.socket, bytes, -1)) give_up(opening, {errc::unreachable, errno});
}

void shm_world::send_segment(shm_opening& opening, const shm_greeting& answer) {
  const bool pulls = may_pull(opening, answer) && answer.may_pull;
  const shm_geometry sizes{.ring_bytes = options_.memory.ring_bytes,
                           .bulk_bytes = pulls ? 0 : options_.memory.bulk_bytes,
                           .depth = options_.memory.lane_depth};
  auto memory = segment::create(sizes);
  if (!memory) {
    trouble_ = memory.error().message;
    return give_up(opening, memory.error().what);
  }
  const auto bytes = encode(shm_greeting{.what = shm_greeting::kind::segment, .sizes = sizes});
  if (!send_packet(opening.socket, bytes, memory->file().number()))
    return give_up(opening, {errc::unreachable, errno});
  finish(opening, std::move(*memory), path_of(opening, pulls));
}

void shm_world::adopt_segment(shm_opening& opening, const shm_greeting& said, descriptor file) {
  const bool pulls = said.sizes.bulk_bytes == 0;
  if (pulls && !opening.may_pull) return give_up(opening, {errc::unreachable, EPROTO});
  auto memory = segment::adopt(std::move(file), said.sizes);
  if (!memory) return give_up(opening, memory.error());
  finish(opening, std::move(*memory), path_of(opening, pulls));
}

void shm_world::finish(shm_opening& opening, segment memory, source_path path) {
  unwatch(opening.socket);
  notices_.push_back(
      {.what = opening.is_dial() ? network_event::kind::connected : network_event::kind::accepted,
       .context = opening.context,
       .opened = {.socket = std::move(opening.socket),
                  .memory = std::move(memory),
                  .side = opening.side,
                  .peer = opening.peer,
                  .path = path}});
  opening.at = shm_opening::stage::over;
}

void shm_world::give_up(shm_opening& opening, error cause) {
  drop(opening.socket);
  opening.at = shm_opening::stage::over;
  if (!opening.is_dial()) {
    ++refused_total_;
    return;
  }
  notices_.push_back({.what = network_event::kind::dial_failed,
                      .context = opening.context,
                      .opened = {},
                      .cause = cause});
}

void shm_world::run_deadlines() {
  for (const auto& each : openings_) {
    auto& opening = *each;
    if (opening.at == shm_opening::stage::over) continue;
    if (opening.deadline <= now_) {
      give_up(opening, {errc::timed_out, ETIMEDOUT});
    } else if (opening.retry_at <= now_) {
      begin_dial(opening);
    }
  }
}

}  // namespace troupe::net::detail
