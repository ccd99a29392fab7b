#include "actors/watchdog/watchdog_actor.hpp"

#include <algorithm>

#include "actors/endpoint/spawn_actor.hpp"
#include "actors/rank/rank_machine.hpp"

namespace troupe::actors {

namespace {

// Peers named in a time-out's text; the rest is a number.
constexpr std::size_t named_peer_count = 4;

}  // namespace

void watchdog_actor_state::init(watchdog_actor::pointer self, endpoint_context& context) {
  self_ = self;
  context_ = &context;
  state_.interval = context.options.watchdog.interval;
  state_.mismatch_after = context.options.watchdog.mismatch_after;
  context.watchdog_timer = context.timers.create(*this);
  context.watchdog_armed = false;
  // After a restart there may be something to watch already.
  if (context.operations.live_count() != 0 || context.unmatched_links != 0) context.wake_watchdog();
}

watchdog_actor_state::~watchdog_actor_state() {
  if (context_ == nullptr) return;
  context_->timers.destroy(context_->watchdog_timer);
  context_->watchdog_armed = true;  // nobody to wake until the next watchdog is there
}

watchdog_actor::behavior_type watchdog_actor_state::make_behavior() {
  return {[this](const watchdog_look&) {
    context_->on_message(actor_kind::watchdog, self_->mailbox().size());
    drive();
  }};
}

void watchdog_actor_state::on_timer(std::uint64_t) {
  context_->watchdog_armed = false;
  context_->send(watchdog_actor{self_}, watchdog_look{});
}

void watchdog_actor_state::drive() {
  seen_.clear();
  auto& entries = context_->operations.entries();
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    if (!entries[i].live || !entries[i].runner) continue;
    seen_.push_back({i, entries[i].deadline, entries[i].stopping});
    note(static_cast<std::uint16_t>(i), entries[i]);
  }
  look(state_, seen_, context_->unmatched_links != 0, context_->now(), verdict_);
  apply(verdict_);
}

/// An operation that lasts says in its record whom it waits for; a short one never gets here.
void watchdog_actor_state::note(std::uint16_t slot, operation_entry& entry) {
  if (entry.ended || context_->now() - entry.trace.record.queued < state_.interval) return;
  look_at_waits(entry, context_->now());
  context_->recorder.trace.publish(slot, entry.trace.record);
}

void watchdog_actor_state::apply(const watchdog_verdict& verdict) {
  for (const auto slot : verdict.expired)
    expire(slot);
  if (verdict.ask_unmatched_older_than != never)
    for (const auto& [peer, link] : context_->links)
      context_->send(link, unmatched_request{verdict.ask_unmatched_older_than});
  if (verdict.next_look == never || context_->watchdog_armed) return;
  context_->watchdog_armed = true;
  context_->timers.arm(context_->watchdog_timer, verdict.next_look, 0);
}

void watchdog_actor_state::expire(std::uint32_t slot) {
  const auto& entry = context_->operations.entries()[slot];
  context_->send_urgent(entry.runner,
                        collective_stop{{static_cast<std::uint16_t>(slot), entry.generation},
                                        std::make_shared<const failure>(verdict_on(entry))});
}

failure watchdog_actor_state::verdict_on(const operation_entry& entry) const {
  const auto& request = entry.work->request();
  const auto number = std::to_string(shown(entry.number));
  const auto what = to_string(request.signature) + " (operation " + number + ")";
  if (entry.gave_up != no_rank)
    return {
        error{errc::aborted, 0, entry.members->from_world(entry.gave_up).value_or(no_rank)},
        what + ": " + context_->describe(entry.gave_up) + " ended it early and did not say why"};
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(request.timeout);
  const auto culprit = entry.open.empty()
                           ? no_rank
                           : entry.members->from_world(entry.open.front().peer).value_or(no_rank);
  return {error{errc::timed_out, 0, culprit}, what + " timed out after " +
                                                  std::to_string(milliseconds.count()) + " ms, " +
                                                  waiting_for(entry)};
}

std::string watchdog_actor_state::waiting_for(const operation_entry& entry) const {
  std::vector<rank> peers;
  for (const auto& transfer : entry.open)
    if (std::find(peers.begin(), peers.end(), transfer.peer) == peers.end())
      peers.push_back(transfer.peer);
  if (peers.empty()) return "waiting for nobody: its own byte work did not end";
  std::string text = "waiting for ";
  for (std::size_t i = 0; i < std::min(peers.size(), named_peer_count); ++i) {
    if (i != 0) text += ", ";
    text += context_->describe(peers[i]);
  }
  if (peers.size() > named_peer_count)
    text += " and " + std::to_string(peers.size() - named_peer_count) + " more";
  return text;
}

watchdog_actor spawn_watchdog(endpoint_context& context) {
  return spawn_actor<watchdog_actor, watchdog_actor_state>(context);
}

}  // namespace troupe::actors
