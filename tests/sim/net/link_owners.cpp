#include <algorithm>
#include <cstring>

#include "tests/sim/net/link_world.hpp"

namespace troupe::sim {

using kind = happening::kind;
using std::chrono::microseconds;

namespace {

constexpr std::byte spent_source{0xdd};
constexpr std::byte spent_target{0xee};

operation_signature signature_of(std::uint32_t index) {
  return {operation_kind::all_reduce, data_type::float32, reduction::sum, 0, 1000 + index};
}

}  // namespace

std::byte link_world::pattern(std::uint32_t index, std::uint64_t at) const {
  return static_cast<std::byte>((index * 2654435761u + at * 40503u) >> 7);
}

void link_world::poison(side_index side, const buffer_view& view, std::byte with) {
  auto* p = owners_[side].buffers.resolve(view);
  if (p != nullptr) std::memset(p, std::to_integer<int>(with), view.bytes);
}

// -- what will be asked ---------------------------------------------------------------------------

void link_world::write_stories() {
  const auto& w = plan_.work;
  auto& r = owners_random_;
  const auto begin = now_;
  const auto some_time = [&] {
    return begin + duration(static_cast<std::int64_t>(
                       r.below(static_cast<std::uint64_t>(w.spread.count()) + 1)));
  };
  for (std::uint32_t i = 0; i < w.transfer_count; ++i) {
    story s;
    const bool second_epoch = w.epochs && r.one_in(2);
    s.id = {communicator_id{7}, epoch{second_epoch ? 1u : 0u},
            operation_number{1 + r.below(w.operation_count)}, i / 2};
    s.putter = i % 2;  // two transfers share an id, one each way
    const auto bytes = r.one_in(3) ? r.below(std::min<std::uint64_t>(w.bytes_max, 60) + 1)
                                   : r.below(w.bytes_max + 1);
    s.bytes = {bytes, bytes};
    s.signature = {signature_of(i), signature_of(i)};
    if (i % 2 == 1) s.id = stories_[i - 1].id;
    if (w.mismatches && r.one_in(4)) {
      if (r.one_in(2)) s.bytes[1] = r.below(w.bytes_max + 60);
      s.signature[1].count += r.below(2);
    }
    s.at = {some_time(), some_time()};
    if (s.id.epoch.value == 1) {  // asked for once the own side is there
      for (auto& at : s.at)
        at = std::max(at, begin + w.spread / 2);
    }
    if (w.early_puts && r.one_in(2)) s.at[1] += w.spread * 2;
    if (w.puts_alone && r.one_in(6)) s.at[r.below(2)] = never;
    stories_.push_back(s);
  }
  for (std::uint32_t i = 0; i < stories_.size(); ++i) {
    const auto& s = stories_[i];
    const auto epoch_at = begin + w.spread / 2;
    for (std::uint32_t end : {0u, 1u}) {
      if (s.at[end] == never) continue;
      // A request of the old epoch that comes after the new one began is the owner's own mistake.
      if (w.epochs && s.id.epoch.value == 0 && s.at[end] >= epoch_at) continue;
      schedule(s.at[end], {.what = end == 0 ? kind::put : kind::accept,
                           .side = end == 0 ? s.putter : 1 - s.putter,
                           .item = i});
    }
  }
  if (w.epochs) {
    for (side_index side : {0u, 1u}) {
      const auto behind = r.one_in(2) ? duration(0) : w.spread / static_cast<int>(r.between(2, 50));
      schedule(begin + w.spread / 2 + behind, {.what = kind::advance_epoch, .side = side});
    }
  }
  if (w.cancels) {
    for (std::uint64_t n = r.between(1, 3); n > 0; --n) {
      schedule(some_time() + w.spread / 2, {.what = kind::cancel,
                                            .side = static_cast<side_index>(r.below(2)),
                                            .item = 1 + r.below(w.operation_count)});
    }
  }
  for (side_index side : {0u, 1u}) {
    for (std::uint32_t n = 0; n < w.notice_count; ++n) {
      schedule(some_time(), {.what = kind::notice, .side = side});
    }
    for (int n = 0; n < 3; ++n)
      schedule(some_time(), {.what = kind::unmatched, .side = side});
  }
}

void link_world::ask_put(std::uint32_t index) {
  auto& s = stories_[index];
  const auto side = s.putter;
  auto& o = owners_[side];
  if (o.crashed) return;
  s.memory[0] = o.memory_view.part(o.memory_used, s.bytes[0]);
  o.memory_used += s.bytes[0] + 1;
  auto* p = o.buffers.resolve(s.memory[0]);
  if (p == nullptr) return fail("the simulation ran out of memory for puts");
  for (std::uint64_t i = 0; i < s.bytes[0]; ++i)
    p[i] = pattern(index, i);
  o.put_by_offset[s.memory[0].offset] = index;
  s.asked[0] = true;
  drive(side, net::put_requested{s.id, s.signature[0], s.memory[0], index});
}

void link_world::ask_accept(std::uint32_t index) {
  auto& s = stories_[index];
  const auto side = 1 - s.putter;
  auto& o = owners_[side];
  if (o.crashed) return;
  s.memory[1] = o.memory_view.part(o.memory_used, s.bytes[1]);
  o.memory_used += s.bytes[1] + 1;
  o.accept_by_offset[s.memory[1].offset] = index;
  poison(side, s.memory[1], std::byte{0x11});
  if (net::needs_key(*o.link, s.bytes[1])) {
    const auto key = o.buffers.expose(s.memory[1]);
    if (!key) return fail("the simulation ran out of exposures");
    s.key = *key;
  }
  s.asked[1] = true;
  drive(side, net::accept_requested{s.id, s.signature[1], s.memory[1], s.key, index});
}

void link_world::end_silently(side_index side, std::uint32_t index) {
  auto& s = stories_[index];
  if (s.putter == side && s.asked[0] && !s.ended[0]) s.cancelled[0] = true;
  if (s.putter != side && s.asked[1] && !s.ended[1]) {
    s.cancelled[1] = true;
    s.ended[1] = true;
    if (s.key != 0 && !s.key_withdrawn && !owners_[side].lost) {
      return fail("a cancelled accept kept its key");
    }
    poison(side, s.memory[1], spent_target);
  }
}

void link_world::cancel(side_index side, operation_number operation, epoch e) {
  if (owners_[side].crashed) return;
  drive(side, net::operation_cancelled{communicator_id{7}, e, operation});
  for (std::uint32_t i = 0; i < stories_.size() && !over(); ++i) {
    auto& s = stories_[i];
    if (s.id.operation != operation || s.id.epoch != e) continue;
    s.touched = s.touched || !cleaning_;
    end_silently(side, i);
  }
}

void link_world::advance_epoch(side_index side) {
  if (owners_[side].crashed) return;
  epochs_[side] = epoch{1};
  drive(side, net::epoch_advanced{communicator_id{7}, epoch{1}});
  for (std::uint32_t i = 0; i < stories_.size() && !over(); ++i) {
    if (stories_[i].id.epoch.value != 0) continue;
    stories_[i].touched = true;
    end_silently(side, i);
  }
}

void link_world::send_notice(side_index side) {
  auto& o = owners_[side];
  if (o.crashed || o.lost) return;
  if (net::notice_room(*o.link) == 0) {
    schedule(now_ + microseconds(50), {.what = kind::notice, .side = side});
    return;
  }
  std::array<std::byte, net::notice_bytes_max> bytes{};
  const auto number = o.notices_sent++;
  for (int i = 0; i < 4; ++i)
    bytes[static_cast<std::size_t>(i)] = std::byte(number >> (8 * i));
  drive(side, net::notice_requested{std::span(bytes).first(4 + number % 180)});
}

void link_world::grant_budget(side_index side) {
  auto& o = owners_[side];
  if (o.budget_wanted == 0 || o.crashed) return;
  const auto cap = plan_.work.budget_bytes;
  const auto left = cap > o.budget_out ? cap - o.budget_out : 0;
  auto bytes = std::min(left, o.budget_wanted);
  if (bytes == 0) return;  // comes again with the next return
  if (bytes > 1 && owners_random_.one_in(3)) bytes = 1 + owners_random_.below(bytes);
  o.budget_wanted -= bytes;
  o.budget_out += bytes;
  if (o.budget_wanted > 0) schedule(now_ + delay(), {.what = kind::grant, .side = side});
  drive(side, net::budget_granted{bytes});
}

// A lane reads only sources whose owner waits for the end of the put.
void link_world::check_source(side_index side, const buffer_view& source) {
  const auto& o = owners_[side];
  if (source.id != o.memory_view.id || source.bytes == 0) return;
  const auto after = o.put_by_offset.upper_bound(source.offset);
  if (after == o.put_by_offset.begin()) return fail("a write from the memory of no put");
  const auto index = std::prev(after)->second;
  const bool over_with =
      is_window_token(index) ? window_source_is_free(index) : stories_[index].ended[0];
  if (over_with) return fail("a source read after the end of its put");
}

// -- what the link does to memory -----------------------------------------------------------------

void link_world::on_stage(side_index side, const net::stage_eager& e) {
  auto& o = owners_[side];
  const auto slot_bytes = net::eager_slot_bytes(plan_.link);
  // No lane may still read what is overwritten.
  for (const auto index : o.current_wire) {
    if (index == no_wire) continue;
    for (const auto& item : wires_[index].flow[side]) {
      const bool reads_ring = !item.is_message && !item.read && !item.gone &&
                              item.write.source.id == o.staging_view.id &&
                              item.write.source.bytes > 0;
      if (reads_ring && item.write.source.offset / slot_bytes == e.slot) {
        return fail("a staging slot overwritten while a lane reads it");
      }
    }
  }
  auto* to = o.staging.data() + e.slot * slot_bytes;
  std::copy(e.header.begin(), e.header.end(), to);
  const auto* from = o.buffers.resolve(e.source);
  if (e.source.bytes > 0) std::copy(from, from + e.source.bytes, to + e.header.size());
}

void link_world::write_target(side_index side, const buffer_view& target, const std::byte* from,
                              std::uint64_t bytes) {
  auto& o = owners_[side];
  const auto found = o.accept_by_offset.find(target.offset);
  if (found == o.accept_by_offset.end()) return fail("bytes drained to no accept");
  if (stories_[found->second].ended[1]) return fail("bytes drained to an accept that is over");
  if (bytes > 0) std::copy(from, from + bytes, o.buffers.resolve(target));
}

void link_world::on_drain(side_index side, const net::drain_eager& e) {
  const auto* slot = owners_[side].ring.data() + e.slot * net::eager_slot_bytes(plan_.link);
  write_target(side, e.target, slot + net::eager_header_bytes, e.bytes);
}

void link_world::on_park(side_index side, const net::park_eager& e) {
  auto& o = owners_[side];
  const auto* slot = o.ring.data() + e.slot * net::eager_slot_bytes(plan_.link);
  const auto* from = slot + net::eager_header_bytes;
  std::copy(from, from + e.bytes, o.places[e.place].begin());
}

void link_world::on_unpark(side_index side, const net::unpark_eager& e) {
  auto& place = owners_[side].places[e.place];
  write_target(side, e.target, place.data(), e.bytes);
  std::fill(place.begin(), place.end(), std::byte{0x99});
}

// -- what the link reports ------------------------------------------------------------------------

bool link_world::target_is_right(std::uint32_t index) const {
  const auto& s = stories_[index];
  const auto* p = owners_[1 - s.putter].buffers.resolve(s.memory[1]);
  for (std::uint64_t i = 0; i < s.bytes[1]; ++i) {
    if (p[i] != pattern(index, i)) return false;
  }
  return true;
}

void link_world::on_report(side_index side, std::uint64_t token, std::uint32_t end, error failed,
                           const operation_signature& theirs) {
  if (is_window_token(token)) return on_window_report(side, token, failed);
  const auto index = static_cast<std::uint32_t>(token);
  const auto name = " of transfer " + std::to_string(index);
  if (index >= stories_.size()) return fail("a report with a token of nobody");
  auto& s = stories_[index];
  trace(token << 20 | end << 16 | static_cast<std::uint64_t>(failed.code));
  if ((end == 0) != (s.putter == side) || !s.asked[end]) return fail("a report for nobody" + name);
  if (s.ended[end]) return fail("a second ending" + name);
  if (s.cancelled[end]) return fail("a report after the cancellation" + name);
  s.ended[end] = true;
  s.outcome[end] = failed;
  if (failed.code == errc::mismatch && theirs != s.signature[1 - end]) {
    return fail("a mismatch without the peer's signature" + name);
  }
  if (end == 1) {
    if (s.key != 0 && !s.key_withdrawn)
      return fail("an accept reported before its key ended" + name);
    if (failed.code == errc::ok && !target_is_right(index)) {
      return fail("an accept reported with wrong bytes" + name);
    }
    poison(side, s.memory[1], spent_target);
    return;
  }
  const bool rendezvous = net::needs_key(*owners_[side].link, s.bytes[0]);
  const auto& there = owners_[1 - side];
  if (failed.code == errc::ok && rendezvous && !s.ended[1] && !there.lost && !there.crashed &&
      !target_is_right(index)) {
    return fail("a put reported before its bytes landed" + name);
  }
  poison(side, s.memory[0], spent_source);
}

void link_world::on_release(side_index side, std::uint64_t token) {
  if (is_window_token(token)) return on_window_release(side, token);
  const auto index = static_cast<std::uint32_t>(token);
  auto& s = stories_[index];
  if (s.putter != side || !s.asked[0]) return fail("a source released for nobody");
  if (s.ended[0]) return fail("a source released twice, transfer " + std::to_string(index));
  s.ended[0] = true;
  s.cancelled[0] = true;
  trace(token);
  // Whatever a lane reads now would be wrong.
  for (const auto wire_index : owners_[side].current_wire) {
    if (wire_index == no_wire) continue;
    for (const auto& item : wires_[wire_index].flow[side]) {
      const auto& source = item.write.source;
      const bool inside = source.id == s.memory[0].id && source.offset >= s.memory[0].offset &&
                          source.offset < s.memory[0].offset + s.bytes[0];
      if (!item.is_message && !item.read && inside) return fail("a source released while read");
    }
  }
  poison(side, s.memory[0], spent_source);
}

void link_world::on_refused(side_index side, const net::report_refused& e) {
  for (auto& p : window_puts_)
    if (p.putter == side && p.id == e.id) return void(p.refused_later = true);
  for (auto& s : stories_) {
    if (s.putter == side && s.id == e.id) {
      s.refused_later = true;
      if (e.theirs != s.signature[1]) fail("a refusal without the peer's signature");
      return;
    }
  }
  fail("a refusal of a transfer that nobody put");
}

void link_world::on_withdraw(side_index side, std::uint64_t key) {
  for (auto& s : stories_) {
    if (s.putter == side || s.key != key) continue;
    if (s.key_withdrawn) return fail("a key withdrawn twice");
    s.key_withdrawn = true;
    owners_[side].buffers.withdraw(key);
    return;
  }
  fail("a key withdrawn that nobody gave");
}

void link_world::on_notice(side_index side, const net::deliver_notice& e) {
  auto& heard = owners_[side].notices_heard;
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    number |= std::to_integer<std::uint32_t>(e.frame[i]) << (8 * i);
  }
  if (number != heard.size()) return fail("a notice out of order");
  if (e.length != 4 + number % 180) return fail("a notice of another length");
  heard.push_back(number);
}

void link_world::on_lost(side_index side) {
  auto& o = owners_[side];
  if (o.lost) return fail("the link lost twice");
  o.lost = true;
  o.budget_wanted = 0;
  for (const auto& s : stories_) {
    const auto end = s.putter == side ? 0u : 1u;
    if (s.asked[end] && !s.ended[end]) return fail("lost before every transfer had ended");
  }
  schedule(now_ + std::chrono::milliseconds(20), {.what = kind::abandon, .side = 1 - side});
}

// Whoever makes the lanes gives up when the first of them never comes.
void link_world::abandon(side_index side) {
  auto& o = owners_[side];
  if (!o.lost && !o.link->clock.started) drive(side, net::link_abandoned{{errc::unreachable}});
}

}  // namespace troupe::sim
