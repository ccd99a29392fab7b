#include <algorithm>
#include <string>

#include "net/bootstrap/detail/bootstrap_turn.hpp"

// The server's side of the rendezvous. Rank 0 of a small world and every leader of a tree serve
// the ranks of one group; rank 0 of a tree serves the leaders.
namespace troupe::net::detail {

namespace {

std::string self_name(const turn& t) {
  return describe(t.state.options.self, t.state.own_address);
}

void send_failure(turn& t, std::uint64_t connection, errc code, rank peer, std::string_view text) {
  send_frame(t, connection, failed_frame{.code = code, .peer = peer, .text = text});
  if (auto* c = find_connection(t, connection))
    c->deadline = saturating_add(t.now, t.state.options.step_timeout);
}

rendezvous_slot* slot_of(turn& t, rank r) {
  auto& v = t.state.rendezvous;
  const auto& plan = t.state.plan;
  const std::uint64_t index =
      v.root ? plan.group_of(r) : std::uint64_t{r.value} - std::uint64_t{v.first.value};
  return index < v.slots.size() ? &v.slots[index] : nullptr;
}

// One rank does not fit, so the job cannot form; once it has formed, that rank alone is refused.
void refuse_registrant(turn& t, std::uint64_t connection, errc code, rank peer,
                       const std::string& text) {
  send_failure(t, connection, code, peer, text);
  note_told(t, peer);
  if (t.state.rendezvous.answered) {
    TROUPE_MARK("bootstrap: late misfit refused alone");
    return;
  }
  fail_join(t, code, peer, text);
}

rank rank_of(const bootstrap_state& state, std::size_t slot) {
  const auto index = static_cast<std::uint32_t>(slot);
  return state.rendezvous.root ? state.plan.leader_of(index)
                               : rank{state.rendezvous.first.value + index};
}

void send_assignment(turn& t, rendezvous_slot& slot, rank successor, const lane_address& address) {
  slot.told = true;
  if (find_connection(t, slot.connection) == nullptr) {
    TROUPE_MARK("bootstrap: a registered rank is not there to be answered");
    return;
  }
  send_frame(t, slot.connection, assigned_frame{successor, address});
  find_connection(t, slot.connection)->deadline =
      saturating_add(t.now, t.state.options.step_timeout);
}

// Successor of the rank or group in this slot, once all are known.
assigned_frame assignment_of(const bootstrap_state& state, std::size_t slot) {
  const auto& v = state.rendezvous;
  const auto& plan = state.plan;
  const bool is_last = slot + 1 == v.slots.size();
  const auto next = is_last ? 0 : slot + 1;
  if (v.root && is_last) return {rank{0}, state.own_address};
  if (v.root) return {plan.first_of(static_cast<std::uint32_t>(next)), v.slots[next].address};
  const auto successor = plan.successor_of(rank_of(state, slot));
  return {successor, is_last && plan.is_tree() ? v.beyond : v.slots[next].address};
}

// Answers everybody who registered here, and itself if it is one of them.
void answer_all(turn& t) {
  auto& v = t.state.rendezvous;
  v.answered = true;
  v.give_up_at = never;
  for (std::size_t i = 0; i < v.slots.size(); ++i) {
    const auto assignment = assignment_of(t.state, i);
    if (rank_of(t.state, i) == t.state.options.self)
      learn_successor(t, assignment.address);
    else
      send_assignment(t, v.slots[i], assignment.successor, assignment.address);
  }
}

// A leader asks the root for its group's way on; rank 0 of a small world answers at once.
void group_completed(turn& t) {
  auto& v = t.state.rendezvous;
  if (!t.state.plan.is_tree()) return answer_all(t);
  v.complete_sent = true;
  const auto& up = t.state.registration;
  if (up.phase == registration_phase::registered)
    send_frame(t, up.connection, group_complete_frame{});
}

void root_completed_if_all(turn& t) {
  const auto& v = t.state.rendezvous;
  if (v.answered) return;
  const bool all = std::all_of(v.slots.begin(), v.slots.end(), [](const auto& slot) {
    return slot.registered && slot.group_complete;
  });
  if (all) answer_all(t);
}

void note_patience(turn& t, const register_frame& frame) {
  auto& v = t.state.rendezvous;
  // A claim far beyond our own patience changes nothing; it must not overflow either.
  const auto limit = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(t.state.options.timeout).count());
  const auto patience = std::chrono::microseconds(std::min(frame.patience_microseconds, limit));
  const auto margin = margin_of(t.state.options);
  const auto lead = t.state.plan.is_tree() && !v.root ? 2 * margin : margin;
  v.give_up_at = std::min(v.give_up_at, saturating_add(t.now, patience) - lead);
}

void take_registration(turn& t, std::uint64_t connection, const register_frame& frame) {
  auto& v = t.state.rendezvous;
  auto& slot = *slot_of(t, frame.self);
  if (slot.registered && slot.instance != frame.instance) {
    TROUPE_MARK("bootstrap: duplicate rank");
    return refuse_registrant(t, connection, errc::membership_conflict, frame.self,
                             "phase registration: rank " + std::to_string(frame.self.value) +
                                 " is there twice: at " + to_string(slot.address) + " and at " +
                                 to_string(frame.address));
  }
  const bool is_new = !slot.registered;
  if (slot.connection != connection) drop_connection(t, slot.connection);
  slot.registered = true;
  slot.was_lost = false;
  slot.connection = connection;
  slot.instance = frame.instance;
  slot.address = frame.address;
  auto* c = find_connection(t, connection);
  TROUPE_ASSERT(c != nullptr);
  c->deadline = never;
  if (is_new) ++v.registered_count;
  if (v.answered) {
    TROUPE_MARK("bootstrap: a rank that missed its answer asks again");
    const auto assignment =
        assignment_of(t.state, static_cast<std::size_t>(&slot - v.slots.data()));
    return send_assignment(t, slot, assignment.successor, assignment.address);
  }
  note_patience(t, frame);
  if (v.root) {
    if (&slot == v.slots.data()) learn_leader(t, slot.address);
    return;
  }
  if (is_new && v.registered_count == v.slots.size()) group_completed(t);
}

void redirect_member(turn& t, std::uint64_t connection, const register_frame& frame) {
  const auto& slot = *slot_of(t, frame.self);
  note_patience(t, frame);
  if (slot.registered)
    send_frame(
        t, connection,
        redirect_frame{t.state.plan.leader_of(t.state.plan.group_of(frame.self)), slot.address});
  else
    send_frame(t, connection, retry_frame{});
}

void on_register(turn& t, std::uint64_t connection, const register_frame& frame) {
  const auto& state = t.state;
  const auto* c = find_connection(t, connection);
  if (c == nullptr) return;
  if (state.phase == bootstrap_phase::failing) {
    TROUPE_MARK("bootstrap: a rank registers after the job failed");
    note_told(t, frame.self);
    send_frame(t, connection, failure_frame(state));
    return;
  }
  if (frame.self != c->peer) {
    TROUPE_MARK("bootstrap: registers as another rank than it proved");
    return drop_connection(t, connection);
  }
  if (frame.world_size != state.options.world_size) {
    TROUPE_MARK("bootstrap: world sizes differ");
    return refuse_registrant(t, connection, errc::membership_conflict, frame.self,
                             "phase registration: " + describe(frame.self, frame.address) +
                                 " was started with a world size of " +
                                 std::to_string(frame.world_size) + ", " + self_name(t) + " with " +
                                 std::to_string(state.options.world_size));
  }
  if (frame.self.value >= state.options.world_size) {
    TROUPE_MARK("bootstrap: rank out of range");
    return refuse_registrant(t, connection, errc::membership_conflict, frame.self,
                             "phase registration: " + describe(frame.self, frame.address) +
                                 " is out of range: the world has " +
                                 std::to_string(state.options.world_size) + " ranks");
  }
  const bool leads = frame.role == rendezvous_role::leader;
  const bool ours = slot_of(t, frame.self) != nullptr && frame.self != state.options.self &&
                    leads == state.plan.is_leader(frame.self);
  if (state.rendezvous.root && !leads) return redirect_member(t, connection, frame);
  if (!ours || leads != state.rendezvous.root) {
    TROUPE_MARK("bootstrap: registers with a server that is not its own");
    send_frame(t, connection, retry_frame{});
    return;
  }
  if (frame.digest != state.digest) {
    send_frame(t, connection, options_wanted_frame{0});
    return;
  }
  take_registration(t, connection, frame);
}

const must_agree_option* option_named(const bootstrap_state& state, std::string_view name) {
  for (const auto& option : state.options.must_agree)
    if (std::string_view(option.name).substr(0, option_name_bytes_max) == name) return &option;
  return nullptr;
}

// Names the first option of the page that differs; empty if none does.
std::string difference_in(turn& t, const options_page_frame& page, rank peer) {
  const auto theirs = "rank " + std::to_string(peer.value);
  options_reader reader(page);
  std::string_view name;
  std::string_view value;
  while (reader.next(name, value)) {
    const auto* own = option_named(t.state, name);
    if (own == nullptr)
      return "option " + std::string(name) + " is known to " + theirs + " (" + std::string(value) +
             ") and not to " + self_name(t);
    const auto own_value = std::string_view(own->value).substr(0, option_value_bytes_max);
    if (own_value != value)
      return "option " + std::string(name) + " must agree and is " + std::string(value) + " at " +
             theirs + ", " + std::string(own_value) + " at " + self_name(t);
  }
  return {};
}

void on_options_page(turn& t, std::uint64_t connection, const options_page_frame& page) {
  const auto* c = find_connection(t, connection);
  if (c == nullptr || t.state.phase == bootstrap_phase::failing) return;
  const auto peer = c->peer;
  auto difference = difference_in(t, page, peer);
  const std::uint32_t next = std::uint32_t{page.first} + page.count;
  if (difference.empty() && page.count != 0 && next < page.total) {
    TROUPE_MARK("bootstrap: options on a second page");
    send_frame(t, connection, options_wanted_frame{static_cast<std::uint16_t>(next)});
    return;
  }
  TROUPE_MARK("bootstrap: must-agree options differ");
  if (difference.empty())
    difference = "rank " + std::to_string(peer.value) + " has " + std::to_string(page.total) +
                 " must-agree options, " + self_name(t) + " has " +
                 std::to_string(t.state.options.must_agree.size()) + " or others in their order";
  refuse_registrant(t, connection, errc::bad_configuration, peer,
                    "phase registration: " + difference);
}

std::string missing_text(turn& t) {
  const auto& v = t.state.rendezvous;
  std::vector<bool> missing(v.slots.size(), false);
  std::string groups;
  bool any = false;
  for (std::size_t i = 0; i < v.slots.size(); ++i) {
    const auto& slot = v.slots[i];
    if (!v.root) {
      missing[i] = !slot.registered;
      any = any || !slot.registered;
      continue;
    }
    if (slot.registered && (slot.group_complete || slot.missing.empty())) continue;
    if (!groups.empty()) groups += ", ";
    const auto group = static_cast<std::uint32_t>(i);
    if (slot.registered)
      groups += slot.missing;
    else
      groups += "rank " + std::to_string(rank_of(t.state, i).value) + " (and with it the " +
                std::to_string(t.state.plan.size_of(group)) + " ranks of its group)";
    if (groups.size() > failure_text_bytes_max / 2) {
      groups += ", ...";
      break;
    }
  }
  if (!any) return groups;
  auto text = describe_ranks(v.first.value, missing);
  const auto lost = std::find_if(v.slots.begin(), v.slots.end(), [](const auto& slot) {
    return !slot.registered && slot.was_lost;
  });
  if (lost != v.slots.end()) {
    TROUPE_MARK("bootstrap: missing rank had registered before");
    const auto index = static_cast<std::size_t>(lost - v.slots.begin());
    text += " (" + describe(rank_of(t.state, index), lost->address) + " had and was lost)";
  }
  return text;
}

void give_up(turn& t) {
  auto& v = t.state.rendezvous;
  auto missing = missing_text(t);
  if (t.state.plan.is_tree() && !v.root) {
    v.give_up_at = never;
    v.missing_sent = true;
    const auto& up = t.state.registration;
    if (missing.empty() || up.phase != registration_phase::registered) return;
    TROUPE_MARK("bootstrap: leader names missing ranks");
    send_frame(t, up.connection, group_missing_frame{missing});
    return;
  }
  if (missing.empty()) missing = "ranks of a group that did not become complete";
  std::string text = "phase registration: " + missing + " of " +
                     std::to_string(t.state.options.world_size) + " did not register within " +
                     describe(t.state.options.timeout);
  if (v.unproved_count != 0)
    text += "; " + std::to_string(v.unproved_count) +
            " connections failed to prove the job's secret, the last as rank " +
            std::to_string(v.last_unproved.value);
  fail_join(t, errc::timed_out, no_rank, std::move(text));
}

}  // namespace

