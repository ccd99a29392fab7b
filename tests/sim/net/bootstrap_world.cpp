#include "tests/sim/net/bootstrap_world.hpp"

#include <algorithm>
#include <string_view>

namespace troupe::sim {

using namespace net;

namespace {

std::uint64_t hash_bytes(std::uint64_t seed, std::span<const std::byte> bytes) {
  std::uint64_t h = seed ^ (bytes.size() * 0x9e37'79b9'7f4a'7c15ull);
  for (const std::byte b : bytes)
    h = (h ^ std::to_integer<std::uint64_t>(b)) * 0x100'0000'01b3ull;
  return random_stream(h).next();
}

std::vector<std::byte> text_bytes(std::string_view text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

std::vector<std::byte> frame_of(const bootstrap_frame& frame) {
  std::array<std::byte, lane_message_bytes_max> out{};
  const auto length = encode_bootstrap_frame(frame, out);
  return {out.begin(), out.begin() + length};
}

std::uint32_t host_of(const lane_address& address) {
  std::uint32_t host = 0;
  for (std::size_t i = 12; i < 16; ++i)
    host = host << 8 | std::to_integer<std::uint32_t>(address.host[i]);
  return host;
}

}  // namespace

void quick_mac(std::span<const std::byte> key, std::span<const std::byte> data,
               std::span<std::byte, 32> out) {
  random_stream stream(hash_bytes(hash_bytes(0x5eed, key), data));
  for (std::size_t i = 0; i < 32; i += 8) {
    const auto word = stream.next();
    for (std::size_t j = 0; j < 8; ++j)
      out[i + j] = static_cast<std::byte>(word >> (8 * j));
  }
}

bool quick_equal(std::span<const std::byte> left, std::span<const std::byte> right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end());
}

lane_address address_of(std::uint32_t host) {
  lane_address out;
  for (std::size_t i = 0; i < 4; ++i)
    out.host[12 + i] = static_cast<std::byte>(host >> (8 * (3 - i)));
  out.port = 1;
  return out;
}

bootstrap_world::bootstrap_world(std::uint64_t seed, const weather& conditions)
    : random_(random_stream(seed).fork(1)), weather_(conditions) {}

std::uint32_t bootstrap_world::add_process(bootstrap_options options, std::uint32_t host,
                                           instant start) {
  const auto index = process_count();
  processes_.push_back(std::make_unique<sim_process>(std::move(options)));
  processes_.back()->address = address_of(host);
  wire_of_.emplace_back();
  if (host_process_.size() <= host) host_process_.resize(host + 1, nobody);
  host_process_[host] = index;
  push({.at = start, .what = happening::kind::start, .process = index});
  return index;
}

void bootstrap_world::add_stranger(std::uint32_t host, instant at, stranger_act act) {
  const auto index = static_cast<std::uint32_t>(wires_.size());
  wires_.emplace_back();
  wires_.back().act = act;
  wires_.back().ends[0].up = true;
  push({.at = at, .what = happening::kind::arrive, .wire = index, .number = host});
}

void bootstrap_world::add_squatter(std::uint32_t host, squatter_act act) {
  squatters_.emplace_back(host, act);
}

void bootstrap_world::at(instant when, std::function<void()> action) {
  push({.at = when, .what = happening::kind::action, .action = std::move(action)});
}

void bootstrap_world::push(happening h) {
  h.at = std::max(h.at, now_);
  h.order = ++order_;
  heap_.push_back(std::move(h));
  std::push_heap(heap_.begin(), heap_.end(), [](const happening& a, const happening& b) {
    return std::pair(a.at, a.order) > std::pair(b.at, b.order);
  });
}

bool bootstrap_world::run(instant limit, std::uint64_t event_count_max) {
  while (!heap_.empty()) {
    if (heap_.front().at > limit || event_count_ > event_count_max) return false;
    std::pop_heap(heap_.begin(), heap_.end(), [](const happening& a, const happening& b) {
      return std::pair(a.at, a.order) > std::pair(b.at, b.order);
    });
    auto h = std::move(heap_.back());
    heap_.pop_back();
    now_ = h.at;
    happen(h);
  }
  return true;
}

void bootstrap_world::mix(std::uint64_t value) {
  hash_ = random_stream(hash_ ^ value).next();
}

duration bootstrap_world::some_delay() {
  const auto low = static_cast<std::uint64_t>(weather_.delay_min.count());
  const auto high = static_cast<std::uint64_t>(weather_.delay_max.count());
  return duration(random_.between(low, high));
}

void bootstrap_world::feed(std::uint32_t process, const bootstrap_event& event) {
  if (processes_[process]->running) deliver(process, event);
}

void bootstrap_world::deliver(std::uint32_t process, const bootstrap_event& event) {
  auto& p = *processes_[process];
  if (!p.running || p.stopped) return;
  ++event_count_;
  mix(event.index() ^ static_cast<std::uint64_t>(to_nanoseconds(now_)) << 8 ^
      std::uint64_t{process} << 40);
  effects_.clear();
  step(p.state, event, now_, effects_);
  apply(process);
}

void bootstrap_world::apply(std::uint32_t process) {
  auto& p = *processes_[process];
  bool failed = false;
  for (const auto& effect : effects_) {
    mix(effect.index());
    if (const auto* e = std::get_if<dial_connection>(&effect)) dial(process, *e);
    if (const auto* e = std::get_if<dial_lane>(&effect)) {
      dial(process, {e->connection, e->to, e->deadline});
      wires_.back().is_lane = true;
    }
    if (const auto* e = std::get_if<send_on_connection>(&effect))
      send(process, e->connection, e->bytes());
    if (const auto* e = std::get_if<close_connection>(&effect)) close(process, e->connection);
    if (const auto* e = std::get_if<hand_over_lane>(&effect)) hand_over(process, *e);
    if (std::holds_alternative<report_joined>(effect)) p.joined_at = now_;
    if (const auto* e = std::get_if<report_join_failed>(&effect)) {
      p.failed_at = now_;
      p.reason = failure(e->cause, e->text);
      failed = true;
    }
    if (const auto* e = std::get_if<report_unreachable>(&effect)) {
      p.unreachable.push_back(*e);
      p.unreachable_at.push_back(now_);
      drop_link(process, e->peer, 0);
    }
    if (const auto* e = std::get_if<report_death>(&effect)) p.deaths.push_back(e->dead);
    if (std::holds_alternative<count_stranger>(effect)) ++p.stranger_count;
    if (const auto* e = std::get_if<arm_bootstrap_timer>(&effect)) {
      p.timer_generation = e->generation;
      push({.at = e->deadline,
            .what = happening::kind::timer,
            .process = process,
            .number = e->generation});
    }
  }
  // A process whose join failed prints the reason and exits.
  if (failed) at(now_ + some_delay(), [this, process] { end_process(process, false); });
}

void bootstrap_world::happen(happening& h) {
  using kind = happening::kind;
  switch (h.what) {
    case kind::action: return h.action();
    case kind::start: {
      auto& p = *processes_[h.process];
      if (p.ended) return;
      p.running = true;
      join_started event;
      for (auto& b : event.entropy)
        b = static_cast<std::byte>(random_.next());
      event.own_address = p.address;
      return deliver(h.process, event);
    }
    case kind::arrive: return arrive(h);
    case kind::timer: {
      // As a driver does: a timer that was replaced does not fire, mostly.
      if (h.number != processes_[h.process]->timer_generation && !random_.one_in(50)) return;
      return deliver(h.process, bootstrap_timer_fired{h.number});
    }
    default: break;
  }
  auto& w = wires_[h.wire];
  auto& end = w.ends[h.end];
  if (h.what == kind::message) w.ends[1 - h.end].in_flight_count -= 1;
  if (!end.up && end.process != nobody && random_.one_in(8)) return deliver_late(h, end);
  if (h.what == kind::message) {
    if (!end.up || w.cut) return;
    if (end.process == nobody) return stranger_turn(h.wire, h.end, h.bytes);
    const auto frame = decode_bootstrap_frame(h.bytes);
    if (frame && std::holds_alternative<verdict_frame>(*frame)) w.handshake_over = true;
    if (frame && h.end == 1 && std::holds_alternative<proof_frame>(*frame) &&
        weather_.cut_one_in != 0 && random_.one_in(weather_.cut_one_in))
      at(now_ + some_delay(), [this, i = h.wire] { cut_wire(i); });
    return deliver(end.process, connection_message{end.id, h.bytes});
  }
  if (h.what == kind::lost) {
    if (!end.up) return;
    if (end.process == nobody) {
      end.up = false;
      return;
    }
    auto& p = *processes_[end.process];
    if (p.stopped) return;
    end.up = false;
    std::erase_if(wire_of_[end.process], [&](const auto& entry) { return entry.second == h.wire; });
    for (auto& lane : p.lanes)
      if (lane.wire == h.wire && lane.up) return lose_lane(end.process, lane);
    return deliver(end.process, connection_lost{end.id, {h.code}});
  }
  if (!end.up || w.cut || end.process == nobody) return;
  if (h.what == kind::opened) return deliver(end.process, connection_opened{end.id});
  end.up = false;
  std::erase_if(wire_of_[end.process], [&](const auto& entry) { return entry.second == h.wire; });
  deliver(end.process, connection_refused{end.id, {h.code, 111}});
}

// A driver may have an event of a connection in its hands when the machine closes it.
void bootstrap_world::deliver_late(const happening& h, const wire_end& end) {
  for (const auto& lane : processes_[end.process]->lanes)
    if (lane.wire == h.wire) return;
  if (h.what == happening::kind::message)
    return deliver(end.process, connection_message{end.id, h.bytes});
  if (h.what == happening::kind::opened) return deliver(end.process, connection_opened{end.id});
  if (h.what == happening::kind::lost)
    deliver(end.process, connection_lost{end.id, {errc::peer_lost}});
}

void bootstrap_world::dial(std::uint32_t process, const dial_connection& effect) {
  const auto index = static_cast<std::uint32_t>(wires_.size());
  wires_.emplace_back();
  wires_.back().ends[0] = {.process = process, .id = effect.connection, .up = true};
  wire_of_[process].emplace_back(effect.connection, index);
  ++processes_[process]->dial_count;
  const auto host = host_of(effect.to);
  if (black_holes_.contains(host)) {
    push({.at = effect.deadline,
          .what = happening::kind::refused,
          .wire = index,
          .code = errc::timed_out});
    return;
  }
  push({.at = now_ + some_delay(), .what = happening::kind::arrive, .wire = index, .number = host});
}

void bootstrap_world::arrive(happening& h) {
  const auto index = h.wire;
  const auto host = static_cast<std::uint32_t>(h.number);
  if (!wires_[index].ends[0].up) return;
  const auto target = host < host_process_.size() ? host_process_[host] : nobody;
  const bool listening = target != nobody && processes_[target]->running;
  if (!listening) {
    for (const auto& [squatted, act] : squatters_)
      if (squatted == host) wires_[index].squat = act;
    const bool squatted = wires_[index].squat != squatter_act::none;
    if (squatted) wires_[index].ends[1].up = true;
    push({.at = now_ + some_delay(),
          .what = squatted ? happening::kind::opened : happening::kind::refused,
          .wire = index,
          .code = errc::unreachable});
    return;
  }
  auto& w = wires_[index];
  const auto id = ++next_accepted_;
  w.ends[1] = {.process = target, .id = id, .up = true};
  wire_of_[target].emplace_back(id, index);
  ++processes_[target]->accept_count;
  if (w.ends[0].process != nobody)
    push({.at = now_ + some_delay(), .what = happening::kind::opened, .wire = index});
  if (weather_.cut_one_in != 0 && random_.one_in(weather_.cut_one_in)) {
    const auto when = now_ + duration(random_.below(2'000'000));
    at(when, [this, index] { cut_wire(index); });
  }
  deliver(target, connection_accepted{id});
  if (w.ends[0].process == nobody) stranger_turn(index, 0, {});
}

void bootstrap_world::stranger_turn(std::uint32_t index, std::uint8_t end,
                                    std::span<const std::byte> bytes) {
  const auto heard = wires_[index].heard_count++;
  const auto say = [&](const std::vector<std::byte>& words) { send_on_wire(index, end, words); };
  hello_frame hello{.protocol_version = bootstrap_protocol_version,
                    .purpose = connection_purpose::ring,
                    .dialer = rank{1},
                    .acceptor = rank{0}};
  if (wires_[index].squat != squatter_act::none) {
    if (wires_[index].squat == squatter_act::answer_garbage) return say(text_bytes("220 mail\r\n"));
    if (wires_[index].squat == squatter_act::answer_other_format) {
      auto frame = frame_of(challenge_frame{});
      frame[4] = std::byte{9};
      return say(frame);
    }
    return say(heard == 0 ? frame_of(challenge_frame{}) : frame_of(verdict_frame{}));
  }
  switch (wires_[index].act) {
    case stranger_act::say_nothing: return;
    case stranger_act::hang_up: return detach(index, end, false);
    case stranger_act::speak_http: return say(text_bytes("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
    case stranger_act::send_garbage: {
      std::vector<std::byte> noise(1 + random_.below(lane_message_bytes_max));
      for (auto& b : noise)
        b = static_cast<std::byte>(random_.next());
      return say(noise);
    }
    case stranger_act::send_other_format: {
      auto frame = frame_of(hello);
      frame[4] = std::byte{7};
      return say(frame);
    }
    case stranger_act::guess_proof:
      return say(heard == 0 ? frame_of(hello) : frame_of(proof_frame{}));
    case stranger_act::send_hello_then_garbage:
      return say(heard == 0 ? frame_of(hello) : text_bytes("let me in"));
  }
  (void)bytes;
}

void bootstrap_world::send(std::uint32_t process, std::uint64_t id,
                           std::span<const std::byte> bytes) {
  for (const auto& [known, index] : wire_of_[process])
    if (known == id) {
      const std::uint8_t end =
          wires_[index].ends[0].process == process && wires_[index].ends[0].id == id ? 0 : 1;
      return send_on_wire(index, end, bytes);
    }
}

void bootstrap_world::send_on_wire(std::uint32_t index, std::uint8_t from,
                                   std::span<const std::byte> bytes) {
  auto& w = wires_[index];
  if (!w.ends[from].up || w.cut) return;
  auto& to = w.ends[1 - from];
  w.ends[from].in_flight_count += 1;
  deepest_lane_ = std::max(deepest_lane_, w.ends[from].in_flight_count);
  to.last_arrival = std::max(to.last_arrival, now_ + some_delay());
  std::vector<std::byte> copy(bytes.begin(), bytes.end());
  mix(hash_bytes(0, bytes));
  if (weather_.corrupt_one_in != 0 && w.handshake_over && random_.one_in(weather_.corrupt_one_in))
    copy[random_.one_in(2) ? 5 : random_.below(copy.size())] =
        static_cast<std::byte>(random_.below(20));
  push({.at = to.last_arrival,
        .what = happening::kind::message,
        .wire = index,
        .end = static_cast<std::uint8_t>(1 - from),
        .bytes = std::move(copy)});
}

void bootstrap_world::detach(std::uint32_t index, std::uint8_t end, bool in_flight_lost) {
  auto& w = wires_[index];
  if (!w.ends[end].up) return;
  w.ends[end].up = false;
  auto& other = w.ends[1 - end];
  if (w.ends[end].process != nobody) {
    auto& list = wire_of_[w.ends[end].process];
    std::erase_if(list, [&](const auto& entry) { return entry.second == index; });
  }
  if (in_flight_lost) w.cut = true;
  other.last_arrival = std::max(other.last_arrival, now_ + some_delay());
  push({.at = other.last_arrival,
        .what = happening::kind::lost,
        .wire = index,
        .end = static_cast<std::uint8_t>(1 - end),
        .code = errc::peer_lost});
}

void bootstrap_world::close(std::uint32_t process, std::uint64_t id) {
  for (const auto& [known, index] : wire_of_[process])
    if (known == id)
      return detach(
          index, wires_[index].ends[0].process == process && wires_[index].ends[0].id == id ? 0 : 1,
          false);
}

bool bootstrap_world::in_ring(const wire_end& end) {
  if (end.process == nobody) return false;
  const auto& ring = processes_[end.process]->state.ring;
  return (ring.successor.connection == end.id && ring.successor.open) ||
         (ring.predecessor.connection == end.id && ring.predecessor.open);
}

void bootstrap_world::cut_wire(std::uint32_t index) {
  if (in_ring(wires_[index].ends[0]) || in_ring(wires_[index].ends[1])) return;
  break_wire(index);
}

void bootstrap_world::break_ring_after(std::uint32_t process) {
  const auto id = processes_[process]->state.ring.successor.connection;
  for (const auto& [known, index] : wire_of_[process])
    if (known == id) return break_wire(index);
}

void bootstrap_world::break_wire(std::uint32_t index) {
  auto& w = wires_[index];
  if (w.cut) return;
  w.cut = true;
  for (std::uint8_t end = 0; end < 2; ++end) {
    // One side may notice much later than the other.
    const auto late = random_.one_in(4) ? duration(random_.below(60'000'000)) : duration::zero();
    push({.at = now_ + some_delay() + late,
          .what = happening::kind::lost,
          .wire = index,
          .end = end,
          .code = errc::peer_lost});
  }
}

void bootstrap_world::end_process(std::uint32_t process, bool in_flight_lost) {
  auto& p = *processes_[process];
  p.running = false;
  p.ended = true;
  const auto wires = wire_of_[process];
  for (const auto& [id, index] : wires) {
    auto& w = wires_[index];
    const std::uint8_t end = w.ends[0].process == process && w.ends[0].id == id ? 0 : 1;
    detach(index, end, in_flight_lost && random_.one_in(2));
  }
}

void bootstrap_world::crash(std::uint32_t process) {
  if (!processes_[process]->ended) end_process(process, true);
}

void bootstrap_world::leave(std::uint32_t process) {
  feed(process, leave_started{});
  at(now_ + std::chrono::milliseconds(1500), [this, process] { end_process(process, false); });
}

std::uint32_t bootstrap_world::other_end(std::uint32_t index, std::uint32_t process) const {
  const auto& w = wires_[index];
  return w.ends[0].process == process ? w.ends[1].process : w.ends[0].process;
}

}  // namespace troupe::sim
