#include <algorithm>
#include <string>

#include "net/bootstrap/detail/bootstrap_turn.hpp"

// The ring: dial the successor, take the predecessor's dial, pass the address book around.
//
// The book travels in pages of `page_entry_count` ranks. The first rank of a page begins it, each
// of its ranks adds itself, and the full page goes once around. All pages travel at the same time,
// each rank sends every page once and its own at most twice, and nobody hears from anybody but
// its two neighbours.
namespace troupe::net::detail {

namespace {

std::uint32_t block_of(rank r) {
  return r.value / static_cast<std::uint32_t>(page_entry_count);
}

std::uint32_t first_of(std::uint32_t block) {
  return block * static_cast<std::uint32_t>(page_entry_count);
}

std::uint32_t size_of(const bootstrap_state& state, std::uint32_t block) {
  const auto rest = state.options.world_size - first_of(block);
  return std::min(rest, static_cast<std::uint32_t>(page_entry_count));
}

bool is_last_of_block(const bootstrap_state& state, rank r) {
  const auto block = block_of(r);
  return r.value == first_of(block) + size_of(state, block) - 1;
}

void send_page(turn& t, std::uint32_t block) {
  const auto& state = t.state;
  // A page that is not full holds the ranks up to this one.
  const auto count = state.ring.full_blocks[block] ? size_of(state, block)
                                                   : state.options.self.value - first_of(block) + 1;
  std::array<std::byte, page_entry_count * book_entry_wire_bytes> entries{};
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto at = std::span(entries).subspan(i * book_entry_wire_bytes);
    write_entry(state.book.at({first_of(block) + i}), at.first<book_entry_wire_bytes>());
  }
  t.state.counters.pages_sent += 1;
  send_frame(t, state.ring.successor.connection,
             book_page_frame{.block = block,
                             .count = static_cast<std::uint16_t>(count),
                             .entries = std::span(entries).first(count * book_entry_wire_bytes)});
}

bool send_deaths(turn& t, ring_side& side) {
  const auto& ring = t.state.ring;
  const auto from = &side == &ring.successor ? death_source::successor : death_source::predecessor;
  std::array<std::byte, deaths_per_frame * 4> ranks{};
  std::uint16_t count = 0;
  while (side.next_death < ring.deaths.size() && count < deaths_per_frame) {
    const auto& death = ring.deaths[side.next_death++];
    if (death.source == from) continue;
    write_rank(death.dead, std::span(ranks).subspan(count * 4u).first<4>());
    ++count;
  }
  if (count == 0) return false;
  send_frame(t, side.connection,
             deaths_frame{.count = count, .ranks = std::span(ranks).first(count * 4u)});
  return true;
}

// A new neighbour has not necessarily heard what the one before it told us.
void send_all_deaths_again(turn& t, death_source side) {
  for (auto& death : t.state.ring.deaths)
    if (death.source == side) death.source = death_source::here;
}

void dial_successor(turn& t) {
  auto& ring = t.state.ring;
  ring.retry_at = never;
  const auto limit = t.state.phase == bootstrap_phase::gathering
                         ? t.state.deadline
                         : saturating_add(t.now, t.state.options.connect_timeout);
  ring.successor.connection = dial_peer(t, {.role = connection_role::successor,
                                            .peer = ring.successor.peer,
                                            .to = ring.successor_address,
                                            .deadline = limit,
                                            .hello = {.purpose = connection_purpose::ring}});
}

void pass_on(turn& t, std::uint32_t block) {
  auto& ring = t.state.ring;
  ring.full_blocks[block] = true;
  ring.full_block_count += 1;
  // The last rank of a page made it full: it needs no copy.
  const bool successor_made_it =
      block_of(ring.successor.peer) == block && is_last_of_block(t.state, ring.successor.peer);
  if (!successor_made_it) ring.pages.push_back(block);
}

// Adds this rank to its own page and sends the page on.
void add_own_entry(turn& t) {
  auto& ring = t.state.ring;
  const auto self = t.state.options.self;
  ring.own_page_begun = true;
  if (is_last_of_block(t.state, self)) return pass_on(t, block_of(self));
  ring.pages.push_back(block_of(self));
}

void violation(turn& t, ring_side& side) {
  TROUPE_MARK("bootstrap: ring neighbour broke the protocol");
  const auto id = side.connection;
  const connection_end end{.connection = id,
                           .peer = side.peer,
                           .was_open = true,
                           .cause = {errc::malformed, 0, side.peer},
                           .step = "sent a message that it must not send"};
  drop_connection(t, id);
  if (&side == &t.state.ring.successor) return on_successor_ended(t, end);
  on_predecessor_ended(t, end);
}

bool take_page(turn& t, const book_page_frame& page) {
  auto& state = t.state;
  auto& ring = state.ring;
  if (page.block >= ring.full_blocks.size() || ring.full_blocks[page.block]) return false;
  const auto self = state.options.self;
  const bool full = page.count == size_of(state, page.block);
  const bool mine_to_extend = page.block == block_of(self) && !ring.own_page_begun &&
                              page.count == self.value - first_of(page.block);
  const bool wants_me = page.block == block_of(self) && !ring.own_page_begun;
  if (!mine_to_extend && (!full || wants_me)) return false;
  for (std::uint32_t i = 0; i < page.count; ++i) {
    const rank r{first_of(page.block) + i};
    if (r != self) state.book.set(r, entry_at(page, i));
  }
  if (mine_to_extend)
    add_own_entry(t);
  else
    pass_on(t, page.block);
  return true;
}

void count_received(turn& t, ring_side& side) {
  ++side.received_count;
  if (side.received_count - side.ack_sent_count < ring_window / 2) return;
  side.ack_sent_count = side.received_count;
  send_frame(t, side.connection, ring_ack_frame{side.received_count});
}

void on_ring_deaths(turn& t, ring_side& side, const deaths_frame& frame) {
  const auto source =
      &side == &t.state.ring.successor ? death_source::successor : death_source::predecessor;
  count_received(t, side);
  for (std::uint16_t i = 0; i < frame.count; ++i)
    learn_death(t, rank_at(frame, i), source);
}

void on_ring_failed(turn& t, ring_side& side, const failed_frame& frame) {
  side.heard = true;
  if (t.state.phase == bootstrap_phase::joined) {
    // It could not join though we could, and is about to end.
    TROUPE_MARK("bootstrap: neighbour failed to join after we did");
    return learn_death(t, side.peer, death_source::here);
  }
  fail_join(t, frame.code, frame.peer, std::string(frame.text));
  settle_failure(t);
}

void on_ring_open(turn& t, ring_side& side) {
  side.open = true;
  TROUPE_ASSERT(find_connection(t, side.connection) != nullptr);
  find_connection(t, side.connection)->deadline = never;
  pump(t, side);
  join_if_complete(t);
}

std::string neighbour_text(const bootstrap_state& state, const ring_side& side) {
  return describe(side.peer, &side == &state.ring.successor ? state.ring.successor_address
                                                            : state.book.at(side.peer).address);
}

// Why a join ends with the end of this dial.
errc code_of(const connection_end& end) {
  if (is_own_failure(end.cause)) return end.cause.code;
  switch (end.status) {
    case handshake_status::welcome: return errc::peer_lost;
    case handshake_status::wrong_version: return errc::version_mismatch;
    case handshake_status::bad_proof: return errc::authentication_failed;
    default: return errc::membership_conflict;
  }
}

void lose_neighbour(turn& t, ring_side& side, const connection_end& end) {
  const bool departed = side.departed;
  const bool was_open = side.open;
  side.connection = 0;
  side.open = false;
  if (t.state.phase == bootstrap_phase::failing) {
    side.heard = true;
    return settle_failure(t);
  }
  if (departed || !was_open) return;
  if (t.state.phase == bootstrap_phase::joined)
    return learn_death(t, side.peer, death_source::here);
  fail_join(t, errc::peer_lost, side.peer,
            "phase ring: " + neighbour_text(t.state, side) + " " + end.step + describe(end.cause));
}

}  // namespace