void begin_serving(turn& t) {
  auto& v = t.state.rendezvous;
  const auto& plan = t.state.plan;
  const auto self = t.state.options.self;
  const bool leads = plan.is_leader(self);
  if (self.value != 0 && !leads) return;
  v.serving = true;
  v.root = plan.is_tree() && self.value == 0;
  const auto group = plan.group_of(self);
  v.first = plan.is_tree() ? plan.first_of(group) : rank{0};
  const auto count = v.root           ? plan.group_count()
                     : plan.is_tree() ? plan.size_of(group)
                                      : plan.world_size;
  v.slots.assign(count, {});
  const auto margin = margin_of(t.state.options);
  v.give_up_at = t.state.deadline - (leads ? 2 * margin : margin);
  if (v.root) return;
  auto& own = v.slots[self.value - v.first.value];
  own.registered = true;
  own.instance = t.state.instance;
  own.address = t.state.own_address;
  own.told = true;
  v.registered_count = 1;
  if (v.slots.size() == 1) group_completed(t);
}

void admit_registrant(turn& t, std::uint64_t connection) {
  if (!t.state.rendezvous.serving) {
    TROUPE_MARK("bootstrap: no rendezvous here");
    return turn_away(t, connection, handshake_status::wrong_purpose, 0);
  }
  welcome(t, connection, connection_role::registrant);
  find_connection(t, connection)->deadline = saturating_add(t.now, t.state.options.step_timeout);
}

