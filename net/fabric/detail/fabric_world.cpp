#include "net/fabric/detail/fabric_world.hpp"

#include <algorithm>

#include "net/fabric/detail/fabric_handles.hpp"
#include "runtime/assert.hpp"

namespace troupe::net::detail {

namespace {

// Names of the random streams: an extra draw in one shifts no other.
constexpr std::uint64_t jitter_stream = 1;
constexpr std::uint64_t fault_stream = 2;
constexpr std::uint64_t order_stream = 3;

}  // namespace

fabric_world::fabric_world(const fabric_options& options)
    : options_(options),
      jitter_(random_stream(options.seed).fork(jitter_stream)),
      faults_(random_stream(options.seed).fork(fault_stream)),
      order_(random_stream(options.seed).fork(order_stream)) {
  TROUPE_ASSERT(options.lane_depth > 0);
  TROUPE_ASSERT(options.bytes_per_second > 0);
  rules_.push_back({});
  usual_wires_ = {options.latency, options.bytes_per_second};
  wire_kinds_.fill(usual_wires_);
}

// -- time -----------------------------------------------------------------------------------------

bool fabric_world::is_stale(const planned_event& event) const {
  switch (static_cast<event_kind>(event.what)) {
    case event_kind::arrival:
    case event_kind::loss: return wires_[event.subject >> 1].generation != event.generation;
    case event_kind::port_reached: return frames_[event.subject].passage != event.generation;
    case event_kind::completion_back: return false;
    case event_kind::give_up: {
      const auto& half = at(event.subject);
      return !half.waits_for_group || half.wait_stamp != event.generation;
    }
    case event_kind::dial_arrived:
    case event_kind::dial_refused:
    case event_kind::dial_connected:
    case event_kind::dial_deadline: return dials_[event.subject].generation != event.generation;
  }
  return true;
}

// Keeps the front of the queue true, so that `next_event` never names a moment at which nothing
// happens any more (the deadline of a dial that stands).
void fabric_world::drop_stale() {
  while (!queue_.empty() && is_stale(queue_.top()))
    queue_.pop();
}

bool fabric_world::run_next() {
  if (queue_.empty()) return false;
  const auto event = queue_.top();
  queue_.pop();
  now_ = std::max(now_, event.at);
  happen(event);
  drop_stale();
  return true;
}

void fabric_world::run_until(instant until) {
  while (!queue_.empty() && queue_.top().at <= until)
    run_next();
  now_ = std::max(now_, until);
}

void fabric_world::happen(const planned_event& event) {
  ++event_total_;
  switch (static_cast<event_kind>(event.what)) {
    case event_kind::arrival: return on_arrival(event.subject);
    case event_kind::port_reached: return on_port_reached(event.subject);
    case event_kind::completion_back: return on_completion_back(event.subject);
    case event_kind::loss: return on_loss(event.subject);
    case event_kind::give_up: return on_give_up(event.subject);
    case event_kind::dial_arrived: return on_dial_arrived(event.subject);
    case event_kind::dial_refused: return on_dial_refused(event.subject);
    case event_kind::dial_connected: return on_dial_connected(event.subject);
    case event_kind::dial_deadline: return on_dial_deadline(event.subject);
  }
}

const fabric_wire_kind& fabric_world::wires_between(std::uint32_t a, std::uint32_t b) const {
  if (a >= endpoints_.size() || b >= endpoints_.size()) return usual_wires_;
  const auto& one = endpoints_[a].place;
  const auto& other = endpoints_[b].place;
  if (!one || !other) return usual_wires_;
  auto how_far = fabric_distance::cross_data_center;
  if (one->host == other->host)
    how_far = fabric_distance::same_host;
  else if (one->rack == other->rack)
    how_far = fabric_distance::same_rack;
  else if (one->zone == other->zone)
    how_far = fabric_distance::same_zone;
  else if (one->data_center == other->data_center)
    how_far = fabric_distance::cross_zone;
  return wire_kinds_[static_cast<std::size_t>(how_far)];
}

duration fabric_world::wire_delay(std::uint32_t from, std::uint32_t to) {
  const auto latency = wires_between(from, to).latency;
  if (options_.jitter <= duration::zero()) return latency;
  const auto extra = jitter_.below(static_cast<std::uint64_t>(options_.jitter.count()) + 1);
  return latency + duration(static_cast<duration::rep>(extra));
}

void fabric_world::set_place(std::uint32_t endpoint, const fabric_place& place) {
  endpoint_at(endpoint).place = place;
}

void fabric_world::set_wires(fabric_distance how_far, const fabric_wire_kind& wires) {
  TROUPE_ASSERT(wires.bytes_per_second > 0);
  wire_kinds_[static_cast<std::size_t>(how_far)] = wires;
}

void fabric_world::set_planes(std::uint32_t count) {
  TROUPE_ASSERT(count >= 1 && count <= plane_count_max);
  plane_count_ = count;
}

// -- frames ---------------------------------------------------------------------------------------

std::uint32_t fabric_world::take_frame() {
  if (free_frames_ == no_index) {
    frames_.emplace_back();
    return static_cast<std::uint32_t>(frames_.size() - 1);
  }
  const auto frame = free_frames_;
  free_frames_ = frames_[frame].next;
  frames_[frame] = {};
  return frame;
}

void fabric_world::free_frame(std::uint32_t frame) {
  auto& entry = frames_[frame];
  if (entry.block != no_block) bytes_.give_back(entry.block);
  entry.block = no_block;
  entry.passage = 0;
  entry.next = free_frames_;
  free_frames_ = frame;
}

void fabric_world::append(frame_list& list, std::uint32_t frame) {
  frames_[frame].next = no_index;
  (list.tail == no_index ? list.head : frames_[list.tail].next) = frame;
  list.tail = frame;
}

std::uint32_t fabric_world::pop(frame_list& list) {
  const auto frame = list.head;
  list.head = frames_[frame].next;
  if (list.head == no_index) list.tail = no_index;
  return frame;
}

void fabric_world::drop_all(frame_list& list) {
  while (list.head != no_index)
    free_frame(pop(list));
}

// -- ready lanes and endpoints --------------------------------------------------------------------

void fabric_world::make_ready(std::uint32_t half) {
  auto& entry = at(half);
  if (entry.lane == nullptr || entry.closed) return;
  auto& endpoint = endpoints_[entry.endpoint];
  if (!entry.ready) {
    entry.ready = true;
    entry.ready_before = endpoint.ready_last;
    entry.ready_after = no_index;
    const auto last = endpoint.ready_last;
    (last == no_index ? endpoint.ready_first : at(last).ready_after) = half;
    endpoint.ready_last = half;
  }
  make_endpoint_ready(entry.endpoint);
}

void fabric_world::unlink_ready(std::uint32_t half) {
  auto& entry = at(half);
  if (!entry.ready) return;
  auto& endpoint = endpoints_[entry.endpoint];
  const auto before = entry.ready_before;
  const auto after = entry.ready_after;
  (before == no_index ? endpoint.ready_first : at(before).ready_after) = after;
  (after == no_index ? endpoint.ready_last : at(after).ready_before) = before;
  entry.ready = false;
}

void fabric_world::make_endpoint_ready(std::uint32_t endpoint) {
  auto& entry = endpoints_[endpoint];
  if (entry.ready) return;
  entry.ready = true;
  if (!entry.paused) ready_.push_back(endpoint);
}

bool fabric_world::take_ready(std::uint32_t& endpoint) {
  if (ready_.empty()) return false;
  const auto chosen = ready_.size() == 1 ? 0 : order_.below(ready_.size());
  endpoint = ready_[chosen];
  ready_[chosen] = ready_.back();
  ready_.pop_back();
  endpoints_[endpoint].ready = false;
  return true;
}

// -- networks -------------------------------------------------------------------------------------

fabric_endpoint& fabric_world::endpoint_at(std::uint32_t endpoint) {
  // Chosen: ten times the largest job of the design; a larger number is a broken address.
  constexpr std::uint32_t endpoint_count_max = 1u << 20;
  TROUPE_ASSERT(endpoint < endpoint_count_max);
  if (endpoint >= endpoints_.size()) endpoints_.resize(endpoint + 1);
  return endpoints_[endpoint];
}

std::uint32_t fabric_world::join(std::uint32_t endpoint, buffer_table& buffers) {
  auto& entry = endpoint_at(endpoint);
  TROUPE_ASSERT(!entry.present);
  entry.buffers = &buffers;
  entry.present = true;
  entry.host_crashed = false;
  entry.refuses_dials = false;
  entry.port_free = now_;
  return ++entry.incarnation;
}

bool fabric_world::is_current(std::uint32_t endpoint, std::uint32_t incarnation) const {
  const auto& entry = endpoints_[endpoint];
  return entry.present && entry.incarnation == incarnation;
}

void fabric_world::leave(std::uint32_t endpoint, std::uint32_t incarnation) {
  if (is_current(endpoint, incarnation)) crash(endpoint, crash_kind::process);
}

std::size_t fabric_world::poll_network(std::uint32_t endpoint, std::span<network_event> out) {
  auto& entry = endpoints_[endpoint];
  std::size_t count = 0;
  for (; count < out.size() && !entry.notices.empty(); ++count) {
    const auto notice = entry.notices.front();
    entry.notices.pop_front();
    auto& event = out[count];
    event = {.what = notice.what, .context = notice.context, .cause = notice.cause};
    if (notice.what == network_event::kind::dial_failed) continue;
    if (notice.what == network_event::kind::accepted) --entry.accepted_waiting;
    auto opened = std::make_unique<fabric_lane>(*this, notice.half);
    auto& half = at(notice.half);
    half.lane = opened.get();
    event.opened = std::move(opened);
    if (half.in.head != no_index || half.lost) make_ready(notice.half);
  }
  for (; count < out.size() && entry.ready_first != no_index; ++count) {
    const auto half = entry.ready_first;
    unlink_ready(half);
    out[count] = {.what = network_event::kind::lane_ready, .ready = at(half).lane};
  }
  if (!entry.notices.empty() || entry.ready_first != no_index) make_endpoint_ready(endpoint);
  return count;
}

instant fabric_world::next_deadline(std::uint32_t endpoint) const {
  const auto& entry = endpoints_[endpoint];
  if (!entry.notices.empty() || entry.ready_first != no_index) return now_;
  instant next = never;
  for (const auto dial : entry.dials)
    next = std::min(next, dials_[dial].deadline);
  return next;
}

// -- what happened --------------------------------------------------------------------------------

fabric_counters fabric_world::counters(std::uint32_t endpoint) const {
  return endpoint < endpoints_.size() ? endpoints_[endpoint].counters : fabric_counters{};
}

std::uint32_t fabric_world::largest_fan_in() const {
  std::uint32_t largest = 0;
  for (const auto& entry : endpoints_)
    largest = std::max(largest, entry.counters.connections_max);
  return largest;
}

void fabric_world::hash_delivery(std::uint32_t endpoint, const fabric_frame& frame) {
  hash(static_cast<std::uint64_t>(to_nanoseconds(now_)));
  hash(static_cast<std::uint64_t>(endpoint) << 8 | static_cast<std::uint64_t>(frame.what));
  hash(frame.immediate);
  hash(frame.bytes);
  if (frame.what != fabric_frame::kind::message) return;
  const auto* bytes = bytes_.at(frame.block);
  std::uint64_t word = 0;
  for (std::uint64_t i = 0; i < frame.bytes; ++i) {
    word = word << 8 | std::to_integer<std::uint64_t>(bytes[i]);
    if (i % 8 == 7 || i + 1 == frame.bytes) hash(std::exchange(word, 0));
  }
}

}  // namespace troupe::net::detail
