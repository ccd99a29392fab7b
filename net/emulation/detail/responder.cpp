#include "net/emulation/detail/responder.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <span>

#include "net/emulation/detail/byte_mover.hpp"
#include "net/emulation/detail/clock.hpp"
#include "net/emulation/detail/completion_queue.hpp"
#include "net/emulation/detail/device.hpp"
#include "net/emulation/detail/nic.hpp"
#include "net/emulation/detail/peer.hpp"
#include "net/emulation/detail/requester.hpp"

namespace troupe::net::emulation {

namespace {

// Bytes that are moved before other queue pairs get their turn: about 50 us. Chosen.
constexpr std::uint64_t slice_bytes = 256 * 1024;
constexpr int requests_a_turn = 64;

// Holds a peer's queue in place while its bytes are moved.
class hold {
 public:
  hold(qp_slot& of, std::uint32_t number) : of_(of), number_(number) {
    std::uint32_t nobody = 0;
    held_ = of_.busy.compare_exchange_strong(nobody, number, std::memory_order_seq_cst);
  }
  ~hold() { release(); }
  hold(const hold&) = delete;
  hold& operator=(const hold&) = delete;

  bool held() const { return held_; }
  void release() {
    // Whoever waited too long for us took it away.
    auto mine = number_;
    if (held_) of_.busy.compare_exchange_strong(mine, 0, std::memory_order_seq_cst);
    held_ = false;
  }

