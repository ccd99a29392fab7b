#include "net/verbs/detail/verbs_world.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "net/verbs/detail/request_id.hpp"
#include "runtime/assert.hpp"

namespace troupe::net::detail {

namespace {

// How long a quiet socket may wait: nothing but the ends of peers comes on it.
constexpr duration side_interval = std::chrono::microseconds(100);

// An accepted connection that does not greet is dropped. Chosen as for shared memory.
constexpr duration greeting_time = std::chrono::seconds(2);

// Connections without a lane. Chosen: a host's worth of ranks with all their lanes at once.
constexpr std::size_t greeting_count_max = 1024;

// Text that waits to be taken; more is left out.
constexpr std::size_t notice_bytes_max = 4096;

}  // namespace

// -- start ----------------------------------------------------------------------------------------

verbs_world::verbs_world(std::unique_ptr<tcp_network> beside,
                         std::vector<std::unique_ptr<adapter>> adapters, buffer_table& buffers,
                         descriptor epoll, std::uint64_t instance)
    : beside_(std::move(beside)),
      adapters_(std::move(adapters)),
      buffers_(buffers),
      epoll_(std::move(epoll)),
      instance_(instance) {
  buffers_.set_watcher(this);
}

verbs_world::~verbs_world() {
  buffers_.set_watcher(nullptr);
}

result<void> verbs_world::start() {
  std::vector<int> descriptors{beside_->wait_descriptor()};
  for (const auto& each : adapters_) {
    descriptors.push_back(each->channel_descriptor());
    descriptors.push_back(each->event_descriptor());
  }
  for (const int number : descriptors) {
    epoll_event event{};
    event.events = EPOLLIN;
    if (::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, number, &event) != 0)
      return fail(errc::system_failure, errno);
  }
  return {};
}

// -- lanes ----------------------------------------------------------------------------------------

std::uint64_t verbs_world::enrol(verbs_lane& lane) {
  if (free_places_.empty()) {
    free_places_.push_back(static_cast<std::uint32_t>(places_.size()));
    places_.emplace_back();
  }
  const auto index = free_places_.back();
  free_places_.pop_back();
  places_[index].lane = &lane;
  return request_id::of_lane(index, places_[index].generation);
}

void verbs_world::expel(verbs_lane& lane, std::uint64_t id) {
  ready_.remove(lane);
  std::erase(ending_, &lane);
  const auto index = request_id::place_of(id);
  places_[index].lane = nullptr;
  ++places_[index].generation;
  free_places_.push_back(index);
}

void verbs_world::watch(verbs_lane& lane) {
  if (std::find(ending_.begin(), ending_.end(), &lane) == ending_.end()) ending_.push_back(&lane);
}

// A peer that is gone comes back under another number.
std::shared_ptr<region_directory> verbs_world::regions_of(std::uint64_t instance,
                                                          std::uint16_t device) {
  std::erase_if(regions_, [](const auto& each) { return each.second.expired(); });
  auto& known = regions_[{instance, device}];
  auto found = known.lock();
  if (!found) {
    found = std::make_shared<region_directory>();
    known = found;
  }
  return found;
}

void verbs_world::on_buffer_released(buffer_id id) {
  for (auto& each : adapters_)
    each->memory().forget(id);
}

void verbs_world::on_key_revoked(buffer_id id, std::uint64_t key) {
  for (auto& each : adapters_)
    each->memory().revoke(id, key);
}

// -- dials ----------------------------------------------------------------------------------------

adapter& verbs_world::least_used_adapter() {
  std::vector<std::size_t> lane_counts(adapters_.size());
  for (const auto& each : places_)
    if (each.lane != nullptr && !each.lane->is_over()) ++lane_counts[each.lane->where().index()];
  const auto burden = [&](std::size_t index) {
    return std::pair(!adapters_[index]->port_is_active(), lane_counts[index]);
  };
  auto best = next_adapter_;
  for (std::size_t i = 1; i < adapters_.size(); ++i) {
    const auto index = (next_adapter_ + i) % adapters_.size();
    if (burden(index) < burden(best)) best = index;
  }
  next_adapter_ = (best + 1) % adapters_.size();
  return *adapters_[best];
}

greeting* verbs_world::find_dial(std::uint64_t context) {
  const auto found = std::find_if(greetings_.begin(), greetings_.end(), [&](const auto& each) {
    return each->is_dial() && each->context() == context && each->at() != greeting::stage::over;
  });
  return found == greetings_.end() ? nullptr : found->get();
}

