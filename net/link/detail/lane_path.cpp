#include <algorithm>

#include "net/link/detail/link_step.hpp"
#include "runtime/mark.hpp"

namespace troupe::net::detail {

namespace {

std::int32_t signed_distance(sequence from, sequence to) {
  const auto ahead = static_cast<std::int32_t>(distance(from, to));
  return ahead > static_cast<std::int32_t>(sequence_mask / 2)
             ? ahead - static_cast<std::int32_t>(sequence_mask + 1)
             : ahead;
}

hello_body make_hello(const link_state& s, std::uint8_t lane) {
  const auto& o = s.options;
  return {lane,
          s.lanes[lane].generation,
          o.eager_key,
          o.eager_slot_count,
          o.eager_bytes_max,
          o.segment_bytes,
          o.window_segment_count,
          o.transfer_count_max,
          o.data_lane_count,
          o.first_sequence};
}

bool agrees(const link_options& o, const hello_body& h) {
  return h.eager_slot_count == o.eager_slot_count && h.eager_bytes_max == o.eager_bytes_max &&
         h.segment_bytes == o.segment_bytes && h.window_segment_count == o.window_segment_count &&
         h.transfer_count_max == o.transfer_count_max && h.data_lane_count == o.data_lane_count &&
         h.first_sequence == o.first_sequence;
}

// This life of the lane is over: nothing is read from or written by it any more. Which of our
// writes arrived, the peer will say; what of its writes arrived, we will.
void end_life(link_step& step, std::uint8_t lane) {
  auto& s = step.s;
  auto& record = s.lanes[lane];
  record.open = false;
  while (!record.unfinished.empty()) {
    auto& w = s.sending.at_index(record.unfinished.first);
    s.sending.unlink(record.unfinished, w);
    if (w.transfer != no_index) s.window.on_lost(w.length);
    note_finished(step, w);
  }
  record.writes_in_flight = 0;
  record.bytes_in_flight = 0;
  const bool in_doubt = record.greeted && s.sending.acknowledged() != s.sending.next();
  if (in_doubt && !record.awaiting_fence) {
    record.awaiting_fence = true;
    record.fence_generation = record.generation;
    record.fence_peer_generation = record.peer_generation;
    record.fence_cursor = s.sending.acknowledged();
  }
  record.telling_fence = true;
  record.told_generation = record.generation;
  record.told_peer_generation = record.greeted ? record.peer_generation : 0;
  record.page_sent = false;
  record.greeted = false;
  retire_writes(step);
}

void move_control(link_step& step, std::uint8_t lane) {
  auto& lanes = step.s.lanes;
  if (lanes.control != no_lane) ++step.s.counters.control_moves;
  lanes.control = lane;
  lanes.control_generation = lanes[lane].generation;
  step.s.control.move();
  // What was not heard may have been lost with the old lane: the others get their time again.
  step.s.clock.control_moved = step.now;
  step.s.clock.control_progress = step.now;
  step.s.clock.data_progress = step.now;
  step.s.clock.probed = false;
}

// After a life ended: the control stream goes where it still can.
void leave_dead_control_lane(link_step& step, error cause) {
  auto& lanes = step.s.lanes;
  if (!lanes.any_open()) {
    return lose(step, step.about_peer(errc::peer_lost, cause.native));
  }
  if (lanes.control == no_lane) return;
  const auto& record = lanes[lanes.control];
  if (record.open && record.generation == lanes.control_generation) return;
  TROUPE_MARK("link: control stream fled a dead lane");
  move_control(step, lanes.lowest_for_control());
  lanes.reset_due = true;
}

void close(link_step& step, std::uint8_t lane, error cause) {
  end_life(step, lane);
  step.out.push_back(close_lane{lane, step.s.lanes.any_open()});
  leave_dead_control_lane(step, cause);
}

// The peer's end of this life is closed: ours has no use any more.
void match_close(link_step& step, const lane_life& life) {
  auto& s = step.s;
  if (life.lane >= s.lanes.count) return lose(step, step.about_peer(errc::malformed));
  const auto& record = s.lanes[life.lane];
  if (!record.open) return;
  const bool theirs = record.greeted && record.peer_generation <= life.sender_generation;
  const bool ours = record.generation == life.receiver_generation;
  if (!theirs && !ours) {
    TROUPE_MARK("link: reset of an earlier life of a lane");
    return;
  }
  ++s.counters.lanes_given_up;
  close(step, life.lane, {});
}

void note_landed(segment& w) {
  TROUPE_MARK("link: write had landed before its lane was lost");
  w.landed = true;
}

// Our writes in doubt on `record` from `begin` to `end`, counted from the acknowledged one.
template <class Arrived>
void settle(link_step& step, std::uint8_t lane, std::int32_t begin, std::int32_t end,
            Arrived arrived) {
  auto& s = step.s;
  const auto& record = s.lanes[lane];
  const auto base = s.sending.acknowledged();
  for (auto at = std::max(begin, 0); at < end; ++at) {
    auto& w = s.sending.at(advance(base, static_cast<std::uint32_t>(at)));
    const bool doubtful = w.lane == lane && w.generation <= record.fence_generation && w.finished &&
                          !w.landed && !w.repeat;
    if (!doubtful) continue;
    if (arrived(w.number)) {
      note_landed(w);
    } else {
      w.repeat = true;
      s.sending.append(s.repeats, w);
    }
  }
}

}  // namespace

void on_lane_opened(link_step& step, const lane_opened& event) {
  auto& s = step.s;
  if (s.lost || event.lane >= s.lanes.count || event.depth < s.options.lane_depth) {
    ++s.counters.lanes_rejected;
    step.out.push_back(close_lane{event.lane});
    return;
  }
  auto& record = s.lanes[event.lane];
  if (record.open) {
    TROUPE_MARK("link: lane opened again before it was known to have failed");
    ++s.counters.lane_failures;
    end_life(step, event.lane);
  }
  ++s.counters.lanes_opened;
  if (record.generation != 0) ++s.counters.lanes_rebuilt;
  record.open = true;
  record.depth = event.depth;
  ++record.generation;
  record.opened_at = step.now;
  record.messages_posted = 0;
  record.messages_consumed = 0;
  if (!s.clock.started) {
    s.clock.started = true;
    s.clock.last_heard = step.now;
    s.clock.last_sent = step.now;
  }
  post_outside_stream(step, event.lane, make_hello(s, event.lane));
  if (s.lanes.control == no_lane) move_control(step, event.lane);
  leave_dead_control_lane(step, {});
}

void on_lane_failed(link_step& step, const lane_failed& event) {
  auto& s = step.s;
  if (s.lost || event.lane >= s.lanes.count || !s.lanes[event.lane].open) {
    ++s.counters.stale_lane_dropped;
    return;
  }
  ++s.counters.lane_failures;
  close(step, event.lane, event.cause);
}

void give_up(link_step& step, std::uint8_t lane) {
  ++step.s.counters.lanes_given_up;
  close(step, lane, {});
}

void on_hello(link_step& step, std::uint8_t lane, const hello_body& body) {
  auto& s = step.s;
  if (body.lane != lane) return lose(step, step.about_peer(errc::malformed));
  if (!agrees(s.options, body)) return lose(step, step.about_peer(errc::bad_configuration));
  auto& record = s.lanes[lane];
  record.greeted = true;
  record.peer_generation = body.generation;
  s.peer_eager_key = body.eager_key;
  if (s.lanes.lowest_greeted() < s.lanes.control) {
    TROUPE_MARK("link: control stream returned to a lower lane");
    move_control(step, s.lanes.lowest_greeted());
  }
}

void on_lane_reset(link_step& step, const lane_reset_body& body) {
  for (const auto& life : body.lives) {
    if (!step.s.lost) match_close(step, life);
  }
}

void on_lane_fenced(link_step& step, const lane_fenced_body& body) {
  auto& s = step.s;
  match_close(step, body.life);
  if (s.lost) return;
  const auto lane = body.life.lane;
  auto& record = s.lanes[lane];
  if (!record.awaiting_fence || body.life.sender_generation < record.fence_peer_generation) return;
  const auto base = s.sending.acknowledged();
  const auto under_way = static_cast<std::int32_t>(distance(base, s.sending.next()));
  const auto from = signed_distance(base, body.from);
  const auto end = from + body.count;
  if (end > under_way) return lose(step, step.about_peer(errc::malformed));
  const auto begin = signed_distance(base, record.fence_cursor);
  settle(step, lane, begin, from, [](sequence) { return true; });
  settle(step, lane, std::max(begin, from), end, [&](sequence number) {
    const auto bit = distance(body.from, number);
    return (std::to_integer<unsigned>(body.arrived[bit / 8]) >> (bit % 8) & 1u) != 0;
  });
  if (signed_distance(record.fence_cursor, body.from) + body.count > 0) {
    record.fence_cursor = advance(body.from, body.count);
  }
  if (!body.last) return;
  settle(step, lane, std::max({begin, from, end}), under_way, [](sequence) { return false; });
  record.awaiting_fence = false;
}

bool append_fence_page(link_step& step) {
  auto& s = step.s;
  for (std::uint8_t lane = 0; lane < s.lanes.count; ++lane) {
    auto& record = s.lanes[lane];
    if (!record.telling_fence) continue;
    const auto base = s.receiving.base();
    const bool goes_on = record.page_sent && signed_distance(base, record.page_cursor) > 0;
    const auto from = goes_on ? record.page_cursor : base;
    const auto left =
        static_cast<std::int32_t>(s.receiving.span_count()) - signed_distance(base, from);
    const auto page_max = static_cast<std::int32_t>(fence_page_bytes_max * 8);
    const auto count = static_cast<std::uint32_t>(std::clamp(left, 0, page_max));
    std::array<std::byte, fence_page_bytes_max> bits{};
    for (std::uint32_t i = 0; i < count; ++i) {
      if (s.receiving.has_arrived(advance(from, i))) bits[i / 8] |= std::byte{1} << (i % 8);
    }
    lane_fenced_body body;
    body.life = {lane, record.told_generation, record.told_peer_generation};
    body.from = from;
    body.count = static_cast<std::uint16_t>(count);
    body.last = left <= page_max;
    body.arrived = std::span(bits).first((count + 7) / 8);
    if (!body.last) TROUPE_MARK("link: fence told in several pages");
    s.control.append(body);
    record.page_sent = true;
    record.page_cursor = advance(from, count);
    record.telling_fence = !body.last;
    return true;
  }
  return false;
}

}  // namespace troupe::net::detail