void begin_gathering(turn& t, const lane_address& successor) {
  auto& state = t.state;
  if (state.phase != bootstrap_phase::registering) return;
  state.phase = bootstrap_phase::gathering;
  state.ring.successor_address = successor;
  if (state.options.self.value == first_of(block_of(state.options.self))) add_own_entry(t);
  dial_successor(t);
}

void admit_predecessor(turn& t, std::uint64_t connection) {
  auto& side = t.state.ring.predecessor;
  auto* c = find_connection(t, connection);
  TROUPE_ASSERT(c != nullptr);
  if (c->peer.value >= t.state.options.world_size || is_dead(t.state, c->peer)) {
    TROUPE_MARK("bootstrap: ring dial of no member");
    return turn_away(t, connection, handshake_status::not_a_member, 0);
  }
  const bool regular = c->peer == t.state.plan.predecessor_of(t.state.options.self) &&
                       t.state.options.world_size > 1 && !side.open && !side.departed;
  if (!regular && !may_become_predecessor(t, c->peer)) {
    TROUPE_MARK("bootstrap: ring dial of no neighbour");
    return turn_away(t, connection, handshake_status::wrong_purpose, 0);
  }
  if (side.connection != 0) TROUPE_MARK("bootstrap: predecessor dials again");
  drop_connection(t, side.connection);
  send_all_deaths_again(t, death_source::predecessor);
  side = ring_side{.connection = connection, .peer = c->peer};
  welcome(t, connection, connection_role::predecessor);
  find_connection(t, connection)->deadline = saturating_add(t.now, t.state.options.step_timeout);
  if (t.state.phase == bootstrap_phase::failing) {
    TROUPE_MARK("bootstrap: predecessor comes after the job failed");
    tell_ring(t);
  }
}

