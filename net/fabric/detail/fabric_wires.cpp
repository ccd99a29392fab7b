#include <algorithm>
#include <cstring>

#include "net/fabric/detail/fabric_handles.hpp"
#include "net/fabric/detail/fabric_world.hpp"
#include "net/fabric/fabric.hpp"
#include "runtime/assert.hpp"
#include "runtime/mark.hpp"

namespace troupe::net::detail {

namespace {

constexpr bool has(const fabric_frame& frame, lane_fault fault) {
  return (frame.faults >> static_cast<unsigned>(fault) & 1u) != 0;
}

constexpr std::uint8_t with(std::uint8_t faults, lane_fault fault) {
  return static_cast<std::uint8_t>(faults | 1u << static_cast<unsigned>(fault));
}

constexpr std::uint32_t inbox_bound(const fabric_options& options) {
  return 4 * options.lane_depth;
}

constexpr duration time_on_port(std::uint64_t bytes, std::uint64_t bytes_per_second) {
  constexpr std::uint64_t nanoseconds = 1'000'000'000;
  // Whole seconds apart, so that the product of the rest stays below 2^64.
  const auto seconds = bytes / bytes_per_second;
  const auto rest = bytes % bytes_per_second;
  const auto of_rest = rest < (1ull << 34)
                           ? (rest * nanoseconds + bytes_per_second - 1) / bytes_per_second
                           : rest / (bytes_per_second / nanoseconds + 1);
  return duration(static_cast<duration::rep>(seconds * nanoseconds + of_rest));
}

}  // namespace

// -- sending --------------------------------------------------------------------------------------

post_status fabric_world::post_write(std::uint32_t half, const lane_write& write) {
  auto& sender = at(half);
  if (sender.closed || sender.lost) return post_status::lost;
  if (sender.writes_open >= options_.lane_depth) {
    sender.wants_room = true;
    return post_status::full;
  }
  auto& counters = endpoints_[sender.endpoint].counters;
  ++counters.writes;
  ++totals_.writes;
  counters.bytes += write.source.bytes;
  totals_.bytes += write.source.bytes;
  ++sender.writes_open;
  const auto frame = take_frame();
  auto& entry = frames_[frame];
  entry.what = fabric_frame::kind::write;
  entry.immediate = write.immediate;
  entry.bytes = write.source.bytes;
  entry.context = write.context;
  entry.source = write.source;
  entry.target = write.target;
  send(half, frame);
  return post_status::accepted;
}

post_status fabric_world::post_message(std::uint32_t half, std::span<const std::byte> message) {
  TROUPE_ASSERT(message.size() <= lane_message_bytes_max);
  auto& sender = at(half);
  if (sender.closed || sender.lost) return post_status::lost;
  if (sender.messages_open >= options_.lane_depth) {
    sender.wants_room = true;
    return post_status::full;
  }
  ++endpoints_[sender.endpoint].counters.messages;
  ++totals_.messages;
  ++sender.messages_open;
  const auto frame = take_frame();
  auto& entry = frames_[frame];
  entry.what = fabric_frame::kind::message;
  entry.buffered = true;
  entry.bytes = message.size();
  entry.block = bytes_.take(message.size());
  if (!message.empty()) std::memcpy(bytes_.at(entry.block), message.data(), message.size());
  send(half, frame);
  return post_status::accepted;
}

std::uint8_t fabric_world::draw_faults(std::uint32_t half) {
  auto drawn = std::exchange(at(half).next_faults, std::uint8_t{0});
  const auto draw = [&](std::uint32_t one_in, lane_fault fault) {
    if (one_in != 0 && faults_.one_in(one_in)) drawn = with(drawn, fault);
  };
  each_rule(half, [&](const fabric_faults& rule) {
    draw(rule.lose_lane_one_in, lane_fault::lose_lane);
    draw(rule.lose_completion_one_in, lane_fault::lose_completion);
    draw(rule.stall_one_in, lane_fault::stall);
    draw(rule.duplicate_arrival_one_in, lane_fault::duplicate_arrival);
    draw(rule.corrupt_one_in, lane_fault::corrupt);
    draw(rule.delay_one_in, lane_fault::delay);
  });
  return drawn;
}

// How much later than the wire alone a frame arrives.
duration fabric_world::draw_delay(std::uint32_t half) {
  duration later{};
  each_rule(half, [&](const fabric_faults& rule) {
    later += rule.longer;
    if (rule.lose_frame_one_in != 0 && faults_.one_in(rule.lose_frame_one_in)) {
      TROUPE_MARK("fabric: frame lost and sent again");
      later += rule.retransmission;
    }
    if (rule.jitter <= duration::zero()) return;
    const auto extra = faults_.below(static_cast<std::uint64_t>(rule.jitter.count()) + 1);
    later += duration(static_cast<duration::rep>(extra));
  });
  return later;
}

void fabric_world::send(std::uint32_t half, std::uint32_t frame) {
  auto& sender = at(half);
  auto& entry = frames_[frame];
  auto& endpoint = endpoints_[sender.endpoint];
  const auto peer = at(half ^ 1u).endpoint;
  entry.faults = draw_faults(half);
  if (entry.what == fabric_frame::kind::write && endpoint.completions_to_lose > 0) {
    --endpoint.completions_to_lose;
    entry.faults = with(entry.faults, lane_fault::lose_completion);
  }
  const auto head = std::max(endpoint.port_free, now_);
  endpoint.port_free = head + time_on_port(entry.bytes + fabric_frame_overhead_bytes,
                                           wires_between(sender.endpoint, peer).bytes_per_second);
  append(sender.out, frame);
  if (sender.way != no_index) {
    set_out(half, frame, head, endpoint.port_free);
  } else {
    const auto arrival = endpoint.port_free + wire_delay(sender.endpoint, peer) + draw_delay(half);
    entry.arrival = std::max(arrival, sender.last_arrival);
    if (has(entry, lane_fault::delay)) entry.arrival += rules_[sender.rule].faults.delay;
    sender.last_arrival = entry.arrival;
  }
  if (sender.unbuffered == no_index) sender.unbuffered = frame;
  fill_buffer(half);
  plan_arrival(half);
}

void fabric_world::plan_arrival(std::uint32_t half) {
  auto& sender = at(half);
  if (sender.arrival_planned || sender.stalled || sender.out.head == no_index) return;
  if (sender.waits_for_inbox || sender.waits_for_group) return;
  if (frames_[sender.out.head].arrival == never) return;
  sender.arrival_planned = true;
  plan(std::max(now_, frames_[sender.out.head].arrival), event_kind::arrival, half,
       wires_[half >> 1].generation);
}

// The wire takes over the bytes of the next writes while its buffer has room.
void fabric_world::fill_buffer(std::uint32_t half) {
  auto& sender = at(half);
  while (sender.unbuffered != no_index) {
    const auto frame = sender.unbuffered;
    if (frames_[frame].what == fabric_frame::kind::write) {
      const auto limit = options_.wire_buffer_bytes;
      const auto bytes = frames_[frame].bytes;
      if (limit == 0 || sender.buffered_bytes + bytes > limit) return;
      if (sender.buffered_writes >= options_.lane_depth) return;
      if (bytes != 0) {
        const auto* source = endpoints_[sender.endpoint].buffers->resolve(frames_[frame].source);
        TROUPE_ASSERT(source != nullptr);
        const auto block = bytes_.take(bytes);
        std::memcpy(bytes_.at(block), source, bytes);
        frames_[frame].block = block;
      }
      frames_[frame].buffered = true;
      sender.buffered_bytes += bytes;
      ++sender.buffered_writes;
      complete(half, frame);
    }
    sender.unbuffered = frames_[frame].next;
  }
}

void fabric_world::complete(std::uint32_t half, std::uint32_t write) {
  if (has(frames_[write], lane_fault::lose_completion)) {
    TROUPE_MARK("fabric: completion lost");
    return;
  }
  const auto note = take_frame();
  frames_[note].what = fabric_frame::kind::completed;
  frames_[note].context = frames_[write].context;
  if (frames_[write].passage != 0 && !frames_[write].buffered) return send_back(half, write, note);
  append(at(half).in, note);
  make_ready(half);
}

// -- arriving -------------------------------------------------------------------------------------

void fabric_world::on_arrival(std::uint32_t half) {
  auto& sender = at(half);
  sender.arrival_planned = false;
  while (sender.out.head != no_index && frames_[sender.out.head].arrival <= now_) {
    if (has(frames_[sender.out.head], lane_fault::stall)) {
      TROUPE_MARK("fabric: lane stalled");
      sender.stalled = true;
      return;
    }
    if (!may_arrive(half)) return;
    if (sender.unbuffered == sender.out.head) sender.unbuffered = frames_[sender.out.head].next;
    arrive(half, pop(sender.out));
  }
  plan_arrival(half);
}

bool fabric_world::may_arrive(std::uint32_t half) {
  auto& sender = at(half);
  const auto& receiver = at(half ^ 1u);
  if (!carries(half)) {
    TROUPE_MARK("fabric: frame waits for a partition to heal");
    sender.waits_for_group = true;
    sender.wait_stamp = next_stamp_++;
    plan(saturating_add(now_, options_.detection_delay), event_kind::give_up, half,
         sender.wait_stamp);
    return false;
  }
  if (receiver.closed || receiver.lost) return true;
  if (receiver.in_arrivals < inbox_bound(options_)) return true;
  TROUPE_MARK("fabric: frame waits for its receiver to poll");
  sender.waits_for_inbox = true;
  return false;
}

void fabric_world::arrive(std::uint32_t half, std::uint32_t frame) {
  const auto peer = half ^ 1u;
  const auto& receiver = at(peer);
  const auto what = frames_[frame].what;
  if (what == fabric_frame::kind::end) {
    hash_delivery(receiver.endpoint, frames_[frame]);
    set_lost(peer, frames_[frame].cause);
    return free_frame(frame);
  }
  if (has(frames_[frame], lane_fault::lose_lane)) {
    TROUPE_MARK("fabric: lane lost on arrival");
    set_lost(peer, {errc::peer_lost});
    plan_loss(half, {errc::peer_lost}, wire_delay(receiver.endpoint, at(half).endpoint));
    return free_frame(frame);
  }
  if (receiver.closed || receiver.lost) {
    // An end that is on its way says it, after what is before it.
    const bool will_hear = receiver.out.head != no_index && !receiver.stalled;
    if (!will_hear && !endpoints_[receiver.endpoint].host_crashed)
      plan_loss(half, {errc::peer_lost}, wire_delay(receiver.endpoint, at(half).endpoint));
    return free_frame(frame);
  }
  if (what == fabric_frame::kind::write)
    arrive_write(half, frame);
  else
    arrive_message(half, frame);
  make_ready(peer);
  fill_buffer(half);
}

void fabric_world::arrive_write(std::uint32_t half, std::uint32_t frame) {
  const auto peer = half ^ 1u;
  auto* target =
      endpoints_[at(peer).endpoint].buffers->resolve(frames_[frame].target, frames_[frame].bytes);
  if (target != nullptr) place(at(half), frames_[frame], target);
  const bool twice = target != nullptr && has(frames_[frame], lane_fault::duplicate_arrival);
  for (int copies = twice ? 2 : 1; copies > 0; --copies) {
    const auto note = take_frame();
    auto& entry = frames_[note];
    entry.what = target == nullptr ? fabric_frame::kind::refused : fabric_frame::kind::arrived;
    entry.immediate = frames_[frame].immediate;
    entry.bytes = frames_[frame].bytes;
    append(at(peer).in, note);
    ++at(peer).in_arrivals;
    hash_delivery(at(peer).endpoint, entry);
  }
  auto& sender = at(half);
  if (frames_[frame].buffered) {
    sender.buffered_bytes -= frames_[frame].bytes;
    --sender.buffered_writes;
  } else {
    complete(half, frame);
  }
  free_frame(frame);
}

void fabric_world::place(const fabric_half& sender, const fabric_frame& frame, std::byte* target) {
  if (frame.bytes == 0) return;
  const auto* source = frame.buffered ? bytes_.at(frame.block)
                                      : endpoints_[sender.endpoint].buffers->resolve(frame.source);
  TROUPE_ASSERT(source != nullptr);
  std::memcpy(target, source, frame.bytes);
  if (has(frame, lane_fault::corrupt)) flip_bit(target, frame.bytes);
}

void fabric_world::arrive_message(std::uint32_t half, std::uint32_t frame) {
  const auto peer = half ^ 1u;
  auto& entry = frames_[frame];
  if (has(entry, lane_fault::corrupt) && entry.bytes != 0)
    flip_bit(bytes_.at(entry.block), entry.bytes);
  hash_delivery(at(peer).endpoint, entry);
  append(at(peer).in, frame);
  ++at(peer).in_arrivals;
  auto& sender = at(half);
  --sender.messages_open;
  if (std::exchange(sender.wants_room, false)) make_ready(half);
}

void fabric_world::flip_bit(std::byte* bytes, std::uint64_t count) {
  TROUPE_MARK("fabric: bit flipped");
  const auto bit = faults_.below(8 * count);
  bytes[bit / 8] ^= std::byte{1} << static_cast<int>(bit % 8);
}

// -- polling --------------------------------------------------------------------------------------

std::size_t fabric_world::poll_lane(std::uint32_t half, std::span<lane_event> out) {
  auto& entry = at(half);
  if (entry.closed) return 0;
  if (entry.shown_message != no_index) free_frame(std::exchange(entry.shown_message, no_index));
  const auto count = show(half, out);
  auto& peer = at(half ^ 1u);
  if (peer.waits_for_inbox && entry.in_arrivals <= inbox_bound(options_) / 2) {
    peer.waits_for_inbox = false;
    plan_arrival(half ^ 1u);
  }
  if (entry.in.head != no_index || (entry.lost && !entry.reported))
    make_ready(half);
  else
    unlink_ready(half);
  return count;
}

std::size_t fabric_world::show(std::uint32_t half, std::span<lane_event> out) {
  auto& entry = at(half);
  std::size_t count = 0;
  while (count < out.size() && entry.in.head != no_index) {
    const auto frame = pop(entry.in);
    const auto& note = frames_[frame];
    auto& event = out[count++];
    event = {.immediate = note.immediate, .bytes = note.bytes, .context = note.context};
    if (note.what == fabric_frame::kind::message) {
      --entry.in_arrivals;
      event.what = lane_event::kind::message_arrived;
      event.message = {bytes_.at(note.block), note.bytes};
      entry.shown_message = frame;
      return count;
    }
    if (note.what == fabric_frame::kind::completed) {
      --entry.writes_open;
      event.what = lane_event::kind::write_completed;
    } else {
      --entry.in_arrivals;
      event.what = note.what == fabric_frame::kind::arrived ? lane_event::kind::write_arrived
                                                            : lane_event::kind::write_refused;
    }
    free_frame(frame);
  }
  if (count < out.size() && entry.lost && !entry.reported) {
    entry.reported = true;
    out[count++] = {.what = lane_event::kind::lane_lost, .cause = entry.cause};
  }
  return count;
}

}  // namespace troupe::net::detail