 private:
  qp_slot& of_;
  std::uint32_t number_;
  bool held_ = false;
};

enum class step : std::uint8_t { answered, more, stalled };

struct answer {
  step what = step::stalled;
  std::uint32_t code = 0;
  ibv_event_type event = IBV_EVENT_QP_FATAL;
};

answer refuse(ibv_wc_status status, ibv_event_type event = IBV_EVENT_QP_REQ_ERR) {
  return {step::answered, failed_with + static_cast<std::uint32_t>(status), event};
}

std::uint32_t psn_after(std::uint32_t first, std::uint64_t count) {
  return static_cast<std::uint32_t>((first + count) & 0xffffff);
}

std::array<std::uint64_t, 2> words_of(const std::array<std::atomic<std::uint64_t>, 2>& words) {
  return {words[0].load(std::memory_order_relaxed), words[1].load(std::memory_order_relaxed)};
}

// Whether the port of `at` answers to the address that `from` sends to.
bool is_addressed(const segment& at, const qp_slot& from) {
  if (at.header().port_is_up.load(std::memory_order_relaxed) == 0) return false;
  const auto wanted = words_of(from.destination_gid);
  if (wanted == std::array<std::uint64_t, 2>{})
    return from.destination_lid.load(std::memory_order_relaxed) ==
           at.header().lid.load(std::memory_order_relaxed);
  return std::any_of(at.header().gids.begin(), at.header().gids.end(),
                     [&](const auto& gid) { return words_of(gid) == wanted; });
}

// Whether a sender in this state and a receiver in that one belong together: they name each other,
// and the receiver's next sequence number is that of the sender's oldest request.
bool are_matched(const qp_slot& sender, std::uint32_t sender_number, const qp_slot& receiver,
                 std::uint32_t receiver_number) {
  const auto life = sender.life.load(std::memory_order_seq_cst);
  const auto state = receiver.life.load(std::memory_order_relaxed) & 0xff;
  if ((life & 0xff) != IBV_QPS_RTS || (state != IBV_QPS_RTR && state != IBV_QPS_RTS)) return false;
  if (sender.destination.load(std::memory_order_relaxed) != receiver_number ||
      receiver.destination.load(std::memory_order_relaxed) != sender_number)
    return false;
  const auto bound = receiver.bound.load(std::memory_order_relaxed);
  if (bound != 0) return bound == life >> 8;
  return psn_after(sender.send_psn.load(std::memory_order_relaxed),
                   sender.retired.load(std::memory_order_relaxed)) ==
         receiver.receive_psn.load(std::memory_order_relaxed);
}

std::array<local_piece, piece_count_max> receive_pieces(queue_pair& qp, std::uint64_t index,
                                                        std::uint32_t count, nic& owner,
                                                        std::uint64_t bytes, bool& is_bad) {
  std::array<local_piece, piece_count_max> out{};
  const auto* const pieces =
      &qp.receive.pieces[index % qp.receive.records.size() * qp.made_with.cap.max_recv_sge];
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto used = std::min<std::uint64_t>(bytes, pieces[i].length);
    bytes -= used;
    if (used == 0) break;
    auto* const found = owner.regions.local(pieces[i].lkey, qp.handle.pd, pieces[i].addr,
                                            pieces[i].length, IBV_ACCESS_LOCAL_WRITE);
    if (found == nullptr) {
      is_bad = true;
      return out;
    }
    out[i] = {found->at(pieces[i].addr), pieces[i].length};
  }
  return out;
}

std::uint64_t room_of(const queue_pair& qp, std::uint64_t index) {
  const auto at = index % qp.receive.records.size();
  const auto* const pieces = &qp.receive.pieces[at * qp.made_with.cap.max_recv_sge];
  std::uint64_t room = 0;
  for (std::uint32_t i = 0; i < qp.receive.records[at].piece_count; ++i)
    room += pieces[i].length;
  return room;
}

void complete_receive(queue_pair& qp, ibv_wc_status status, const send_entry* of) {
  const auto index = qp.receive.taken++;
  completion done;
  done.owner = &qp;
  done.is_receive = true;
  done.index = index;
  done.what.wr_id = qp.receive.records[index % qp.receive.records.size()].wr_id;
  done.what.status = status;
  done.what.opcode = IBV_WC_RECV;
  done.what.qp_num = qp.handle.qp_num;
  if (of != nullptr) {
    if (of->what == request::write) done.what.opcode = IBV_WC_RECV_RDMA_WITH_IMM;
    done.what.byte_len = static_cast<std::uint32_t>(of->bytes);
    done.what.src_qp = qp.attributes.dest_qp_num;
    if (of->has_immediate) {
      done.what.imm_data = of->immediate;
      done.what.wc_flags = IBV_WC_WITH_IMM;
    }
  }
  qp.recv_cq->push(done, of != nullptr && of->is_solicited);
}

// Moves the next slice of an entry; `ours` has room for all of it.
answer move_slice(queue_pair& qp, const send_entry& entry, std::span<const local_piece> ours,
                  direction way) {
  const auto bytes = std::min(slice_bytes, entry.bytes - qp.incoming.moved);
  move_result moved = move_result::moved;
  if (entry.is_inline) {
    const source_piece piece{reinterpret_cast<std::uintptr_t>(&entry + 1), entry.bytes};
    moved = move_bytes(0, {&piece, 1}, ours, qp.incoming.moved, bytes, way);
  } else {
    const auto* const pieces = reinterpret_cast<const source_piece*>(&entry + 1);
    const std::size_t count = std::min(entry.piece_count, piece_count_max);
    moved = move_bytes(qp.remote->process(), {pieces, count}, ours, qp.incoming.moved, bytes, way);
  }
  if (moved == move_result::process_gone) return {step::stalled};
  if (moved == move_result::bad_memory) return refuse(IBV_WC_LOC_PROT_ERR);
  qp.incoming.moved += bytes;
  return qp.incoming.moved == entry.bytes ? answer{step::answered, arrived} : answer{step::more};
}

answer take_send(nic& owner, queue_pair& qp, const send_entry& entry) {
  if (qp.receive.empty()) return {step::answered, not_ready};
  const auto index = qp.receive.taken;
  if (room_of(qp, index) < entry.bytes) {
    complete_receive(qp, IBV_WC_LOC_LEN_ERR, nullptr);
    return refuse(IBV_WC_REM_INV_REQ_ERR);
  }
  bool is_bad = false;
  const auto count = qp.receive.records[index % qp.receive.records.size()].piece_count;
  const auto pieces = receive_pieces(qp, index, count, owner, entry.bytes, is_bad);
  if (is_bad) {
    complete_receive(qp, IBV_WC_LOC_PROT_ERR, nullptr);
    return refuse(IBV_WC_REM_OP_ERR);
  }
  const auto done = move_slice(qp, entry, {pieces.data(), count}, direction::to_us);
  if (done.code == arrived) complete_receive(qp, IBV_WC_SUCCESS, &entry);
  return done;
}

answer take_write(nic& owner, queue_pair& qp, const send_entry& entry) {
  if ((qp.attributes.qp_access_flags & IBV_ACCESS_REMOTE_WRITE) == 0)
    return refuse(IBV_WC_REM_INV_REQ_ERR);
  if (entry.has_immediate && qp.receive.empty()) return {step::answered, not_ready};
  answer done{step::answered, arrived};
  if (entry.bytes != 0) {
    // Asked again for every slice: a region may end between two.
    auto* const target = owner.regions.remote(entry.remote_key, qp.handle.pd, entry.remote_address,
                                              entry.bytes, IBV_ACCESS_REMOTE_WRITE);
    if (target == nullptr) return refuse(IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
    const local_piece piece{target->at(entry.remote_address), entry.bytes};
    done = move_slice(qp, entry, {&piece, 1}, direction::to_us);
  }
  if (done.code == arrived && entry.has_immediate) complete_receive(qp, IBV_WC_SUCCESS, &entry);
  return done;
}

answer take_read(nic& owner, queue_pair& qp, const send_entry& entry) {
  if ((qp.attributes.qp_access_flags & IBV_ACCESS_REMOTE_READ) == 0 ||
      qp.attributes.max_dest_rd_atomic == 0)
    return refuse(IBV_WC_REM_INV_REQ_ERR);
  if (entry.bytes == 0) return {step::answered, arrived};
  auto* const source = owner.regions.remote(entry.remote_key, qp.handle.pd, entry.remote_address,
                                            entry.bytes, IBV_ACCESS_REMOTE_READ);
  if (source == nullptr) return refuse(IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
  const local_piece piece{source->at(entry.remote_address), entry.bytes};
  return move_slice(qp, entry, {&piece, 1}, direction::to_peer);
}

answer take_atomic(nic& owner, queue_pair& qp, const send_entry& entry) {
  if ((qp.attributes.qp_access_flags & IBV_ACCESS_REMOTE_ATOMIC) == 0 ||
      qp.attributes.max_dest_rd_atomic == 0 || entry.remote_address % 8 != 0)
    return refuse(IBV_WC_REM_INV_REQ_ERR);
  auto* const target = owner.regions.remote(entry.remote_key, qp.handle.pd, entry.remote_address, 8,
                                            IBV_ACCESS_REMOTE_ATOMIC);
  if (target == nullptr) return refuse(IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
  const std::atomic_ref word(*reinterpret_cast<std::uint64_t*>(target->at(entry.remote_address)));
  std::uint64_t before = entry.compare_or_add;
  if (entry.what == request::fetch_and_add)
    before = word.fetch_add(entry.compare_or_add);
  else
    word.compare_exchange_strong(before, entry.swap);
  const local_piece piece{reinterpret_cast<std::byte*>(&before), 8};
  return move_slice(qp, entry, {&piece, 1}, direction::to_peer);
}

answer take(nic& owner, queue_pair& qp, const send_entry& entry) {
  switch (entry.what) {
    case request::send: return take_send(owner, qp, entry);
    case request::write: return take_write(owner, qp, entry);
    case request::read: return take_read(owner, qp, entry);
    case request::fetch_and_add:
    case request::compare_and_swap: return take_atomic(owner, qp, entry);
    case request::blocked: break;
  }
  return {step::stalled};
}

// Where the peer's requests stand after a turn.
struct turn {
  bool has_answered = false;
  bool has_more = false;
  bool is_broken = false;
  ibv_event_type event = IBV_EVENT_QP_FATAL;
};

turn take_turn(nic& owner, queue_pair& qp, const qp_slot& sender, std::uint64_t now) {
  turn done;
  std::uint64_t budget = slice_bytes;
  for (int i = 0; i < requests_a_turn; ++i) {
    if (qp.incoming.next == sender.posted.load(std::memory_order_acquire)) return done;
    auto* const entry = qp.remote->memory().entry(sender, qp.incoming.next);
    if (entry == nullptr) return done;
    const auto attempt = entry->attempt.load(std::memory_order_acquire);
    if (attempt_of(entry->outcome.load(std::memory_order_relaxed)) == attempt) return done;
    const auto arrives_at = entry->arrives_at.load(std::memory_order_relaxed);
    if (arrives_at > now) {
      if (arrives_at != never) owner.schedule(qp, arrives_at);
      return done;
    }
    if (budget == 0) break;
    const auto before = qp.incoming.moved;
    const auto result = take(owner, qp, *entry);
    budget -= std::min(budget, qp.incoming.moved - before);
    if (result.what == step::stalled) return done;
    if (result.what == step::more) continue;
    qp.incoming.moved = 0;
    entry->answered_at.store(now, std::memory_order_relaxed);
    entry->outcome.store(outcome_word(attempt, result.code), std::memory_order_release);
    done.has_answered = true;
    if (result.code == not_ready) return done;
    if (result.code != arrived) {
      done.is_broken = true;
      done.event = result.event;
      return done;
    }
    ++qp.incoming.next;
  }
  done.has_more = true;
  return done;
}

}  // namespace

bool would_accept(const nic& owner, const queue_pair& qp) {
  const auto& there = qp.remote->memory();
  const auto& receiver = there.slot(slot_of(qp.attributes.dest_qp_num));
  const auto& sender = owner.slot_of(qp);
  return is_addressed(there, sender) && is_addressed(owner.memory(), receiver) &&
         are_matched(sender, qp.handle.qp_num, receiver, qp.attributes.dest_qp_num);
}

void serve_requests(nic& owner, queue_pair& qp, std::uint64_t now) {
  if (!qp.is_receiving()) return;
  if (qp.remote == nullptr) qp.remote = owner.find_peer(qp.attributes.dest_qp_num);
  if (qp.remote == nullptr) return;
  if (!qp.remote->is_ready()) {
    owner.schedule(qp, now + 1'000'000);
    return;
  }
  const auto& there = qp.remote->memory();
  auto& sender = there.slot(slot_of(qp.attributes.dest_qp_num));
  auto& receiver = owner.slot_of(qp);
  if (sender.destination.load(std::memory_order_relaxed) != qp.handle.qp_num) return;
  turn done;
  {
    const hold held(sender, qp.handle.qp_num);
    if (!held.held()) {
      owner.schedule(qp, now + 10'000);
      return;
    }
    if (!are_matched(sender, qp.attributes.dest_qp_num, receiver, qp.handle.qp_num) ||
        !is_addressed(owner.memory(), sender) || !is_addressed(there, receiver))
      return;
    if (receiver.bound.load(std::memory_order_relaxed) == 0) {
      receiver.bound.store(sender.life.load() >> 8, std::memory_order_relaxed);
      qp.incoming = {.next = sender.retired.load(std::memory_order_acquire)};
    }
    done = take_turn(owner, qp, sender, now);
  }
  if (done.has_more) owner.schedule(qp, 0);
  if (done.has_answered) qp.remote->ring(slot_of(qp.attributes.dest_qp_num));
  if (!done.is_broken) return;
  break_down(owner, qp, IBV_WC_SUCCESS);
  ibv_async_event event{};
  event.element.qp = &qp.handle;
  event.event_type = done.event;
  owner.async_events.push(event);
}

void flush_receives(queue_pair& qp) {
  while (!qp.receive.empty())
    complete_receive(qp, IBV_WC_WR_FLUSH_ERR, nullptr);
}

}  // namespace troupe::net::emulation