void on_successor_welcomed(turn& t) {
  auto& ring = t.state.ring;
  auto& side = ring.successor;
  const auto connection = side.connection;
  side = ring_side{.connection = connection, .peer = side.peer, .open = true};
  ring.refused_count = 0;
  ring.pause = duration::zero();
  send_all_deaths_again(t, death_source::successor);
  send_frame(t, connection, ring_open_frame{});
  if (t.state.phase == bootstrap_phase::failing) return tell_ring(t);
  finish_repair(t);
  pump(t, side);
  join_if_complete(t);
}

void on_successor_ended(turn& t, const connection_end& end) {
  auto& ring = t.state.ring;
  auto& side = ring.successor;
  if (end.connection != side.connection) return;
  if (end.was_open) return lose_neighbour(t, side, end);
  side.connection = 0;
  if (t.state.phase == bootstrap_phase::failing) {
    side.heard = true;
    return settle_failure(t);
  }
  ring.last_cause = end.cause;
  ring.last_step = end.status == handshake_status::welcome ? end.step : to_string(end.status);
  const bool own = is_own_failure(end.cause);
  const bool unfit = end.status != handshake_status::welcome;
  ring.refused_count = end.never_opened && !own ? ring.refused_count + 1 : 0;
  const bool hopeless = unfit || ring.refused_count >= refusals_max;
  if (t.state.phase == bootstrap_phase::joined) {
    if (hopeless || end.cause.code == errc::timed_out) return on_repair_refused(t);
  } else if (hopeless || own) {
    TROUPE_MARK("bootstrap: successor cannot be had");
    return fail_join(t, code_of(end), side.peer,
                     "phase ring: " + neighbour_text(t.state, side) + ": " + ring.last_step +
                         describe(ring.last_cause));
  }
  ring.pause = std::min(longest_pause, std::max(first_pause, 2 * ring.pause));
  ring.retry_at = t.now + ring.pause;
}

void on_predecessor_ended(turn& t, const connection_end& end) {
  auto& side = t.state.ring.predecessor;
  if (end.connection != side.connection) return;
  if (!side.open) TROUPE_MARK("bootstrap: predecessor left before the ring was open");
  lose_neighbour(t, side, end);
}

