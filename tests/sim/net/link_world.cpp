#include "tests/sim/net/link_world.hpp"

#include <cstdlib>
#include <new>

namespace {

// Allocations while a step runs: a core allocates nothing once it is made.
bool in_step = false;
std::uint64_t step_allocations = 0;

}  // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void* operator new(std::size_t bytes) {
  if (in_step) ++step_allocations;
  if (void* p = std::malloc(bytes)) return p;
  std::abort();
}
void operator delete(void* p) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}
#endif

namespace troupe::sim {

using kind = happening::kind;
using std::chrono::microseconds;
using std::chrono::milliseconds;

std::uint64_t link_world::allocations_in_steps() {
  return step_allocations;
}

link_world::link_world(std::uint64_t seed)
    : seed_(seed),
      plan_(plan_of(seed)),
      net_(random_stream(seed).fork(11)),
      faults_(random_stream(seed).fork(12)),
      owners_random_(random_stream(seed).fork(13)) {
  // Not the beginning of time: deadlines reach back.
  now_ = instant(std::chrono::seconds(1000));
  for (side_index side : {0u, 1u})
    make_owner(side);
}

void link_world::make_owner(side_index side) {
  auto& o = owners_[side];
  auto options = plan_.link;
  const auto ring_bytes = net::eager_ring_bytes(options);
  const auto transfers = plan_.work.transfer_count + window_put_count_max;
  o.memory.assign(transfers * (plan_.work.bytes_max + 130) * 2 + 64, std::byte{0});
  o.ring.assign(ring_bytes, std::byte{0x55});
  o.staging.assign(ring_bytes, std::byte{0x66});
  o.memory_view = *o.buffers.add(o.memory.data(), o.memory.size());
  o.ring_view = *o.buffers.add(o.ring.data(), o.ring.size());
  o.staging_view = *o.buffers.add(o.staging.data(), o.staging.size());
  o.places.resize(net::parking_place_count(options),
                  std::vector<std::byte>(options.eager_bytes_max));
  o.current_wire.assign(options.data_lane_count + 1, no_wire);
  options.peer = rank{1 - side};
  options.eager_key = *o.buffers.expose(o.ring_view);
  options.receive_ring = o.ring;
  options.staging_ring = o.staging_view;
  o.link = std::make_unique<net::link_state>(options);
}

void link_world::schedule(instant at, happening what) {
  what.at = at;
  what.order = order_++;
  agenda_.push(what);
}

void link_world::trace(std::uint64_t word) {
  trace_ = (trace_ ^ word) * 0x100'0000'01b3ull;
}

void link_world::fail(const std::string& text) {
  if (!failure_.empty()) return;
  failure_ = text + " (seed " + std::to_string(seed_) + ", virtual time " +
             std::to_string(to_nanoseconds(now_)) + " ns)";
}

void link_world::drive(side_index side, const net::link_event& event) {
  auto& o = owners_[side];
  if (o.crashed) return;
  bool again = true;
  net::link_event next = event;
  while (again && !over()) {
    effects_.clear();
    ++o.steps;
    trace(next.index() + 100 * side);
    in_step = true;
    net::step(*o.link, next, now_, effects_);
    in_step = false;
    again = false;
    const auto effects = effects_;  // applying drives nothing, but keep what is walked apart
    for (const auto& effect : effects) {
      trace(effect.index());
      if (std::holds_alternative<net::resume_soon>(effect)) again = true;
      apply(side, effect);
    }
    check_step(side);
    next = net::link_resumed{};
  }
}

void link_world::apply(side_index side, const net::link_effect& effect) {
  auto& o = owners_[side];
  if (const auto* e = std::get_if<net::post_segment>(&effect)) return on_post(side, *e);
  if (const auto* e = std::get_if<net::post_control>(&effect)) return on_post(side, *e);
  if (const auto* e = std::get_if<net::stage_eager>(&effect)) return on_stage(side, *e);
  if (const auto* e = std::get_if<net::drain_eager>(&effect)) return on_drain(side, *e);
  if (const auto* e = std::get_if<net::park_eager>(&effect)) return on_park(side, *e);
  if (const auto* e = std::get_if<net::unpark_eager>(&effect)) return on_unpark(side, *e);
  if (const auto* e = std::get_if<net::report_put>(&effect)) {
    return on_report(side, e->token, 0, e->failed, e->theirs);
  }
  if (const auto* e = std::get_if<net::report_accept>(&effect)) {
    return on_report(side, e->token, 1, e->failed, e->theirs);
  }
  if (const auto* e = std::get_if<net::report_written>(&effect)) return on_written(side, *e);
  if (const auto* e = std::get_if<net::release_source>(&effect)) return on_release(side, e->token);
  if (const auto* e = std::get_if<net::report_refused>(&effect)) return on_refused(side, *e);
  if (const auto* e = std::get_if<net::withdraw_key>(&effect)) return on_withdraw(side, e->key);
  if (const auto* e = std::get_if<net::deliver_notice>(&effect)) return on_notice(side, *e);
  if (const auto* e = std::get_if<net::close_lane>(&effect)) return on_close(side, e->lane);
  if (std::holds_alternative<net::report_lost>(effect)) return on_lost(side);
  if (const auto* e = std::get_if<net::request_budget>(&effect)) {
    if (e->bytes == 0) fail("a request for no budget");
    o.budget_wanted += e->bytes;
    schedule(now_ + delay(), {.what = kind::grant, .side = side});
  }
  if (const auto* e = std::get_if<net::return_budget>(&effect)) {
    if (e->bytes == 0 || e->bytes > o.budget_out) return fail("budget returned that nobody has");
    o.budget_out -= e->bytes;
    if (o.budget_wanted > 0) schedule(now_ + delay(), {.what = kind::grant, .side = side});
  }
  if (const auto* e = std::get_if<net::arm_link_timer>(&effect)) {
    auto at = std::max(e->deadline, now_);
    const auto late = plan_.faults.late_timer_one_in;
    if (!healed_ && late != 0 && faults_.one_in(late)) {
      at += microseconds(faults_.below(60'000));
    }
    trace(static_cast<std::uint64_t>(to_nanoseconds(e->deadline)));
    schedule(at, {.what = kind::timer, .side = side, .item = e->generation});
  }
  if (const auto* e = std::get_if<net::report_unmatched>(&effect)) trace(e->id.step);
}

void link_world::happen(const happening& h) {
  switch (h.what) {
    case kind::open_end: return open_end(h);
    case kind::fail_end: return fail_end(h);
    case kind::read: return read(h);
    case kind::complete: return complete(h);
    case kind::arrive: return arrive(h);
    case kind::repeat: return repeat(h);
    case kind::timer: return drive(h.side, net::link_timer_fired{h.item});
    case kind::put: return ask_put(static_cast<std::uint32_t>(h.item));
    case kind::accept: return ask_accept(static_cast<std::uint32_t>(h.item));
    case kind::cancel: return cancel(h.side, operation_number{h.item}, epochs_[h.side]);
    case kind::advance_epoch: return advance_epoch(h.side);
    case kind::notice: return send_notice(h.side);
    case kind::unmatched: return drive(h.side, net::unmatched_requested{now_});
    case kind::grant: return grant_budget(h.side);
    case kind::fault: return cause_fault();
    case kind::reopen: return reopen(static_cast<std::uint8_t>(h.item));
    case kind::crash: return crash();
    case kind::abandon: return abandon(h.side);
    case kind::window_put: return ask_window_put(static_cast<std::uint32_t>(h.item));
    case kind::window_cancel: return cancel_window_put(static_cast<std::uint32_t>(h.item));
    case kind::window_close: return close_window(static_cast<std::uint32_t>(h.item));
    case kind::heal: healed_ = true;
  }
}

void link_world::play(instant until) {
  while (!over() && !agenda_.empty() && agenda_.top().at <= until) {
    const auto next = agenda_.top();
    agenda_.pop();
    now_ = next.at;
    happen(next);
  }
  if (!over()) now_ = until;
}

const std::string& link_world::run() {
  const auto begin = now_;
  write_stories();
  write_window_puts();
  for (std::uint32_t lane = 0; lane <= plan_.link.data_lane_count; ++lane) {
    add_wire(static_cast<std::uint8_t>(lane), now_);
  }
  const auto trouble_time = plan_.work.spread + milliseconds(5);
  for (std::uint32_t i = 0; i < plan_.faults.fault_count; ++i) {
    schedule(begin + duration(static_cast<std::int64_t>(
                         faults_.below(static_cast<std::uint64_t>(trouble_time.count())))),
             {.what = kind::fault});
  }
  if (plan_.faults.crash) {
    schedule(begin + duration(static_cast<std::int64_t>(
                         faults_.below(static_cast<std::uint64_t>(trouble_time.count())))),
             {.what = kind::crash});
  }
  schedule(begin + trouble_time, {.what = kind::heal});
  // Liveness: after the trouble everything that can end does, within this bound: every lane may
  // have to time out once, and then there is a window's worth of round trips.
  auto limit = begin + trouble_time;
  for (int round = 0; round < 40 && !over() && !(healed_ && everything_ended()); ++round) {
    limit += milliseconds(100);
    play(limit);
  }
  if (!over() && !everything_ended()) fail("something never ended: " + what_is_left());
  clean_up();
  if (!over()) check_outcomes();
  if (!over()) check_window_outcomes();
  if (!over()) check_nothing_left();
  if (!over()) check_work();
  return failure_;
}

}  // namespace troupe::sim
