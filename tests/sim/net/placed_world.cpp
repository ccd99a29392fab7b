#include "tests/sim/net/placed_world.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/assert.hpp"

namespace troupe::net {

namespace {

using namespace std::chrono_literals;

// As many as hide the handshake of each behind the bytes of the others.
constexpr std::uint32_t puts_at_once = 6;
constexpr std::uint64_t window_share = 64;
constexpr std::uint64_t window_floor_bytes = 32 * 1024;

fabric_options make_fabric(const placed_options& options) {
  fabric_options out;
  out.seed = options.seed;
  out.bytes_per_second = options.bytes_per_second;
  out.lane_depth = 256;
  out.wire_buffer_bytes = 0;
  out.backlog = 1u << 20;
  return out;
}

// As `actors/qp_group` makes them from the same sections.
link_options make_link(const placed_options& world, tier distance) {
  const auto& all = world.limits;
  const auto& limits = config::limits_of(all, distance);
  link_options out;
  out.data_lane_count = all.transport.data_lane_count;
  out.segment_bytes = all.transport.segment_bytes;
  out.cut_bytes = std::min(limits.segment_bytes, out.segment_bytes);
  out.eager_bytes_max = 64;
  out.eager_slot_count = 2;
  out.parked_bytes_max = 64;
  out.window_segment_count = 1024;
  out.transfer_count_max = 16;
  out.budget_capped = limits.cap != "off";
  out.budget_lease_bytes = config::lease_bytes_of(all, distance);
  out.budget_write_bytes_min = limits.bytes / limits.write_count;
  out.lane_bytes_max = config::lane_bytes_of(all, distance);
  out.lane_write_count_max = limits.lane_write_count;
  if (limits.cap == "off") {
    out.lane_bytes_max = 1ull << 40;
    out.lane_write_count_max = 4096;
  }
  if (limits.cap == "adaptive") {
    out.budget_write_bytes_min = 0;
    out.window = {.adapts = true,
                  .start_bytes = std::max(limits.bytes / window_share, window_floor_bytes),
                  .floor_bytes = window_floor_bytes,
                  .ceiling_bytes = config::most_bytes_of(limits)};
  }
  out.write_timeout = 60s;
  out.release_timeout = 60s;
  out.heartbeat_interval = 0s;
  out.silence_timeout = 0s;
  return out;
}

transfer_id id_of(std::uint32_t number) {
  return {communicator_id{1}, epoch{0}, operation_number{number}, 0};
}

constexpr operation_signature signature{operation_kind::send, data_type::uint8, reduction::sum, 0,
                                        1};

}  // namespace

placed_world::placed_world(const placed_options& options, std::vector<place> places)
    : options_(options), fabric_(make_fabric(options)), memory_(2 * options.put_bytes) {
  for (const auto& where : places)
    places_.push_back(code_of(where));
  endpoints_.resize(places.size());
  for (std::uint32_t i = 0; i < endpoints_.size(); ++i) {
    auto& at = endpoints_[i];
    at.buffers = std::make_unique<buffer_table>(4096);
    // All send from and receive into the same bytes: nobody looks at them.
    at.source = *at.buffers->add(memory_.data(), options.put_bytes);
    at.target = *at.buffers->add(memory_.data() + options.put_bytes, options.put_bytes);
    at.network = fabric_.make_network(i, *at.buffers);
    for (std::uint8_t t = 0; t < tier_count; ++t) {
      at.tiers[t].cap_bytes = config::most_bytes_of(config::limits_of(options.limits, tier{t}));
      at.tiers[t].lease_bytes = config::lease_bytes_of(options.limits, tier{t});
    }
  }
}

tier placed_world::tier_between(std::uint32_t a, std::uint32_t b) const {
  return troupe::tier_between(places_[a], places_[b]);
}

placed_world::link& placed_world::link_of(std::uint32_t self, std::uint32_t peer) {
  auto& at = endpoints_[self];
  auto& l = at.links[peer];
  if (l.state) return l;
  l.self = self;
  l.peer = peer;
  l.distance = tier_between(self, peer);
  auto options = make_link(options_, l.distance);
  options.peer = rank{peer};
  const auto bytes = eager_ring_bytes(options);
  l.ring.resize(2 * bytes);
  const auto receive = *at.buffers->add(l.ring.data(), bytes);
  options.eager_key = *at.buffers->expose(receive);
  options.receive_ring = {l.ring.data(), bytes};
  options.staging_ring = *at.buffers->add(l.ring.data() + bytes, bytes);
  l.state = std::make_unique<link_state>(options);
  l.lanes.resize(options.data_lane_count + 1);
  return l;
}

void placed_world::connect(const std::vector<placed_flow>& flows) {
  for (const auto& flow : flows) {
    link_of(flow.to, flow.from);
    auto& l = link_of(flow.from, flow.to);
    for (std::uint32_t lane = 0; lane < l.lanes.size(); ++lane)
      endpoints_[flow.from].network->dial(fabric::address_of(flow.to),
                                          std::uint64_t{flow.to} << 8 | lane, never);
    unconnected_ += 2 * static_cast<std::uint32_t>(l.lanes.size());
  }
  while (unconnected_ > 0)
    TROUPE_ASSERT(step_once(never));
}

void placed_world::give_lane(link& l, std::uint8_t index, std::unique_ptr<lane> given) {
  owners_[given.get()] = {&l, index};
  const auto depth = given->depth();
  l.lanes[index] = std::move(given);
  --unconnected_;
  drive(l, lane_opened{index, depth});
  poll_lane(l, index);
}

void placed_world::drive(link& l, const link_event& event) {
  link_effects effects;
  step(*l.state, event, fabric_.now(), effects);
  bool resume = false;
  do {
    resume = false;
    for (const auto& effect : effects) {
      resume = resume || std::holds_alternative<resume_soon>(effect);
      apply(l, effect);
    }
    effects.clear();
    if (resume) step(*l.state, link_resumed{}, fabric_.now(), effects);
  } while (resume || !effects.empty());
}

void placed_world::apply(link& l, const link_effect& effect) {
  if (const auto* segment = std::get_if<post_segment>(&effect)) {
    TROUPE_ASSERT(l.lanes[segment->lane]->post_write(segment->write) == post_status::accepted);
  } else if (const auto* message = std::get_if<post_control>(&effect)) {
    TROUPE_ASSERT(l.lanes[message->lane]->post_message(message->bytes()) == post_status::accepted);
  } else if (const auto* withdrawn = std::get_if<withdraw_key>(&effect)) {
    endpoints_[l.self].buffers->withdraw(withdrawn->key, withdrawn->how);
  } else if (const auto* put_ended = std::get_if<report_put>(&effect)) {
    TROUPE_ASSERT(put_ended->failed.code == errc::ok);
    --l.puts_open;
    wants_fill_.push_back(&l);
  } else if (const auto* accept_ended = std::get_if<report_accept>(&effect)) {
    TROUPE_ASSERT(accept_ended->failed.code == errc::ok);
  } else if (const auto* asked = std::get_if<request_budget>(&effect)) {
    ++lease_requests_;
    budget(l, lease_wanted{l.peer, asked->bytes});
  } else if (const auto* returned = std::get_if<return_budget>(&effect)) {
    budget(l, lease_returned{l.peer, returned->bytes});
  } else if (const auto* timer_wanted = std::get_if<arm_link_timer>(&effect)) {
    l.armed = timer_wanted->deadline;
    l.generation = timer_wanted->generation;
    if (timer_wanted->deadline != never) timers_.push({timer_wanted->deadline, {l.self, l.peer}});
  } else {
    TROUPE_ASSERT(!std::holds_alternative<report_lost>(effect));
    TROUPE_ASSERT(!std::holds_alternative<stage_eager>(effect));
  }
}

void placed_world::budget(link& l, const tier_event& event) {
  tier_effects effects;
  step(endpoints_[l.self].tiers[static_cast<std::size_t>(l.distance)], event, effects);
  for (const auto& effect : effects)
    grants_.push_back(
        {&endpoints_[l.self].links[static_cast<std::uint32_t>(effect.link)], effect.bytes});
}

// What actors would tell each other by message.
void placed_world::settle() {
  while (!grants_.empty() || !wants_fill_.empty()) {
    if (!grants_.empty()) {
      const auto granted = grants_.front();
      grants_.pop_front();
      drive(*granted.to, budget_granted{granted.bytes});
      continue;
    }
    auto* sender = wants_fill_.back();
    wants_fill_.pop_back();
    fill(*sender);
  }
}

void placed_world::put(link& sender) {
  auto& receiver = link_of(sender.peer, sender.self);
  const auto id = id_of(++sender.next_transfer);
  const auto key = *endpoints_[sender.peer].buffers->expose(endpoints_[sender.peer].target);
  drive(receiver, accept_requested{id, signature, endpoints_[sender.peer].target, key, 1});
  ++sender.puts_open;
  drive(sender, put_requested{id, signature, endpoints_[sender.self].source, 1});
}

void placed_world::fill(link& sender) {
  auto* flow = sender.flow;
  if (flow == nullptr) return;
  while (sender.next_transfer < flow->put_count && sender.puts_open < puts_at_once)
    put(sender);
  const bool over = sender.next_transfer >= flow->put_count && sender.puts_open == 0;
  if (over && flow->done_at == never) flow->done_at = fabric_.now();
}

void placed_world::run(std::vector<placed_flow>& flows, duration step,
                       const std::function<void()>& each_step) {
  for (auto& flow : flows) {
    auto& sender = link_of(flow.from, flow.to);
    sender.flow = &flow;
    sender.next_transfer = 0;
    wants_fill_.push_back(&sender);
  }
  settle();
  auto next = fabric_.now() + step;
  const auto over = [&] {
    return std::all_of(flows.begin(), flows.end(),
                       [](const auto& flow) { return flow.done_at != never; });
  };
  while (!over()) {
    if (step_once(next)) continue;
    fabric_.run_until(next);
    each_step();
    next += step;
  }
}

void placed_world::rest(duration length) {
  const auto end = fabric_.now() + length;
  while (step_once(end)) {
  }
  fabric_.run_until(end);
}

std::uint64_t placed_world::leased_bytes(std::uint32_t number) const {
  std::uint64_t out = 0;
  for (const auto& budget : endpoints_[number].tiers)
    out += budget.held_bytes;
  return out;
}

bool placed_world::step_once(instant limit) {
  std::uint32_t ready = 0;
  while (fabric_.take_ready(ready)) {
    poll(ready);
    settle();
  }
  const auto timer_at = timers_.empty() ? never : timers_.top().first;
  const auto event_at = fabric_.next_event();
  if (std::min(timer_at, event_at) > limit) return false;
  if (event_at <= timer_at) return event_at != never && fabric_.run_next();
  const auto [self, peer] = timers_.top().second;
  timers_.pop();
  fabric_.run_until(timer_at);
  auto& l = endpoints_[self].links[peer];
  if (l.armed != timer_at) return true;
  l.armed = never;
  drive(l, link_timer_fired{l.generation});
  settle();
  return true;
}

void placed_world::poll(std::uint32_t number) {
  auto& at = endpoints_[number];
  std::array<network_event, 16> events;
  for (auto count = at.network->poll(fabric_.now(), events); count != 0;
       count = at.network->poll(fabric_.now(), events)) {
    for (std::size_t i = 0; i < count; ++i) {
      auto& event = events[i];
      TROUPE_ASSERT(event.what != network_event::kind::dial_failed);
      if (event.what == network_event::kind::accepted) {
        at.strangers.push_back(std::move(event.opened));
      } else if (event.what == network_event::kind::connected) {
        // The other end learns from the first message whose lane it is.
        const auto lane_number = static_cast<std::uint8_t>(event.context);
        std::array<std::byte, 5> name{};
        std::memcpy(name.data(), &number, 4);
        name[4] = std::byte{lane_number};
        TROUPE_ASSERT(event.opened->post_message(name) == post_status::accepted);
        give_lane(at.links[static_cast<std::uint32_t>(event.context >> 8)], lane_number,
                  std::move(event.opened));
      } else if (const auto owner = owners_.find(event.ready); owner != owners_.end()) {
        poll_lane(*owner->second.first, owner->second.second);
      } else {
        poll_stranger(at, number, *event.ready);
      }
    }
  }
}

void placed_world::poll_stranger(endpoint& at, std::uint32_t number, lane& ready) {
  std::array<lane_event, 1> events;
  if (ready.poll(events) == 0) return;
  TROUPE_ASSERT(events[0].what == lane_event::kind::message_arrived);
  std::uint32_t peer = 0;
  std::memcpy(&peer, events[0].message.data(), 4);
  const auto index = std::to_integer<std::uint8_t>(events[0].message[4]);
  const auto found = std::find_if(at.strangers.begin(), at.strangers.end(),
                                  [&](const auto& each) { return each.get() == &ready; });
  auto named = std::move(*found);
  at.strangers.erase(found);
  give_lane(endpoints_[number].links[peer], index, std::move(named));
}

void placed_world::poll_lane(link& l, std::uint8_t index) {
  std::array<lane_event, 16> events;
  for (auto count = l.lanes[index]->poll(events); count != 0;
       count = l.lanes[index]->poll(events)) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto& event = events[i];
      switch (event.what) {
        case lane_event::kind::write_completed:
          drive(l, write_finished{index, event.context});
          break;
        case lane_event::kind::write_arrived:
          drive(l, write_received{index, event.immediate, event.bytes, false});
          break;
        case lane_event::kind::message_arrived:
          drive(l, message_received{index, event.message});
          break;
        case lane_event::kind::write_refused:
        case lane_event::kind::lane_lost: TROUPE_ASSERT(false); break;
      }
    }
  }
}

}  // namespace troupe::net
