#include <algorithm>
#include <utility>

#include "net/link/detail/link_step.hpp"
#include "runtime/mark.hpp"

namespace troupe::net::detail {

namespace {

// What a lane gives back with a completion: the write, and the life of the lane it was posted in.
constexpr std::uint64_t context_of(const segment& w) {
  return static_cast<std::uint64_t>(w.generation) << 32 | static_cast<std::uint64_t>(w.lane) << 24 |
         w.number.value;
}

// A write whose transfer was stopped is posted again without its bytes: its number must arrive, its
// source may be gone.
bool is_hollow(const link_state& s, const segment& w) {
  return w.transfer != no_index && s.transfers[w.transfer].stopped;
}

lane_write write_of(const link_state& s, const segment& w) {
  lane_write write;
  write.immediate = encode(immediate{w.notify, w.fast, w.slot, w.number});
  write.context = context_of(w);
  if (w.fast) {
    write.source = s.options.staging_ring.part(w.offset, w.length);
    write.target = {s.peer_eager_key, w.offset};
  } else if (w.reads_source) {
    const auto& t = s.transfers[w.transfer];
    write.source = t.memory.part(w.offset, w.length);
    write.target = {t.key, t.target_offset + w.offset};
  } else {
    write.source = s.options.staging_ring.part(0, 0);
    write.target = {s.peer_eager_key, 0};
  }
  return write;
}

void complete_put(link_step& step, std::uint32_t index) {
  auto& s = step.s;
  auto& t = s.transfers[index];
  s.channels_out.closing |= 1ull << t.channel;
  finish(step, index, t.failed);
  free_channels(step);
}

}  // namespace

void post(link_step& step, segment& w, std::uint8_t lane) {
  auto& s = step.s;
  auto& record = s.lanes[lane];
  if (record.writes_in_flight == 0) record.progressed_at = step.now;
  ++record.writes_in_flight;
  if (w.transfer != no_index) {
    record.bytes_in_flight += w.length;
    s.window.on_posted(w.length, step.now);
  }
  w.posted_at = step.now;
  w.lane = lane;
  w.generation = record.generation;
  w.finished = false;
  s.sending.append(record.unfinished, w);
  s.clock.last_sent = step.now;
  step.out.push_back(post_segment{lane, write_of(s, w)});
}

void discharge(link_state& s, segment& w) {
  if (!std::exchange(w.charged, false)) return;
  s.budget.used -= budget_charge(s.options, w.length);
}

void note_finished(link_step& step, segment& w) {
  auto& s = step.s;
  w.finished = true;
  if (w.fast) s.eager_out.staged &= ~(1ull << w.slot);
  if (!w.reads_source) return;
  w.reads_source = false;
  auto& t = s.transfers[w.transfer];
  const bool held = t.is_held();
  if (--t.reading == 0 && held) {
    --s.held.count;
    s.transfers.tell(transfer_notice::release, w.transfer);
  }
}

std::uint8_t pick_for_data(link_state& s) {
  auto lane_bytes = s.options.lane_bytes_max;
  // An even share of an adapting window: a lane that is slower than the others keeps what it has,
  // and the rest of the window goes to those that complete.
  if (s.window.adapts())
    lane_bytes = std::min(lane_bytes, s.window.bytes() / s.options.data_lane_count);
  return s.lanes.pick_for_data({s.options.lane_write_count_max, lane_bytes});
}

void on_write_finished(link_step& step, const write_finished& event) {
  auto& s = step.s;
  const sequence number{static_cast<std::uint32_t>(event.context) & sequence_mask};
  const bool known = !s.lost && event.lane < s.lanes.count && s.lanes[event.lane].open &&
                     s.sending.contains(number);
  if (!known) {
    ++s.counters.stale_lane_dropped;
    return;
  }
  auto& w = s.sending.at(number);
  if (w.finished || w.repeat || w.lane != event.lane || context_of(w) != event.context) {
    TROUPE_MARK("link: stale completion dropped");
    ++s.counters.stale_lane_dropped;
    return;
  }
  auto& record = s.lanes[event.lane];
  s.sending.unlink(record.unfinished, w);
  --record.writes_in_flight;
  if (w.transfer != no_index) {
    record.bytes_in_flight -= w.length;
    s.window.on_completed(w.length, w.posted_at, step.now);
  }
  record.progressed_at = step.now;
  discharge(s, w);
  note_finished(step, w);
  retire_writes(step);
}

void on_data_acknowledged(link_step& step, sequence number) {
  auto& s = step.s;
  const auto before = s.sending.acknowledged();
  if (!s.sending.acknowledge(number)) return lose(step, step.about_peer(errc::malformed));
  if (s.sending.acknowledged() == before) return;
  s.clock.data_progress = step.now;
  s.clock.probed = false;
}

void on_slots_consumed(link_step& step, std::uint32_t total) {
  if (!step.s.eager_out.give_back(total)) lose(step, step.about_peer(errc::malformed));
}

void retire_writes(link_step& step) {
  auto& s = step.s;
  while (auto* w = s.sending.retirable()) {
    const auto index = w->transfer;
    discharge(s, *w);
    s.sending.retire_one();
    if (index == no_index) continue;
    auto& t = s.transfers[index];
    if (--t.unretired == 0 && t.phase == transfer_phase::put_flushing) complete_put(step, index);
  }
}

pumped pump_repeats(link_step& step) {
  auto& s = step.s;
  while (!s.repeats.empty()) {
    if (!step.has_room(1)) return pumped::until_full;
    auto& w = s.sending.at_index(s.repeats.first);
    const auto lane = w.fast ? s.lanes.pick_for_eager() : pick_for_data(s);
    if (lane == no_lane) return pumped::all;
    s.sending.unlink(s.repeats, w);
    w.repeat = false;
    if (w.fast) s.eager_out.staged |= 1ull << w.slot;
    if (w.transfer != no_index && w.length > 0) {
      if (is_hollow(s, w)) {
        TROUPE_MARK("link: write of a stopped put repeated without its bytes");
      } else {
        w.reads_source = true;
        ++s.transfers[w.transfer].reading;
      }
    }
    ++s.counters.retransmitted;
    post(step, w, lane);
  }
  return pumped::all;
}

}  // namespace troupe::net::detail
