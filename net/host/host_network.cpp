#include "net/host/host_network.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "net/tcp/tcp_address.hpp"

namespace troupe::net {

namespace {

// How long a quiet socket may wait while the rings are polled in vain: an epoll_wait of 0.4 us
// costs nobody anything then, and a packet over a network takes longer. While the rings are busy it
// costs them, so it may wait for longer. Chosen: 0.4 % of the time.
constexpr duration tcp_interval = std::chrono::microseconds(20);
constexpr duration tcp_interval_when_busy = std::chrono::microseconds(100);

// Polls in a row without an event after which the rings are not busy.
constexpr std::uint32_t vain_poll_count = 32;

// Sockets on which something happened are asked in every poll for this long.
constexpr duration tcp_busy_time = std::chrono::milliseconds(1);

// Text that waits to be taken; more is left out.
constexpr std::size_t notice_bytes_max = 4096;

bool is_loopback(const lane_address& address) {
  constexpr std::array<std::byte, 12> mapped{
      std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0},    std::byte{0},
      std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0xff}, std::byte{0xff}};
  return std::equal(mapped.begin(), mapped.end(), address.host.begin()) &&
         address.host[12] == std::byte{127};
}

bool holds(const std::vector<lane_address>& list, const lane_address& address) {
  return std::find(list.begin(), list.end(), address) != list.end();
}

// Where the sockets will listen, if that is settled.
std::optional<lane_address> known_address(const tcp_network_options& options) {
  const bool one_port = options.port_first != 0 &&
                        (options.port_last == 0 || options.port_last == options.port_first);
  auto address = choose_listen_address(options.interface, options.route_to);
  if (!one_port || !address) return std::nullopt;
  address->port = options.port_first;
  return *address;
}

bool watch(int epoll, int descriptor) {
  epoll_event event{};
  event.events = EPOLLIN;
  return ::epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

}  // namespace

outcome<std::unique_ptr<host_network>> host_network::make(const host_network_options& options,
                                                          buffer_table& buffers) {
  // Peers that know the port beforehand, as that of a rendezvous, may dial at any moment: when they
  // find the socket they should find the memory, too.
  const auto known = known_address(options.tcp);
  auto shm = known ? shm_network::make({options.shm, *known, options.tcp.ledger}, buffers)
                   : outcome<std::unique_ptr<shm_network>>();
  auto tcp = tcp_network::make(options.tcp, buffers);
  if (!tcp) return fail(std::move(tcp.error()));
  if (!known)
    shm = shm_network::make({options.shm, (*tcp)->address(), options.tcp.ledger}, buffers);
  if (!shm && options.lanes == host_lanes::required) return fail(std::move(shm.error()));
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  std::unique_ptr<host_network> made(new host_network(
      options, std::move(*tcp), shm ? std::move(*shm) : std::unique_ptr<shm_network>(), epoll));
  if (!shm) made->note("all lanes are sockets: " + shm.error().message);
  if (epoll < 0 || !watch(epoll, made->tcp_->wait_descriptor()) ||
      (shm && !watch(epoll, made->shm_->wait_descriptor())))
    return fail(failure({errc::system_failure, errno},
                        std::string("epoll for two kinds of lanes: ") + std::strerror(errno)));
  return made;
}

host_network::host_network(const host_network_options& options, std::unique_ptr<tcp_network> tcp,
                           std::unique_ptr<shm_network> shm, int epoll)
    : lanes_(options.lanes), tcp_(std::move(tcp)), shm_(std::move(shm)), epoll_(epoll) {
  for (auto& entry : interfaces()) {
    entry.address.port = 0;
    here_.push_back(entry.address);
  }
}

host_network::~host_network() {
  if (epoll_ >= 0) ::close(epoll_);
}

bool host_network::is_here(const lane_address& address) const {
  if (is_loopback(address)) return true;
  return std::any_of(here_.begin(), here_.end(),
                     [&](const lane_address& each) { return each.host == address.host; });
}

lane_kind host_network::kind_to(const lane_address& peer) const {
  if (!shm_) return lane_kind::tcp;
  if (lanes_ == host_lanes::required) return lane_kind::shm;
  return is_here(peer) && !holds(over_tcp_, peer) ? lane_kind::shm : lane_kind::tcp;
}

void host_network::note(const std::string& text) {
  if (notice_.size() + text.size() > notice_bytes_max) return;
  notice_ += (notice_.empty() ? "" : "; ") + text;
}

std::string host_network::take_notice() {
  if (const auto said = shm_ ? shm_->take_notice() : std::string(); !said.empty()) note(said);
  return std::exchange(notice_, {});
}

// -- dials ----------------------------------------------------------------------------------------

std::vector<host_network::host_dial>::iterator host_network::find(std::uint64_t context) {
  return std::find_if(dials_.begin(), dials_.end(),
                      [&](const host_dial& each) { return each.context == context; });
}

void host_network::dial(const lane_address& to, std::uint64_t context, instant deadline) {
  if (shm_ && is_here(to)) {
    dials_.push_back({context, to, deadline, {}});
    // Half of the time is left for a socket.
    const bool halves = lanes_ == host_lanes::preferred && deadline != never && now_ != instant{};
    return shm_->dial(to, context, halves ? now_ + (deadline - now_) / 2 : deadline);
  }
  if (may_reach(to, context)) tcp_->dial(to, context, deadline);
}

void host_network::dial_plain(const lane_address& to, std::uint64_t context, instant deadline) {
  if (may_reach(to, context)) tcp_->dial(to, context, deadline);
}