void on_registrant_frame(turn& t, std::uint64_t connection, const bootstrap_frame& frame) {
  if (const auto* f = std::get_if<register_frame>(&frame)) return on_register(t, connection, *f);
  if (const auto* f = std::get_if<options_page_frame>(&frame))
    return on_options_page(t, connection, *f);
  const auto* c = find_connection(t, connection);
  if (c == nullptr) return;
  const auto peer = c->peer;
  auto* slot = peer.value < t.state.options.world_size ? slot_of(t, peer) : nullptr;
  const bool from_leader =
      t.state.rendezvous.root && slot != nullptr && slot->connection == connection;
  if (const auto* f = std::get_if<failed_frame>(&frame); f != nullptr && t.state.rendezvous.root) {
    TROUPE_MARK("bootstrap: leader reports that its group failed");
    if (slot != nullptr) slot->told = true;
    send_failure(t, connection, f->code, f->peer, f->text);
    return fail_join(t, f->code, f->peer, std::string(f->text));
  }
  if (from_leader && std::holds_alternative<group_complete_frame>(frame)) {
    slot->group_complete = true;
    return root_completed_if_all(t);
  }
  if (const auto* f = std::get_if<group_missing_frame>(&frame); f != nullptr && from_leader) {
    slot->missing = std::string(f->text.substr(0, 200));
    // Other leaders say so at about the same time: hear them, too.
    auto& v = t.state.rendezvous;
    v.give_up_at = std::min(v.give_up_at, t.now + margin_of(t.state.options) / 2);
    return;
  }
  // A leader that is not registered, because its options are still being compared.
  if (std::holds_alternative<group_complete_frame>(frame)) return;
  TROUPE_MARK("bootstrap: registrant broke the protocol");
  drop_connection(t, connection);
  on_registrant_ended(t, connection);
}