void on_ring_frame(turn& t, ring_side& side, const bootstrap_frame& frame) {
  const bool ahead = &side == &t.state.ring.successor;
  if (std::holds_alternative<ring_open_frame>(frame) && !ahead && !side.open)
    return on_ring_open(t, side);
  if (const auto* f = std::get_if<failed_frame>(&frame)) return on_ring_failed(t, side, *f);
  if (!side.open) return violation(t, side);
  if (t.state.phase == bootstrap_phase::failing) return;
  if (const auto* f = std::get_if<ring_ack_frame>(&frame)) {
    if (f->received_count - side.acked_count > side.sent_count - side.acked_count)
      return violation(t, side);
    side.acked_count = f->received_count;
    return pump(t, side);
  }
  if (const auto* f = std::get_if<deaths_frame>(&frame)) return on_ring_deaths(t, side, *f);
  if (std::holds_alternative<leaving_frame>(frame)) {
    side.departed = true;
    return;
  }
  const auto* page = std::get_if<book_page_frame>(&frame);
  if (page == nullptr || ahead || !take_page(t, *page)) return violation(t, side);
  count_received(t, side);
  pump(t, t.state.ring.successor);
  join_if_complete(t);
}

void run_ring_deadlines(turn& t) {
  if (t.state.ring.retry_at <= t.now) dial_successor(t);
}

void tell_ring(turn& t) {
  const auto frame = failure_frame(t.state);
  for (auto* side : {&t.state.ring.successor, &t.state.ring.predecessor}) {
    const auto* c = find_connection(t, side->connection);
    if (side->told || c == nullptr || c->stage != connection_stage::open) continue;
    side->told = true;
    send_frame(t, side->connection, frame);
  }
}

bool ring_told(const bootstrap_state& state) {
  return state.ring.successor.heard && state.ring.predecessor.heard;
}

void pump(turn& t, ring_side& side) {
  auto& ring = t.state.ring;
  const bool ahead = &side == &ring.successor;
  while (side.open && !side.departed && side.sent_count - side.acked_count < ring_window) {
    if (send_deaths(t, side)) {
      ++side.sent_count;
      continue;
    }
    if (!ahead || ring.pages.empty()) break;
    const auto block = ring.pages.front();
    ring.pages.pop_front();
    ++side.sent_count;
    send_page(t, block);
  }
  const bool drained = ring.pages.empty() || !side.open || side.departed;
  if (t.state.phase == bootstrap_phase::departing && ahead && drained) depart(t);
}

void depart(turn& t) {
  t.state.phase = bootstrap_phase::left;
  for (const auto* side : {&t.state.ring.successor, &t.state.ring.predecessor})
    if (side->open) send_frame(t, side->connection, leaving_frame{});
  drop_all_connections(t);
}

rank culprit_of(const bootstrap_state& state) {
  // A neighbour may join and leave again before we have joined: it gave what it had to give.
  const auto& ring = state.ring;
  if (!ring.successor.open && !ring.successor.departed) return ring.successor.peer;
  if (!ring.predecessor.open && !ring.predecessor.departed) return ring.predecessor.peer;
  return no_rank;
}

instant witness_deadline(const bootstrap_state& state) {
  const bool knows = culprit_of(state) != no_rank;
  return knows ? state.deadline - 2 * margin_of(state.options) : state.deadline;
}

std::string describe_ring(const bootstrap_state& state) {
  const auto& ring = state.ring;
  std::string text = "phase ring: ";
  const auto culprit = culprit_of(state);
  if (culprit == ring.successor.peer && !ring.successor.open)
    text += neighbour_text(state, ring.successor) + ", the successor, could not be reached: " +
            (ring.last_step[0] != 0 ? ring.last_step : "it did not answer") +
            describe(ring.last_cause);
  else if (culprit != no_rank)
    text += "rank " + std::to_string(ring.predecessor.peer.value) +
            ", the predecessor, did not connect";
  else
    text += std::to_string(ring.full_block_count) + " of " +
            std::to_string(ring.full_blocks.size()) + " pages of the address book arrived";
  return text + " within " + describe(state.options.timeout);
}

}  // namespace troupe::net::detail