// Where shared memory is required another host is refused at the first dial of any kind.
bool host_network::may_reach(const lane_address& to, std::uint64_t context) {
  if (lanes_ == host_lanes::preferred || is_here(to)) return true;
  note("transport.lanes is shm, and " + to_string(to) +
       " is not an address of this host, which is " + to_string(address()) +
       "; set transport.lanes to auto");
  network_event event;
  event.what = network_event::kind::dial_failed;
  event.context = context;
  event.cause = {errc::unreachable, EXDEV};
  failed_.push_back(std::move(event));
  return false;
}

void host_network::cancel_dial(std::uint64_t context) {
  std::erase_if(dials_, [&](const host_dial& each) { return each.context == context; });
  std::erase_if(failed_, [&](const network_event& each) { return each.context == context; });
  if (shm_) shm_->cancel_dial(context);
  tcp_->cancel_dial(context);
}

std::string host_network::reason_of(const error& cause, const lane_address& to) const {
  if (cause.code == errc::resource_exhausted && !shm_->trouble().empty()) return shm_->trouble();
  switch (cause.native) {
    case ECONNREFUSED:
      return "nobody on this host answers for " + to_string(to) +
             " in shared memory: transport.lanes is tcp there, or it runs in another network "
             "namespace";
    case EPERM: return shm_->trouble();
    default: return std::string(std::strerror(cause.native));
  }
}

// What becomes of an event of shared memory; false: it is not for the caller.
bool host_network::keep_shm_event(network_event& event) {
  if (event.what != network_event::kind::connected &&
      event.what != network_event::kind::dial_failed)
    return true;
  const auto dial = find(event.context);
  if (dial == dials_.end()) return true;
  if (event.what == network_event::kind::connected) {
    if (std::erase(over_tcp_, dial->to) != 0) ++kind_changes_;
    dials_.erase(dial);
    return true;
  }
  auto why = reason_of(event.cause, dial->to);
  if (lanes_ == host_lanes::required) {
    note("no lane to " + to_string(dial->to) + " through shared memory: " + why);
    dials_.erase(dial);
    return true;
  }
  dial->why_not_shm = std::move(why);
  dial->was_refused = event.cause.native == ECONNREFUSED;
  tcp_->dial(dial->to, dial->context, dial->deadline);
  return false;
}

// -- poll -----------------------------------------------------------------------------------------

std::size_t host_network::poll(instant now, std::span<network_event> out) {
  now_ = now;
  std::size_t count = 0;
  while (count < out.size() && !failed_.empty()) {
    out[count++] = std::move(failed_.back());
    failed_.pop_back();
  }
  if (shm_) count += poll_shm(now, out.subspan(count));
  if (tcp_is_due(now)) count += poll_tcp(now, out.subspan(count));
  waited_ = false;
  return count;
}

std::size_t host_network::poll_shm(instant now, std::span<network_event> out) {
  const auto found = shm_->poll(now, out);
  vain_polls_ = found == 0 ? vain_polls_ + 1 : 0;
  if (dials_.empty()) return found;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < found; ++i) {
    if (!keep_shm_event(out[i])) continue;
    if (kept != i) out[kept] = std::move(out[i]);
    ++kept;
  }
  return kept;
}

bool host_network::tcp_is_due(instant now) const {
  const auto interval = vain_polls_ < vain_poll_count ? tcp_interval_when_busy : tcp_interval;
  return !shm_ || waited_ || now < tcp_busy_until_ || now - tcp_polled_ >= interval ||
         tcp_->next_deadline() <= now;
}

std::size_t host_network::poll_tcp(instant now, std::span<network_event> out) {
  tcp_polled_ = now;
  const auto count = tcp_->poll(now, out);
  if (count != 0) tcp_busy_until_ = now + tcp_busy_time;
  if (dials_.empty()) return count;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!keep_tcp_event(out[i])) continue;
    if (kept != i) out[kept] = std::move(out[i]);
    ++kept;
  }
  return kept;
}

// What becomes of an event of the sockets; false: it is not for the caller.
bool host_network::keep_tcp_event(network_event& event) {
  const bool stands = event.what == network_event::kind::connected;
  if (!stands && event.what != network_event::kind::dial_failed) return true;
  const auto dial = find(event.context);
  if (dial == dials_.end()) return true;
  if (stands && !holds(over_tcp_, dial->to)) {
    // A peer's memory answers before its socket does: what refused may just have come to life.
    if (dial->was_refused && !std::exchange(dial->asked_again, true)) {
      event.opened.reset();
      shm_->dial(dial->to, dial->context, dial->deadline);
      return false;
    }
    over_tcp_.push_back(dial->to);
    ++kind_changes_;
    note("lanes to " + to_string(dial->to) +
         " are sockets, not shared memory: " + dial->why_not_shm);
  }
  dials_.erase(dial);
  return true;
}

instant host_network::next_deadline() const {
  if (!failed_.empty()) return now_;
  const auto next = tcp_->next_deadline();
  return shm_ ? std::min(next, shm_->next_deadline()) : next;
}

instant host_network::prepare_to_wait() {
  waited_ = true;
  const auto next = next_deadline();
  return shm_ ? std::min(next, shm_->prepare_to_wait()) : next;
}

std::uint64_t host_network::refused_total() const {
  return tcp_->refused_total() + (shm_ ? shm_->refused_total() : 0);
}

}  // namespace troupe::net