void verbs_world::dial(const lane_address& to, std::uint64_t context, instant deadline) {
  greetings_.push_back(
      std::make_unique<greeting>(*this, greeting::purpose::queue_pair, context, deadline));
  beside_->dial(to, context, deadline);
}

void verbs_world::dial_plain(const lane_address& to, std::uint64_t context, instant deadline) {
  greetings_.push_back(
      std::make_unique<greeting>(*this, greeting::purpose::plain, context, deadline));
  beside_->dial(to, context, deadline);
}

void verbs_world::cancel_dial(std::uint64_t context) {
  beside_->cancel_dial(context);
  if (auto* found = find_dial(context)) found->abandon();
  std::erase_if(shown_, [&](const network_event& event) {
    return event.what != network_event::kind::accepted && event.context == context;
  });
}

void verbs_world::show(network_event::kind what, std::uint64_t context,
                       std::unique_ptr<lane> opened) {
  shown_.push_back({.what = what, .opened = std::move(opened), .context = context});
}

void verbs_world::show_failure(std::uint64_t context, error cause) {
  shown_.push_back({.what = network_event::kind::dial_failed, .context = context, .cause = cause});
}

void verbs_world::note(const std::string& text) {
  if (notice_.size() + text.size() > notice_bytes_max) return;
  notice_ += (notice_.empty() ? "" : "; ") + text;
}

void verbs_world::note_device_counts(std::uint16_t theirs) {
  if (theirs == adapter_count() || std::exchange(counts_noted_, true)) return;
  note("this rank uses " + std::to_string(adapter_count()) + " RDMA ports (" +
       adapters_.front()->port().device + ", ...) and a peer " + std::to_string(theirs) +
       ": lanes between them take those that both have; verbs.devices chooses");
}

void verbs_world::note_registration_failure(error cause, std::uint64_t bytes) {
  note(cause.native == ENOMEM
           ? locked_memory_text(bytes)
           : std::to_string(bytes) +
                 " bytes cannot be registered with an RDMA device: " + std::strerror(cause.native));
}

// -- poll -----------------------------------------------------------------------------------------

std::size_t verbs_world::poll(instant now, std::span<network_event> out) {
  now_ = now;
  ++turn_;
  if (side_is_due(now)) look_at_side();
  poll_completions();
  run_deadlines();
  waited_ = false;
  std::size_t count = 0;
  for (; count < out.size() && !shown_.empty(); ++count) {
    out[count] = std::move(shown_.front());
    shown_.pop_front();
  }
  for (; count < out.size() && !ready_.empty(); ++count)
    out[count] = {.what = network_event::kind::lane_ready, .ready = &ready_.pop()};
  return count;
}

void verbs_world::poll_completions() {
  more_completions_ = false;
  for (auto& each : adapters_) {
    const bool more = each->queues().poll([&](const ibv_wc& done) {
      const auto index = request_id::place_of(done.wr_id);
      if (index >= places_.size()) return;
      const auto& found = places_[index];
      // What a pair left behind that is gone belongs to nobody.
      if (found.lane != nullptr && found.generation == request_id::generation_of(done.wr_id))
        found.lane->on_completion(done);
    });
    more_completions_ = more_completions_ || more;
  }
}

bool verbs_world::side_is_due(instant now) const {
  return waited_ || !greetings_.empty() || now - side_looked_ >= side_interval ||
         beside_->next_deadline() <= now;
}

void verbs_world::look_at_side() {
  side_looked_ = now_;
  for (auto& each : adapters_) {
    if (waited_) each->queues().drain_events();
    look_at_device(*each);
  }
  std::array<network_event, 16> events;
  std::size_t count = 0;
  do {
    count = beside_->poll(now_, events);
    for (std::size_t i = 0; i < count; ++i) {
      on_side_event(events[i]);
      events[i].opened.reset();
    }
  } while (count == events.size());
}

void verbs_world::on_side_event(network_event& event) {
  switch (event.what) {
    case network_event::kind::lane_ready:
      if (auto* owner = side_owner::of(*event.ready)) owner->on_side_ready();
      break;
    case network_event::kind::accepted:
      if (greetings_.size() < greeting_count_max)
        greetings_.push_back(std::make_unique<greeting>(*this, std::move(event.opened),
                                                        saturating_add(now_, greeting_time)));
      else
        ++refused_total_;
      break;
    case network_event::kind::connected:
      if (auto* dial = find_dial(event.context)) dial->on_connected(std::move(event.opened));
      break;
    case network_event::kind::dial_failed:
      if (auto* dial = find_dial(event.context)) dial->give_up(event.cause);
      break;
  }
}

