#include <algorithm>

#include "net/link/detail/link_step.hpp"

// What a link may have in flight: the lease of its tier, and the window that it found for itself.
namespace troupe::net::detail {

namespace {

// Chosen: below a page a segment costs more than it moves, so a nearly empty budget waits for what
// is in flight; with nothing in flight it is used whatever it is, so that no link holds budget that
// it cannot use while another waits for it.
constexpr std::uint64_t smallest_cut_bytes = 4096;

// Eight segments fill an adapting window: what does not fit any more is then less than its
// headroom, so that it can grow.
constexpr std::uint64_t segments_per_window = 8;

std::uint64_t cut_now(const link_state& s) {
  if (!s.window.adapts()) return cut_of(s.options);
  const auto part = s.window.bytes() / segments_per_window;
  return std::min(cut_of(s.options), std::max(part, smallest_cut_bytes));
}

bool window_allows(const link_state& s, std::uint64_t bytes) {
  return s.window.available() >= bytes || s.window.in_flight() == 0;
}

bool has_demand(const link_state& s) {
  return !s.transfers.empty(transfer_list::sending) || !s.transfers.empty(transfer_list::queued);
}

// What the window may have use for before long: it can double in a round trip.
std::uint64_t use_of(const link_state& s) {
  return std::max(s.budget.used, 2 * s.window.bytes());
}

// A lease, or as much of one as the window has use for.
std::uint64_t wanted_lease(const link_state& s) {
  const auto use = use_of(s) > s.budget.granted ? use_of(s) - s.budget.granted : 1;
  return std::min(s.options.budget_lease_bytes, use);
}

// A window that shrank has no use for what it was granted: others have. A lease stays beyond it, so
// that the link does not ask again at the next turn.
void give_back_surplus(link_step& step) {
  auto& s = step.s;
  const auto kept = use_of(s) + s.options.budget_lease_bytes;
  if (!s.window.adapts() || s.budget.granted <= kept) return;
  const auto surplus = s.budget.granted - kept;
  s.budget.granted -= surplus;
  step.out.push_back(return_budget{surplus});
}

void ask_if_short(link_step& step) {
  auto& s = step.s;
  auto& budget = s.budget;
  if (s.transfers.empty(transfer_list::sending) || budget.requested > 0) return;
  const auto& t = s.transfers[s.transfers.first(transfer_list::sending)];
  const auto wanted = budget_charge(s.options, std::min(cut_now(s), t.bytes() - t.cursor));
  if (t.stopped || budget.available() >= wanted) return give_back_surplus(step);
  if (!window_allows(s, wanted)) return;
  budget.requested = std::max(wanted_lease(s), wanted);
  ++s.counters.budget_requests;
  step.out.push_back(request_budget{budget.requested});
}

}  // namespace

std::uint64_t next_length(link_state& s, const transfer& t) {
  const auto wanted = std::min(cut_now(s), t.bytes() - t.cursor);
  if (!window_allows(s, wanted)) {
    s.window.on_held_back();
    return 0;
  }
  const auto available = s.budget.available();
  if (available >= budget_charge(s.options, wanted)) return wanted;
  const auto worth = std::max(smallest_cut_bytes, s.options.budget_write_bytes_min);
  if (available >= worth || s.budget.used == 0) return std::min(available, wanted);
  return 0;
}

void on_budget_granted(link_step& step, const budget_granted& event) {
  auto& budget = step.s.budget;
  if (step.s.lost) {
    if (event.bytes > 0) step.out.push_back(return_budget{event.bytes});
    return;
  }
  budget.granted += event.bytes;
  budget.requested -= std::min(budget.requested, event.bytes);
}

pumped pump_budget(link_step& step) {
  auto& s = step.s;
  auto& budget = s.budget;
  if (!budget.capped) return pumped::all;
  if (!step.has_room(1)) return pumped::until_full;
  if (has_demand(s)) {
    budget.idle_deadline = never;
    ask_if_short(step);
    return pumped::all;
  }
  if (budget.available() == 0) return pumped::all;
  if (budget.idle_deadline == never) {
    budget.idle_deadline = saturating_add(step.now, s.options.budget_hold);
  }
  if (step.now < budget.idle_deadline) return pumped::all;
  const auto unused = budget.available();
  budget.granted -= unused;
  step.out.push_back(return_budget{unused});
  return pumped::all;
}

}  // namespace troupe::net::detail
