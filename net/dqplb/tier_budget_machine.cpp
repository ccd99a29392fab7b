#include "net/dqplb/tier_budget_machine.hpp"

#include <algorithm>

namespace troupe::net {

namespace {

tier_state::holder* find_holder(tier_state& state, std::uint64_t link) {
  const auto at = std::lower_bound(
      state.holders.begin(), state.holders.end(), link,
      [](const tier_state::holder& h, std::uint64_t wanted) { return h.link < wanted; });
  return at != state.holders.end() && at->link == link ? &*at : nullptr;
}

void hold(tier_state& state, std::uint64_t link, std::uint64_t bytes) {
  state.held_bytes += bytes;
  if (auto* known = find_holder(state, link)) {
    known->held_bytes += bytes;
    return;
  }
  const auto at = std::lower_bound(
      state.holders.begin(), state.holders.end(), link,
      [](const tier_state::holder& h, std::uint64_t wanted) { return h.link < wanted; });
  state.holders.insert(at, {link, bytes});
}

void give_back(tier_state& state, std::uint64_t link, std::uint64_t bytes) {
  auto* known = find_holder(state, link);
  if (known == nullptr) return;
  const auto returned = std::min(bytes, known->held_bytes);
  known->held_bytes -= returned;
  state.held_bytes -= returned;
  if (known->held_bytes == 0)
    state.holders.erase(state.holders.begin() + (known - &state.holders[0]));
}

bool may_grant(tier_state& state, const lease_wanted& wanted, std::uint64_t slice) {
  return state.held_bytes + slice <= state.cap_bytes || find_holder(state, wanted.link) == nullptr;
}

void serve_waiting(tier_state& state, tier_effects& out) {
  while (!state.waiting.empty()) {
    const auto wanted = state.waiting.front();
    const auto slice = std::min(wanted.bytes, state.lease_bytes);
    if (!may_grant(state, wanted, slice)) return;
    state.waiting.pop_front();
    hold(state, wanted.link, slice);
    state.granted_total += slice;
    out.push_back({wanted.link, slice});
  }
}

void on(tier_state& state, const lease_wanted& event, tier_effects& out) {
  const auto known = std::find_if(state.waiting.begin(), state.waiting.end(),
                                  [&](const auto& w) { return w.link == event.link; });
  if (known != state.waiting.end()) {
    known->bytes = std::max(known->bytes, event.bytes);
    return;
  }
  state.waiting.push_back(event);
  serve_waiting(state, out);
  if (!state.waiting.empty() && state.waiting.back().link == event.link) ++state.throttled_total;
}

void on(tier_state& state, const lease_returned& event, tier_effects& out) {
  give_back(state, event.link, event.bytes);
  serve_waiting(state, out);
}

void on(tier_state& state, const link_gone& event, tier_effects& out) {
  std::erase_if(state.waiting, [&](const auto& w) { return w.link == event.link; });
  give_back(state, event.link, ~0ull);
  serve_waiting(state, out);
}

}  // namespace

void step(tier_state& state, const tier_event& event, tier_effects& out) {
  std::visit([&](const auto& e) { on(state, e, out); }, event);
}

}  // namespace troupe::net