void verbs_world::run_deadlines() {
  for (auto& each : greetings_)
    if (each->at() != greeting::stage::over && each->deadline() <= now_)
      each->give_up({errc::timed_out, ETIMEDOUT});
  std::erase_if(greetings_, [](const auto& each) { return each->at() == greeting::stage::over; });
  for (auto* lane : ending_)
    if (lane->deadline() <= now_) lane->on_deadline();
  std::erase_if(ending_, [](const verbs_lane* lane) { return lane->deadline() == never; });
}

instant verbs_world::next_deadline() const {
  if (!shown_.empty() || !ready_.empty() || more_completions_) return now_;
  instant next = beside_->next_deadline();
  for (const auto& each : greetings_)
    next = std::min(next, each->deadline());
  for (const auto* lane : ending_)
    next = std::min(next, lane->deadline());
  return next;
}

instant verbs_world::prepare_to_wait() {
  waited_ = true;
  for (auto& each : adapters_)
    each->queues().arm();
  // What came before the queues were armed rings no bell.
  poll_completions();
  return std::min(next_deadline(), beside_->prepare_to_wait());
}

// -- devices --------------------------------------------------------------------------------------

void verbs_world::look_at_device(adapter& where) {
  ibv_async_event event{};
  while (ibv_get_async_event(&where.device(), &event) == 0) {
    on_device_event(where, event);
    ibv_ack_async_event(&event);
  }
}

void verbs_world::on_device_event(adapter& where, const ibv_async_event& event) {
  const auto name = where.port().device + ":" + std::to_string(where.port().number);
  switch (event.event_type) {
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
      for (const auto& each : places_)
        if (each.lane != nullptr && each.lane->owns(event.element.qp))
          each.lane->on_event({errc::peer_lost, static_cast<std::int32_t>(event.event_type)});
      break;
    case IBV_EVENT_DEVICE_FATAL:
      note("RDMA device " + where.port().device + " failed");
      lose_all(where, {errc::peer_lost, static_cast<std::int32_t>(event.event_type)});
      break;
    case IBV_EVENT_PORT_ERR:
      // Its lanes live until their requests fail: a port that comes back in time loses none.
      if (event.element.port_num == where.port().number) note("RDMA port " + name + " went down");
      break;
    case IBV_EVENT_PORT_ACTIVE:
      if (event.element.port_num != where.port().number) break;
      note("RDMA port " + name + " is active");
      give_share_to(where);
      break;
    default: break;
  }
}

// Lanes that went to other devices while the port was down come back: of the lanes to each peer, as
// many as make this device's part of them end and are made anew, here as it has the fewest. The
// part is rounded down, so a peer always keeps a lane. Its end may do the same at this moment: both
// choose the same lanes.
void verbs_world::give_share_to(const adapter& where) {
  std::map<std::uint64_t, std::vector<verbs_lane*>> lanes_by_peer;
  for (const auto& each : places_)
    if (each.lane != nullptr && each.lane->is_open())
      lanes_by_peer[each.lane->peer_instance()].push_back(each.lane);
  for (auto& [peer, lanes] : lanes_by_peer) {
    std::vector<std::size_t> counts(adapters_.size());
    for (const auto* lane : lanes)
      ++counts[lane->where().index()];
    const auto share = lanes.size() / adapters_.size();
    const auto burden = [&](const verbs_lane* lane) {
      const auto index = lane->where().index();
      return std::pair(index == where.index() ? 0 : counts[index], lane->mutual_number());
    };
    while (counts[where.index()] < share) {
      const auto chosen = std::max_element(
          lanes.begin(), lanes.end(),
          [&](const auto* one, const auto* other) { return burden(one) < burden(other); });
      auto& lane = **chosen;
      lanes.erase(chosen);
      --counts[lane.where().index()];
      ++counts[where.index()];
      lane.give_way();
    }
  }
}

void verbs_world::lose_all(const adapter& where, error cause) {
  for (const auto& each : places_)
    if (each.lane != nullptr && &each.lane->where() == &where) each.lane->on_event(cause);
}

}  // namespace troupe::net::detail