void on_registrant_ended(turn& t, std::uint64_t connection) {
  auto& v = t.state.rendezvous;
  for (auto& slot : v.slots) {
    if (connection == 0 || slot.connection != connection) continue;
    slot.connection = 0;
    if (v.answered || v.complete_sent || t.state.phase != bootstrap_phase::registering) break;
    TROUPE_MARK("bootstrap: registered rank lost before the world was complete");
    slot.registered = false;
    slot.was_lost = true;
    slot.group_complete = false;
    --v.registered_count;
    break;
  }
  settle_failure(t);
}

void note_told(turn& t, rank r) {
  if (!t.state.rendezvous.serving || r.value >= t.state.options.world_size) return;
  auto* slot = slot_of(t, r);
  if (slot != nullptr && !slot->registered) slot->told = true;
}

void note_unproved(turn& t, rank claimed) {
  t.state.rendezvous.unproved_count += 1;
  t.state.rendezvous.last_unproved = claimed;
}

void answer_group(turn& t, const lane_address& successor_of_last) {
  t.state.rendezvous.beyond = successor_of_last;
  answer_all(t);
}

void run_rendezvous_deadlines(turn& t) {
  auto& v = t.state.rendezvous;
  if (t.state.phase != bootstrap_phase::registering || v.answered || v.give_up_at > t.now) return;
  give_up(t);
}

void tell_registrants(turn& t) {
  auto& v = t.state.rendezvous;
  if (!v.serving || v.answered) return;
  const auto frame = failure_frame(t.state);
  for (auto& slot : v.slots) {
    if (slot.told || find_connection(t, slot.connection) == nullptr) continue;
    slot.told = true;
    send_frame(t, slot.connection, frame);
  }
}

bool all_registrants_told(const bootstrap_state& state) {
  const auto& v = state.rendezvous;
  if (!v.serving || v.answered) return true;
  // Members on their way to a leader ask here first, and here nobody knows how many there are.
  if (v.root) return false;
  const bool told = std::all_of(v.slots.begin(), v.slots.end(),
                                [](const rendezvous_slot& slot) { return slot.told; });
  // Who was told closes its end: then the word has arrived.
  return told && std::none_of(state.connections.begin(), state.connections.end(), [](auto& entry) {
           return entry.second.role == connection_role::registrant;
         });
}

}  // namespace troupe::net::detail
