#include <algorithm>
#include <cstdio>
#include <string>

#include "net/bootstrap/detail/bootstrap_turn.hpp"

// What happens when the job cannot form: everybody who waits for us is told first.
namespace troupe::net::detail {

namespace {

// Chosen: ranks of one launch that start this much later than the first still hear the reason
// instead of a refused connection.
constexpr duration rendezvous_linger = std::chrono::seconds(3);
// Chosen: ring neighbours have their addresses and are on their way.
constexpr duration ring_linger = std::chrono::seconds(1);

bool leader_told(const bootstrap_state& state) {
  const bool leads = state.rendezvous.serving && state.plan.is_tree() && !state.rendezvous.root;
  return !leads || state.rendezvous.answered || state.registration.heard;
}

bool somebody_waits(const bootstrap_state& state) {
  if (!all_registrants_told(state) || !leader_told(state)) return true;
  return state.ring.successor.peer != no_rank &&
         state.registration.phase == registration_phase::assigned && !ring_told(state);
}

void tell_leader_of_leaders(turn& t) {
  auto& up = t.state.registration;
  const auto* c = find_connection(t, up.connection);
  if (!t.state.rendezvous.serving || up.told || c == nullptr) return;
  if (c->stage != connection_stage::open) return;
  up.told = true;
  send_frame(t, up.connection, failure_frame(t.state));
}

}  // namespace

void fail_join(turn& t, errc code, rank peer, std::string text) {
  auto& state = t.state;
  if (state.phase != bootstrap_phase::registering && state.phase != bootstrap_phase::gathering)
    return;
  text.resize(std::min(text.size(), failure_text_bytes_max));
  state.reason = failure(error{code, 0, peer}, std::move(text));
  const bool gathering = state.phase == bootstrap_phase::gathering;
  state.phase = bootstrap_phase::failing;
  const auto linger =
      gathering ? ring_linger : std::min(rendezvous_linger, state.options.step_timeout);
  state.linger_until = std::min(saturating_add(t.now, linger), std::max(state.deadline, t.now));
  tell_registrants(t);
  tell_ring(t);
  if (state.registration.heard)
    drop_connection(t, state.registration.connection);
  else
    tell_leader_of_leaders(t);
  settle_failure(t);
}

void settle_failure(turn& t) {
  auto& state = t.state;
  if (state.phase != bootstrap_phase::failing) return;
  tell_ring(t);
  if (state.linger_until > t.now && somebody_waits(state)) return;
  if (somebody_waits(state)) TROUPE_MARK("bootstrap: failed with somebody untold");
  state.phase = bootstrap_phase::failed;
  drop_all_connections(t);
  emit(t, report_join_failed{state.reason.what, state.reason.message});
}

failed_frame failure_frame(const bootstrap_state& state) {
  return {.code = state.reason.what.code,
          .native = state.reason.what.native,
          .peer = state.reason.what.peer,
          .text = state.reason.message};
}

duration margin_of(const bootstrap_options& options) {
  // Enough for a word to travel to everybody, and little of the whole.
  return std::clamp<duration>(options.timeout / 20, std::chrono::milliseconds(1),
                              std::chrono::milliseconds(500));
}

std::string describe(rank r, const lane_address& address) {
  return "rank " + std::to_string(r.value) + " (" + to_string(address) + ")";
}

std::string describe(duration d) {
  char text[32];
  std::snprintf(text, sizeof text, "%g s", std::chrono::duration<double>(d).count());
  return text;
}

std::string describe(const error& cause) {
  if (cause.code == errc::ok) return {};
  std::string text = " (" + std::string(to_string(cause.code));
  if (cause.native != 0) text += ", native code " + std::to_string(cause.native);
  return text + ")";
}

std::string describe_ranks(std::uint32_t first, const std::vector<bool>& missing) {
  constexpr std::size_t ranges_max = 16;
  std::string text;
  std::size_t range_count = 0;
  std::size_t rank_count = 0;
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < missing.size(); ++i) {
    if (!missing[i]) continue;
    auto end = i;
    while (end + 1 < missing.size() && missing[end + 1])
      ++end;
    rank_count += end - i + 1;
    if (++range_count > ranges_max) {
      left_out += end - i + 1;
    } else {
      text += (text.empty() ? "" : ", ") + std::to_string(first + i);
      if (end != i) text += "-" + std::to_string(first + end);
    }
    i = end;
  }
  if (left_out != 0) text += " and " + std::to_string(left_out) + " more";
  return (rank_count == 1 ? "rank " : "ranks ") + text;
}

}  // namespace troupe::net::detail
