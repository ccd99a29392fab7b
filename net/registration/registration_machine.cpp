#include "net/registration/registration_machine.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "runtime/mark.hpp"

namespace troupe::net {

namespace {

using phase = registration_state::phase;
using segment_entry = std::map<std::uint64_t, registration_state::segment>::iterator;

segment_name name_of(segment_entry at) {
  return {at->first, at->second.generation};
}

// The segment of that name, unless its addresses have another life by now.
segment_entry find(registration_state& s, const segment_name& name) {
  const auto at = s.segments.find(name.base);
  return at != s.segments.end() && at->second.generation == name.generation ? at : s.segments.end();
}

bool fits(const registration_state& s, std::uint64_t bytes) {
  return s.counters.registered_bytes + bytes <= s.options.bytes_max;
}

void start_queued(registration_state& s, registration_effects& out) {
  while (s.under_way < s.options.at_once && !s.queue.empty()) {
    const auto at = find(s, s.queue.front());
    s.queue.pop_front();
    if (at == s.segments.end() || at->second.now != phase::queued) continue;
    if (!fits(s, at->second.bytes)) {
      TROUPE_MARK("registration: no room for another segment");
      at->second.now = phase::known;
      continue;
    }
    at->second.now = phase::registering;
    s.counters.registered_bytes += at->second.bytes;
    ++s.under_way;
    out.push_back(register_segment{name_of(at), at->second.bytes});
  }
}

void enqueue(registration_state& s, segment_entry at) {
  if (at->second.now != phase::known || at->second.ending) return;
  at->second.now = phase::queued;
  s.queue.push_back(name_of(at));
}

/// The segments of a range, in order; none if some byte of it is in no segment that stays.
std::optional<std::vector<segment_entry>> covering(registration_state& s, std::uint64_t base,
                                                   std::uint64_t bytes) {
  auto at = s.segments.upper_bound(base);
  if (at == s.segments.begin()) return std::nullopt;
  --at;
  std::vector<segment_entry> out;
  auto reached = base;
  const auto end = base + bytes;
  while (reached < end) {
    if (at == s.segments.end() || at->first > reached || at->second.ending) return std::nullopt;
    const auto segment_end = at->first + at->second.bytes;
    if (segment_end <= reached) return std::nullopt;
    out.push_back(at);
    reached = segment_end;
    ++at;
  }
  return out;
}

bool all_registered(const std::vector<segment_entry>& range) {
  return std::all_of(range.begin(), range.end(),
                     [](auto at) { return at->second.now == phase::registered; });
}

bool may_come(const registration_state& s, const std::vector<segment_entry>& range) {
  return std::all_of(range.begin(), range.end(), [&s](auto at) {
    const auto now = at->second.now;
    return now == phase::registered || now == phase::registering || now == phase::queued ||
           (now == phase::known && fits(s, at->second.bytes));
  });
}

void use(registration_state& s, const range_wanted& wanted, const std::vector<segment_entry>& range,
         registration_effects& out) {
  use_registered answer{wanted.token, {}};
  auto& used = s.uses[wanted.token];
  for (const auto at : range) {
    ++at->second.uses;
    used.push_back(name_of(at));
    const auto from = std::max(at->first, wanted.base);
    const auto to = std::min(at->first + at->second.bytes, wanted.base + wanted.bytes);
    answer.pieces.push_back({name_of(at), from - at->first, to - from, at->second.key});
  }
  out.push_back(std::move(answer));
}

void forget_if_over(registration_state& s, segment_entry at, registration_effects& out) {
  auto& segment = at->second;
  if (!segment.ending || segment.uses > 0) return;
  switch (segment.now) {
    case phase::registered:
      segment.now = phase::forgetting;
      out.push_back(forget_segment{name_of(at), segment.key});
      return;
    case phase::registering:
    case phase::forgetting: return;
    case phase::known:
    case phase::queued:
    case phase::refused:
      out.push_back(report_withdrawn{at->first});
      s.segments.erase(at);
      return;
  }
}

// Ranges that waited for a segment: those that are whole now are used, those that never will be are
// copied.
void serve_waiting(registration_state& s, registration_effects& out) {
  auto waiting = std::exchange(s.waiting, {});
  for (const auto& each : waiting) {
    const range_wanted wanted{each.token, each.base, each.bytes};
    const auto range = covering(s, each.base, each.bytes);
    if (!range) {
      TROUPE_MARK("registration: memory ended under a range that waited");
      out.push_back(report_unusable{each.token, {errc::aborted}});
    } else if (all_registered(*range)) {
      use(s, wanted, *range, out);
    } else if (may_come(s, *range)) {
      s.waiting.push_back(each);
    } else {
      out.push_back(use_bounce{each.token});
    }
  }
}

bool is_range(const range_wanted& wanted) {
  return wanted.bytes > 0 &&
         wanted.base <= std::numeric_limits<std::uint64_t>::max() - wanted.bytes;
}

void on(registration_state& s, const segment_announced& event, registration_effects& out) {
  if (event.bytes == 0) return;
  const auto [at, is_new] = s.segments.try_emplace(event.base);
  if (!is_new) {
    TROUPE_MARK("registration: announced twice");
    ++s.counters.stale_dropped;
    return;
  }
  at->second.bytes = event.bytes;
  at->second.generation = s.next_generation++;
  if (s.options.mode != registration_mode::eager) return;
  enqueue(s, at);
  start_queued(s, out);
}

void on(registration_state& s, const segment_ending& event, registration_effects& out) {
  const auto at = s.segments.find(event.base);
  if (at == s.segments.end()) {
    out.push_back(report_withdrawn{event.base});
    return;
  }
  if (std::exchange(at->second.ending, true)) return;
  forget_if_over(s, at, out);
  serve_waiting(s, out);
}

void on(registration_state& s, const range_wanted& event, registration_effects& out) {
  if (!is_range(event) || s.uses.contains(event.token)) {
    out.push_back(report_unusable{event.token, {errc::bad_argument}});
    return;
  }
  const auto range = covering(s, event.base, event.bytes);
  if (range && all_registered(*range)) {
    ++s.counters.hits_total;
    use(s, event, *range, out);
    return;
  }
  ++s.counters.misses_total;
  const bool wants = range && s.options.mode != registration_mode::none && may_come(s, *range);
  if (!wants) {
    out.push_back(use_bounce{event.token});
    return;
  }
  for (const auto at : *range)
    enqueue(s, at);
  start_queued(s, out);
  if (s.options.mode != registration_mode::lazy) {
    out.push_back(use_bounce{event.token});
  } else if (s.waiting.size() >= s.options.waiting_max) {
    TROUPE_MARK("registration: too many ranges wait");
    out.push_back(report_unusable{event.token, {errc::queue_full}});
  } else {
    s.waiting.push_back({event.token, event.base, event.bytes});
    serve_waiting(s, out);
  }
}

void on(registration_state& s, const range_done& event, registration_effects& out) {
  const auto used = s.uses.find(event.token);
  if (used == s.uses.end()) {
    ++s.counters.stale_dropped;
    return;
  }
  const auto names = std::move(used->second);
  s.uses.erase(used);
  for (const auto& name : names) {
    const auto at = find(s, name);
    --at->second.uses;
    forget_if_over(s, at, out);
  }
}

void on(registration_state& s, const segment_registered& event, registration_effects& out) {
  const auto at = find(s, event.segment);
  if (at == s.segments.end() || at->second.now != phase::registering) {
    ++s.counters.stale_dropped;
    return;
  }
  --s.under_way;
  at->second.now = phase::registered;
  at->second.key = event.key;
  ++s.counters.registered_count;
  ++s.counters.registrations_total;
  if (at->second.ending) TROUPE_MARK("registration: segment ended while it was registered");
  forget_if_over(s, at, out);
  start_queued(s, out);
  serve_waiting(s, out);
}

void on(registration_state& s, const segment_refused& event, registration_effects& out) {
  const auto at = find(s, event.segment);
  if (at == s.segments.end() || at->second.now != phase::registering) {
    ++s.counters.stale_dropped;
    return;
  }
  --s.under_way;
  s.counters.registered_bytes -= at->second.bytes;
  ++s.counters.refusals_total;
  at->second.now = phase::refused;
  forget_if_over(s, at, out);
  start_queued(s, out);
  serve_waiting(s, out);
}

void on(registration_state& s, const segment_forgotten& event, registration_effects& out) {
  const auto at = find(s, event.segment);
  if (at == s.segments.end() || at->second.now != phase::forgetting) {
    ++s.counters.stale_dropped;
    return;
  }
  s.counters.registered_bytes -= at->second.bytes;
  --s.counters.registered_count;
  ++s.counters.forgotten_total;
  out.push_back(report_withdrawn{at->first});
  s.segments.erase(at);
  start_queued(s, out);
}

}  // namespace

void step(registration_state& state, const registration_event& event, registration_effects& out) {
  std::visit([&](const auto& e) { on(state, e, out); }, event);
}

}  // namespace troupe::net
