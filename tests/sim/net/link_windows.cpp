#include <algorithm>

#include "tests/sim/net/link_world.hpp"

// Puts into windows: what the owners ask for, hear and check.
namespace troupe::sim {

using kind = happening::kind;

namespace {

// Tokens and places in `put_by_offset` that belong to puts into windows.
constexpr std::uint32_t window_mark = 0x8000'0000u;
constexpr std::byte untouched_target{0x11};
constexpr std::byte closed_target{0xee};

std::string named(std::uint32_t index) {
  return " of window put " + std::to_string(index);
}

}  // namespace

bool link_world::is_window_token(std::uint64_t token) {
  return (token & window_mark) != 0;
}

void link_world::write_window_puts() {
  // A stream of its own: seeds that found bugs in other parts stay what they were.
  auto r = random_stream(seed_).fork(14);
  if (!r.one_in(3)) return;
  const auto spread = static_cast<std::uint64_t>(plan_.work.spread.count());
  const auto begin = now_ + (plan_.work.epochs ? plan_.work.spread / 2 : duration(0));
  std::vector<instant> times(r.between(1, window_put_count_max));
  for (auto& at : times)
    at = begin + duration(r.below(r.one_in(2) ? spread + 1 : 2000));
  std::sort(times.begin(), times.end());
  for (std::uint32_t i = 0; i < times.size(); ++i) {
    window_put p;
    p.putter = static_cast<side_index>(r.below(2));
    const auto call = one_sided_number(rank{p.putter}, i + 1, false);
    p.id = {communicator_id{7}, epoch{plan_.work.epochs ? 1u : 0u}, call,
            window_step(i, r.one_in(2))};
    p.bytes = r.one_in(4) ? 0 : r.below(plan_.work.bytes_max + 1);
    p.offset = r.below(50);
    auto& there = owners_[1 - p.putter];
    p.target = there.memory_view.part(there.memory_used, p.offset + p.bytes + 1);
    there.memory_used += p.offset + p.bytes + 2;
    poison(1 - p.putter, p.target, untouched_target);
    const auto key = there.buffers.expose(p.target);
    if (!key) return fail("the simulation ran out of exposures");
    p.key = *key;
    window_puts_.push_back(p);
    schedule(times[i], {.what = kind::window_put, .side = p.putter, .item = i});
    const auto later = times[i] + duration(r.below(1'000'000));
    if (r.one_in(6)) schedule(later, {.what = kind::window_cancel, .side = p.putter, .item = i});
    if (r.one_in(6)) schedule(later, {.what = kind::window_close, .side = 1 - p.putter, .item = i});
  }
}

void link_world::ask_window_put(std::uint32_t index) {
  auto& p = window_puts_[index];
  auto& o = owners_[p.putter];
  if (o.crashed) return;
  p.source = o.memory_view.part(o.memory_used, p.bytes);
  o.memory_used += p.bytes + 1;
  auto* from = o.buffers.resolve(p.source);
  if (from == nullptr) return fail("the simulation ran out of memory for window puts");
  for (std::uint64_t i = 0; i < p.bytes; ++i)
    from[i] = pattern(index | window_mark, i);
  o.put_by_offset[p.source.offset] = index | window_mark;
  p.asked = true;
  drive(p.putter,
        net::put_requested{p.id,
                           {operation_kind::put, data_type::uint8, reduction::sum, 0, p.bytes},
                           p.source,
                           index | window_mark,
                           {p.key, p.offset}});
}

void link_world::cancel_window_put(std::uint32_t index) {
  auto& p = window_puts_[index];
  if (owners_[p.putter].crashed || !p.asked || p.ended) return;
  p.cancelled = true;
  drive(p.putter, net::operation_cancelled{p.id.communicator, p.id.epoch, p.id.operation});
}

void link_world::close_window(std::uint32_t index) {
  auto& p = window_puts_[index];
  if (p.closed) return;
  p.closed = true;
  auto& there = owners_[1 - p.putter];
  there.buffers.withdraw(p.key);
  // What lands after this shows in the end.
  poison(1 - p.putter, p.target, closed_target);
}

// Its bytes are at their offset, and nothing beside them was touched.
bool link_world::window_is_right(std::uint32_t index) const {
  const auto& p = window_puts_[index];
  const auto* window = owners_[1 - p.putter].buffers.resolve(p.target);
  for (std::uint64_t i = 0; i < p.target.bytes; ++i) {
    const bool inside = i >= p.offset && i < p.offset + p.bytes;
    const auto expected = inside ? pattern(index | window_mark, i - p.offset) : untouched_target;
    if (window[i] != expected) return false;
  }
  return true;
}

bool link_world::window_source_is_free(std::uint32_t token) const {
  return window_puts_[token & ~window_mark].ended;
}

void link_world::on_window_report(side_index side, std::uint64_t token, error failed) {
  const auto index = static_cast<std::uint32_t>(token) & ~window_mark;
  if (index >= window_puts_.size()) return fail("a window report with a token of nobody");
  auto& p = window_puts_[index];
  trace(token << 20 | static_cast<std::uint64_t>(failed.code));
  if (p.putter != side || !p.asked) return fail("a report for nobody" + named(index));
  if (p.ended) return fail("a second ending" + named(index));
  if (p.cancelled) return fail("a report after the cancellation" + named(index));
  p.ended = true;
  p.outcome = failed;
  const auto& there = owners_[1 - side];
  if (failed.code == errc::ok && !p.closed && !there.crashed && !window_is_right(index))
    return fail("reported before its bytes landed" + named(index));
  poison(side, p.source, std::byte{0xdd});
}

void link_world::on_window_release(side_index side, std::uint64_t token) {
  const auto index = static_cast<std::uint32_t>(token) & ~window_mark;
  auto& p = window_puts_[index];
  if (p.putter != side || !p.asked || p.ended) return fail("released twice" + named(index));
  if (!p.cancelled) return fail("released without a cancellation" + named(index));
  p.ended = true;
  poison(side, p.source, std::byte{0xdd});
}

void link_world::on_written(side_index side, const net::report_written& e) {
  const auto index = window_of(e.id);
  if (index >= window_puts_.size()) return fail("told of a window put of nobody");
  auto& p = window_puts_[index];
  if (p.putter == side || p.id != e.id || !p.asked)
    return fail("told of another window put" + named(index));
  if (p.told) return fail("told twice" + named(index));
  p.told = true;
  p.told_as = e.failed;
  trace(index << 8 | static_cast<std::uint64_t>(e.failed.code));
  if (e.failed.code == errc::mismatch && !p.closed)
    return fail("refused though its window is open" + named(index));
  if (e.failed.code == errc::aborted && !p.cancelled)
    return fail("told as stopped, which it was not" + named(index));
  if (e.failed.code != errc::ok) return;
  if (!p.closed && !window_is_right(index)) return fail("told before its bytes" + named(index));
  if (!notifies(p.id)) return;
  for (std::uint32_t before = 0; before < index; ++before) {
    const auto& other = window_puts_[before];
    if (other.putter != p.putter || !other.asked || other.cancelled || other.closed) continue;
    if (other.ended && other.outcome.code == errc::queue_full) continue;  // never begun
    if (!window_is_right(before))
      return fail("notified before the bytes" + named(before) + named(index));
  }
}

bool link_world::window_puts_ended() const {
  return std::all_of(window_puts_.begin(), window_puts_.end(), [&](const window_put& p) {
    const bool gone = owners_[p.putter].crashed;
    return gone || (p.asked && p.ended);
  });
}

void link_world::check_window_outcomes() {
  const bool whole =
      !owners_[0].lost && !owners_[1].lost && !owners_[0].crashed && !owners_[1].crashed;
  for (std::uint32_t i = 0; i < window_puts_.size() && !over(); ++i) {
    const auto& p = window_puts_[i];
    if (p.asked && !p.ended && !owners_[p.putter].crashed) return fail("never ended" + named(i));
    if (p.closed) {
      const auto* at = owners_[1 - p.putter].buffers.resolve(p.target);
      if (!std::all_of(at, at + p.target.bytes, [](auto b) { return b == closed_target; }))
        return fail("bytes landed after the window closed" + named(i));
    }
    if (!whole || !p.asked || p.cancelled) continue;
    if (p.outcome.code != errc::ok && p.outcome.code != errc::queue_full && !p.closed)
      return fail("failed without a cause" + named(i));
    if (p.outcome.code == errc::ok && !p.told) return fail("ended and never told" + named(i));
    if (p.told && p.told_as.code == errc::mismatch && p.outcome.code == errc::ok &&
        !p.refused_later)
      return fail("refused and its putter never heard" + named(i));
  }
}

void link_world::close_windows() {
  for (std::uint32_t i = 0; i < window_puts_.size(); ++i)
    if (!window_puts_[i].closed)
      owners_[1 - window_puts_[i].putter].buffers.withdraw(window_puts_[i].key);
}

}  // namespace troupe::sim
