#include "net/emulation/detail/requester.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <string>
#include <thread>

#include "net/emulation/detail/clock.hpp"
#include "net/emulation/detail/completion_queue.hpp"
#include "net/emulation/detail/device.hpp"
#include "net/emulation/detail/misuse.hpp"
#include "net/emulation/detail/nic.hpp"
#include "net/emulation/detail/peer.hpp"
#include "net/emulation/detail/responder.hpp"
#include "net/emulation/detail/transmission.hpp"

namespace troupe::net::emulation {

namespace {

struct operation {
  request what = request::blocked;
  ibv_wc_opcode completes_as = IBV_WC_SEND;
  bool has_immediate = false;
  bool fills_pieces = false;  ///< the answer is written to the pieces
};

// What an opcode means; `blocked` if it is not emulated.
operation operation_of(ibv_wr_opcode opcode) {
  switch (opcode) {
    case IBV_WR_SEND: return {request::send, IBV_WC_SEND};
    case IBV_WR_SEND_WITH_IMM: return {request::send, IBV_WC_SEND, true};
    case IBV_WR_RDMA_WRITE: return {request::write, IBV_WC_RDMA_WRITE};
    case IBV_WR_RDMA_WRITE_WITH_IMM: return {request::write, IBV_WC_RDMA_WRITE, true};
    case IBV_WR_RDMA_READ: return {request::read, IBV_WC_RDMA_READ, false, true};
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return {request::fetch_and_add, IBV_WC_FETCH_ADD, false, true};
    case IBV_WR_ATOMIC_CMP_AND_SWP:
      return {request::compare_and_swap, IBV_WC_COMP_SWAP, false, true};
    default: return {};
  }
}

std::span<const ibv_sge> pieces_of(const ibv_send_wr& wr) {
  return {wr.sg_list, static_cast<std::size_t>(std::max(wr.num_sge, 0))};
}

std::uint64_t bytes_of(std::span<const ibv_sge> pieces) {
  std::uint64_t bytes = 0;
  for (const auto& piece : pieces)
    bytes += piece.length;
  return bytes;
}

send_entry& entry_of(nic& owner, queue_pair& qp, std::uint64_t index) {
  return *owner.memory().entry(owner.slot_of(qp), index);
}

send_record& record_of(queue_pair& qp, std::uint64_t index) {
  return qp.send.records[index % qp.send.records.size()];
}

region** regions_of(queue_pair& qp, std::uint64_t index) {
  return &qp.send.regions[index % qp.send.records.size() * qp.made_with.cap.max_send_sge];
}

void copy_bytes(send_entry& entry, std::span<const ibv_sge> pieces) {
  auto* to = reinterpret_cast<std::byte*>(&entry + 1);
  for (const auto& piece : pieces) {
    std::memcpy(to, reinterpret_cast<const void*>(piece.addr), piece.length);
    to += piece.length;
  }
}

// Finds the regions of the pieces and notes that they are in use. Success, or what is wrong.
ibv_wc_status hold_regions(nic& owner, queue_pair& qp, std::span<const ibv_sge> pieces,
                           const operation& op) {
  const unsigned access = op.fills_pieces ? IBV_ACCESS_LOCAL_WRITE : 0;
  auto& record = record_of(qp, qp.send.posted);
  auto** const held = regions_of(qp, qp.send.posted);
  for (const auto& piece : pieces) {
    auto* const found =
        owner.regions.local(piece.lkey, qp.handle.pd, piece.addr, piece.length, access);
    if (found == nullptr) return IBV_WC_LOC_PROT_ERR;
    ++found->sends;
    held[record.region_count++] = found;
  }
  return IBV_WC_SUCCESS;
}

void let_go(queue_pair& qp, std::uint64_t index) {
  auto& record = record_of(qp, index);
  auto** const held = regions_of(qp, index);
  for (std::uint32_t i = 0; i < record.region_count; ++i)
    --held[i]->sends;
  record.region_count = 0;
}

void write_pieces(send_entry& entry, std::span<const ibv_sge> pieces, region* const* held) {
  auto* const to = reinterpret_cast<source_piece*>(&entry + 1);
  for (std::size_t i = 0; i < pieces.size(); ++i)
    to[i] = {reinterpret_cast<std::uintptr_t>(held[i]->at(pieces[i].addr)), pieces[i].length};
  entry.piece_count = static_cast<std::uint32_t>(pieces.size());
}

// What is wrong with a request that a card finds out only when it sends it.
ibv_wc_status fault_of(const queue_pair& qp, const operation& op, std::uint64_t bytes) {
  if (bytes > message_bytes_max) return IBV_WC_LOC_LEN_ERR;
  const bool is_atomic = op.what == request::fetch_and_add || op.what == request::compare_and_swap;
  if (is_atomic && bytes != 8) return IBV_WC_LOC_LEN_ERR;
  if (op.fills_pieces && qp.attributes.max_rd_atomic == 0) return IBV_WC_LOC_QP_OP_ERR;
  return IBV_WC_SUCCESS;
}

int check(const queue_pair& qp, const ibv_send_wr& wr, const operation& op, std::uint64_t bytes) {
  const auto& cap = qp.made_with.cap;
  if (qp.send.posted - qp.send.released >= cap.max_send_wr) return ENOMEM;
  if (op.what == request::blocked) {
    complain("ibv_post_send", "opcode " + std::to_string(wr.opcode) + " is not emulated");
    return EOPNOTSUPP;
  }
  if (wr.num_sge < 0 || static_cast<std::uint32_t>(wr.num_sge) > cap.max_send_sge) {
    complain("ibv_post_send", name_of(qp) + " takes at most " + std::to_string(cap.max_send_sge) +
                                  " pieces a request, not " + std::to_string(wr.num_sge));
    return EINVAL;
  }
  if ((wr.send_flags & IBV_SEND_INLINE) == 0) return 0;
  if (!op.fills_pieces && bytes <= cap.max_inline_data) return 0;
  complain("ibv_post_send", name_of(qp) + " takes at most " + std::to_string(cap.max_inline_data) +
                                " inline bytes, and none of reads; this request has " +
                                std::to_string(bytes));
  return EINVAL;
}

void fill_entry(send_entry& entry, const ibv_send_wr& wr, const operation& op,
                std::uint64_t bytes) {
  const bool is_atomic = op.what == request::fetch_and_add || op.what == request::compare_and_swap;
  entry.what = op.what;
  entry.has_immediate = op.has_immediate;
  entry.is_solicited = (wr.send_flags & IBV_SEND_SOLICITED) != 0;
  entry.is_inline = false;
  entry.immediate = wr.imm_data;
  entry.bytes = bytes;
  entry.piece_count = 0;
  entry.remote_key = is_atomic ? wr.wr.atomic.rkey : wr.wr.rdma.rkey;
  entry.remote_address = is_atomic ? wr.wr.atomic.remote_addr : wr.wr.rdma.remote_addr;
  entry.compare_or_add = is_atomic ? wr.wr.atomic.compare_add : 0;
  entry.swap = is_atomic ? wr.wr.atomic.swap : 0;
  entry.outcome.store(0, std::memory_order_relaxed);
}

void complete(queue_pair& qp, std::uint64_t index, ibv_wc_status status) {
  const auto& record = record_of(qp, index);
  auto& faults = qp.owner->faults();
  if (status == IBV_WC_SUCCESS) {
    if (!record.is_signaled) return;
    if (device_faults::take_one(faults.completions_to_lose)) {
      ++faults.completions_lost;
      return;
    }
  }
  completion done;
  done.owner = &qp;
  done.index = index;
  done.what.wr_id = record.wr_id;
  done.what.status = status;
  done.what.opcode = record.opcode;
  done.what.byte_len = record.bytes;
  done.what.qp_num = qp.handle.qp_num;
  qp.send_cq->push(done, false);
}

void retire_one(nic& owner, queue_pair& qp, ibv_wc_status status) {
  let_go(qp, qp.send.retired);
  complete(qp, qp.send.retired, status);
  ++qp.send.retired;
  owner.slot_of(qp).retired.store(qp.send.retired, std::memory_order_release);
}

// The local ack timeout of verbs, 4.096 us * 2^n. Chosen: never below 100 us, as no thread of a
// host is more punctual.
std::uint64_t timeout_ns(const queue_pair& qp) {
  if (qp.attributes.timeout == 0) return never;
  return std::max<std::uint64_t>(4096ull << qp.attributes.timeout, 100'000);
}

void arm(nic& owner, queue_pair& qp, std::uint64_t now) {
  const auto timeout = timeout_ns(qp);
  const auto departs_at = record_of(qp, qp.send.retired).departs_at;
  qp.send.deadline = timeout == never ? never : std::max(now, departs_at) + timeout;
  if (qp.send.deadline != never) owner.schedule(qp, qp.send.deadline);
}

// The wait that goes with an RNR NAK, by its code (InfiniBand 1.2.1, table 45).
constexpr std::uint32_t not_ready_us[32] = {
    655360, 10,    20,    30,    40,    60,     80,     120,    160,    240,   320,
    480,    640,   960,   1280,  1920,  2560,   3840,   5120,   7680,   10240, 15360,
    20480,  30720, 40960, 61440, 81920, 122880, 163840, 245760, 327680, 491520};

void ring_peer(const queue_pair& qp) {
  if (qp.remote != nullptr && qp.remote->is_ready())
    qp.remote->ring(slot_of(qp.attributes.dest_qp_num));
}

// Whether the peer would answer if it were given the time: then a timeout says only that this host
// is busy, and is none.
bool is_heard(nic& owner, queue_pair& qp) {
  qp.remote = owner.find_peer(qp.attributes.dest_qp_num);
  if (qp.remote == nullptr || !owner.port_is_up()) return false;
  if (!qp.remote->is_ready()) return true;
  return would_accept(owner, qp);
}

// Whether the wire alone takes longer than all retries. It is found out by the timeouts, and here
// where this host was too busy to look at them in time.
bool is_out_of_reach(const nic& owner, queue_pair& qp, const send_entry& entry) {
  const auto timeout = timeout_ns(qp);
  if (timeout == never) return false;
  const auto heard_at =
      entry.arrives_at.load(std::memory_order_relaxed) + answer_latency_ns(owner, qp);
  const auto limit = timeout * (qp.attributes.retry_cnt + 1u);
  return heard_at > record_of(qp, qp.send.retired).departs_at + limit;
}

void on_timeout(nic& owner, queue_pair& qp, std::uint64_t now) {
  auto& entry = entry_of(owner, qp, qp.send.retired);
  const auto arrives_at = entry.arrives_at.load(std::memory_order_relaxed);
  const bool is_lost = arrives_at == never;
  // A wire on which the answer takes longer than the timeout is a mistake that real cards do not
  // forgive either.
  const bool is_late = !is_lost && arrives_at + answer_latency_ns(owner, qp) > qp.send.deadline;
  if (is_lost || is_late || !is_heard(owner, qp)) {
    ++owner.faults().timeouts;
    if (qp.send.retries++ == qp.attributes.retry_cnt) {
      break_down(owner, qp, IBV_WC_RETRY_EXC_ERR);
      return;
    }
    if (is_lost) transmit(owner, qp, entry, record_of(qp, qp.send.retired), now);
  }
  ring_peer(qp);
  arm(owner, qp, now);
}

// The peer has no receive for the oldest request: waits as long as it asked for, and sends again.
void on_not_ready(nic& owner, queue_pair& qp, send_entry& entry, std::uint64_t now) {
  if (qp.attributes.rnr_retry != 7 && qp.send.not_ready_retries++ == qp.attributes.rnr_retry) {
    break_down(owner, qp, IBV_WC_RNR_RETRY_EXC_ERR);
    return;
  }
  const auto& there = qp.remote->memory().slot(slot_of(qp.attributes.dest_qp_num));
  const std::uint64_t wait =
      not_ready_us[there.not_ready_timer.load(std::memory_order_relaxed) & 31];
  transmit(owner, qp, entry, record_of(qp, qp.send.retired), now + wait * 1000);
  ring_peer(qp);
  arm(owner, qp, now);
}

}  // namespace

int post_request(nic& owner, queue_pair& qp, const ibv_send_wr& wr) {
  const auto op = operation_of(wr.opcode);
  const auto pieces = pieces_of(wr);
  const auto bytes = bytes_of(pieces);
  if (const int wrong = check(qp, wr, op, bytes); wrong != 0) return wrong;

  const auto index = qp.send.posted;
  auto& record = record_of(qp, index);
  record = {
      .wr_id = wr.wr_id,
      .bytes = static_cast<std::uint32_t>(bytes),
      .opcode = op.completes_as,
      .is_signaled = qp.made_with.sq_sig_all != 0 || (wr.send_flags & IBV_SEND_SIGNALED) != 0};
  auto& entry = entry_of(owner, qp, index);
  fill_entry(entry, wr, op, bytes);
  record.refused = fault_of(qp, op, bytes);
  const bool asks_inline = (wr.send_flags & IBV_SEND_INLINE) != 0;
  if (record.refused == IBV_WC_SUCCESS && !asks_inline)
    record.refused = hold_regions(owner, qp, pieces, op);
  if (record.refused != IBV_WC_SUCCESS) {
    entry.what = request::blocked;
  } else if (!op.fills_pieces && bytes <= qp.send.entry_bytes - sizeof(send_entry)) {
    // Short ones travel with the request, asked for or not, as it costs least.
    copy_bytes(entry, pieces);
    entry.is_inline = true;
  } else {
    write_pieces(entry, pieces, regions_of(qp, index));
  }
  ++qp.send.posted;
  if (!qp.is_sending()) {
    retire_one(owner, qp, IBV_WC_WR_FLUSH_ERR);
    return 0;
  }
  ++owner.faults().requests;
  owner.faults().bytes += bytes;
  entry.attempt.store(0, std::memory_order_relaxed);
  transmit(owner, qp, entry, record, now_ns());
  owner.slot_of(qp).posted.store(qp.send.posted, std::memory_order_release);
  return 0;
}

void show_requests(nic& owner, queue_pair& qp) {
  if (!qp.is_sending() || qp.send.retired == qp.send.posted) return;
  if (record_of(qp, qp.send.retired).refused != IBV_WC_SUCCESS) owner.schedule(qp, 0);
  if (qp.send.deadline == never) arm(owner, qp, now_ns());
  if (qp.remote == nullptr) qp.remote = owner.find_peer(qp.attributes.dest_qp_num);
  ring_peer(qp);
}

void retire_requests(nic& owner, queue_pair& qp, std::uint64_t now) {
  const auto before = qp.send.retired;
  while (qp.is_sending() && qp.send.retired != qp.send.posted) {
    if (const auto refused = record_of(qp, qp.send.retired).refused; refused != IBV_WC_SUCCESS) {
      break_down(owner, qp, refused);
      return;
    }
    auto& entry = entry_of(owner, qp, qp.send.retired);
    const auto outcome = entry.outcome.load(std::memory_order_acquire);
    if (attempt_of(outcome) != entry.attempt.load(std::memory_order_relaxed)) break;
    const auto code = code_of(outcome);
    const auto heard_at =
        entry.answered_at.load(std::memory_order_relaxed) + answer_latency_ns(owner, qp);
    if (heard_at > now) {
      owner.schedule(qp, heard_at);
      break;
    }
    if (is_out_of_reach(owner, qp, entry)) {
      break_down(owner, qp, IBV_WC_RETRY_EXC_ERR);
      return;
    }
    if (code == not_ready) {
      on_not_ready(owner, qp, entry, now);
      return;
    }
    if (code != arrived) {
      break_down(owner, qp, static_cast<ibv_wc_status>(code - failed_with));
      return;
    }
    retire_one(owner, qp, IBV_WC_SUCCESS);
    qp.send.not_ready_retries = 0;
  }
  if (!qp.is_sending()) return;
  if (qp.send.retired == qp.send.posted) {
    qp.send.deadline = never;
  } else if (qp.send.retired != before) {
    qp.send.retries = 0;
    arm(owner, qp, now);
  } else if (qp.send.deadline <= now) {
    on_timeout(owner, qp, now);
  } else if (qp.send.deadline != never) {
    owner.schedule(qp, qp.send.deadline);
  }
}

void break_down(nic& owner, queue_pair& qp, ibv_wc_status status) {
  qp.handle.state = IBV_QPS_ERR;
  qp.attributes.qp_state = IBV_QPS_ERR;
  auto& slot = owner.slot_of(qp);
  slot.life.store(life_word(qp.generation, IBV_QPS_ERR), std::memory_order_seq_cst);
  wait_for_peers(owner, qp);
  qp.send.deadline = never;
  if (status != IBV_WC_SUCCESS && qp.send.retired != qp.send.posted) retire_one(owner, qp, status);
  while (qp.send.retired != qp.send.posted)
    retire_one(owner, qp, IBV_WC_WR_FLUSH_ERR);
  flush_receives(qp);
}

void abandon_requests(queue_pair& qp) {
  for (; qp.send.retired != qp.send.posted; ++qp.send.retired)
    let_go(qp, qp.send.retired);
}

void wait_for_peers(nic& owner, queue_pair& qp) {
  auto& busy = owner.slot_of(qp).busy;
  // A peer moves a slice at a time; one that was stopped in the middle of it is not waited for.
  const auto limit = now_ns() + 1'000'000'000;
  for (auto holder = busy.load(std::memory_order_seq_cst); holder != 0;
       holder = busy.load(std::memory_order_seq_cst)) {
    auto* const other = owner.find_peer(holder);
    if (other == nullptr || !other->is_alive() || now_ns() > limit) {
      busy.store(0, std::memory_order_seq_cst);
      return;
    }
    std::this_thread::yield();
  }
}

}  // namespace troupe::net::emulation
