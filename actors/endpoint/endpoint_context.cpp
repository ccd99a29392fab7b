#include "actors/endpoint/endpoint_context.hpp"

#include <algorithm>
#include <stdexcept>

#include "actors/qp_group/qp_group_actor.hpp"
#include "collectives/transfer_window.hpp"

namespace troupe::actors {

namespace {

// Operations of one endpoint, all communicators together. Chosen: index and generation share 32
// bits of a transfer token; 4,096 is 16 communicators with the default bound of 256 each.
constexpr std::uint16_t operation_capacity = 4096;

// Transfers that a collective may have open with one peer: a window in each direction. Half of a
// link's table stays for the oldest collectives of other communicators and for point-to-point
// operations.
constexpr std::uint32_t transfers_per_collective = 2 * collectives::window_width_max;

std::uint32_t running_collective_count_max(const config::options& options) {
  return std::max(1u, options.transport.transfer_count / (2 * transfers_per_collective));
}

}  // namespace

endpoint_context::endpoint_context(const config::options& all, const endpoint_identity& who,
                                   worker& where, buffer_table& memory, lane_network& wire,
                                   operation_counters& counts, memory_ledger& bytes)
    : ledger(bytes),
      own_bytes(&ledger, memory_purpose::endpoint, sizeof *this + sizeof counts),
      control(ledger.of(memory_purpose::messages), all.worker.control_bytes),
      options(all),
      identity(who),
      home(where),
      buffers(memory),
      network(wire),
      router(wire),
      mover(all.worker.byte_slice, [&where] { return where.now(); }),
      scratch(memory, all.worker.scratch_bytes, ledger),
      to_self(*this),
      windows(memory),
      operations(operation_capacity, ledger.of(memory_purpose::operations)),
      counters(counts),
      recorder({operation_capacity, all.trace.record_count}, ledger),
      links(ledger.of(memory_purpose::endpoint)),
      ranks(ledger.of(memory_purpose::endpoint)),
      turns(running_collective_count_max(all), ledger.of(memory_purpose::operations)) {}

endpoint_context::~endpoint_context() = default;

const qp_group_actor& endpoint_context::link_to(rank peer) {
  auto& link = links[peer.value];
  if (!link) {
    link = spawn_qp_group(*this, peer);
    send(endpoint, link_spawned{peer});
  }
  return link;
}

void endpoint_context::on_message(actor_kind kind, std::size_t mailbox_depth) {
  home.counters().mailbox_depth[static_cast<std::size_t>(kind)].set(mailbox_depth);
  home.on_message(kind);
  if (broken_kind_ != kind) return;
  broken_kind_.reset();
  throw std::runtime_error("an actor of kind " + std::string(to_string(kind)) +
                           " was told to fail");
}

void endpoint_context::wake_scratch_waiters() {
  for (const auto slot : scratch_waiters)
    if (const auto* entry = operations.find(slot)) send(entry->runner, collective_start{slot});
  scratch_waiters.clear();
}

bool endpoint_context::drive(const turn_event& event) {
  turn_effects effects;
  step(turns, event, effects);
  bool goes_on = false;
  for (const auto& effect : effects) {
    if (const auto* waiter = std::get_if<start_waiter>(&effect)) {
      if (const auto* entry = operations.find(waiter->slot))
        send(entry->runner, collective_start{waiter->slot});
    } else {
      goes_on = true;
    }
  }
  return goes_on;
}

void endpoint_context::wake_watchdog() {
  if (watchdog_armed) return;
  watchdog_armed = true;
  timers.arm(watchdog_timer, saturating_add(now(), options.watchdog.interval), 0);
}

lane_kind endpoint_context::lanes_among(communicator_id id, const membership& members) {
  if (members.size() == 1) return lane_kind::none;
  const auto changes = network.kind_changes();
  const auto known = known_lanes_.find(id.value);
  if (known != known_lanes_.end() && known->second.changes == changes) return known->second.kind;
  auto kind = network.kind();
  for (std::uint32_t i = 0; i < members.size() && book_owner != nullptr; ++i) {
    const auto peer = members.to_world(rank{i});
    if (peer == identity.self) continue;
    const auto to_peer = network.kind_to(book_owner->book.at(peer).address);
    if (to_peer != lane_kind::shm) kind = to_peer;
  }
  known_lanes_[id.value] = {changes, kind};
  return kind;
}

tier endpoint_context::tier_of(rank peer) const {
  if (book_owner == nullptr || !book_owner->book.contains(peer)) return tier::unknown;
  return tier_between(identity.where, book_owner->book.at(peer).place);
}

std::string endpoint_context::describe(rank peer) const {
  std::string out = "rank " + std::to_string(peer.value);
  if (book_owner != nullptr && book_owner->book.contains(peer) &&
      book_owner->book.at(peer).address.port != 0)
    out += " (" + to_string(book_owner->book.at(peer).address) + ")";
  return out;
}

}  // namespace troupe::actors
