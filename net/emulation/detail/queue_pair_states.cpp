#include "net/emulation/detail/queue_pair_states.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>

#include "net/emulation/detail/completion_queue.hpp"
#include "net/emulation/detail/device.hpp"
#include "net/emulation/detail/misuse.hpp"
#include "net/emulation/detail/nic.hpp"
#include "net/emulation/detail/peer.hpp"
#include "net/emulation/detail/requester.hpp"
#include "net/emulation/detail/responder.hpp"
#include "net/emulation/detail/settings.hpp"

namespace troupe::net::emulation {

namespace {

// How long a connecting queue pair waits for its peer's segment, which usually takes microseconds;
// after that it is looked for on the side.
constexpr int greeting_wait_ms = 20;

constexpr std::uint32_t line(std::uint64_t bytes) {
  return static_cast<std::uint32_t>((bytes + 63) / 64 * 64);
}

void set_state(nic& owner, queue_pair& qp, ibv_qp_state state) {
  qp.handle.state = state;
  qp.attributes.qp_state = state;
  owner.slot_of(qp).life.store(life_word(qp.generation, state), std::memory_order_seq_cst);
}

// Takes up what the mask names.
void take_attributes(queue_pair& qp, const ibv_qp_attr& from, int mask) {
  auto& to = qp.attributes;
  const auto take = [&](int bit, auto member) {
    if ((mask & bit) != 0) to.*member = from.*member;
  };
  take(IBV_QP_ACCESS_FLAGS, &ibv_qp_attr::qp_access_flags);
  take(IBV_QP_PKEY_INDEX, &ibv_qp_attr::pkey_index);
  take(IBV_QP_PORT, &ibv_qp_attr::port_num);
  take(IBV_QP_AV, &ibv_qp_attr::ah_attr);
  take(IBV_QP_PATH_MTU, &ibv_qp_attr::path_mtu);
  take(IBV_QP_TIMEOUT, &ibv_qp_attr::timeout);
  take(IBV_QP_RETRY_CNT, &ibv_qp_attr::retry_cnt);
  take(IBV_QP_RNR_RETRY, &ibv_qp_attr::rnr_retry);
  take(IBV_QP_RQ_PSN, &ibv_qp_attr::rq_psn);
  take(IBV_QP_SQ_PSN, &ibv_qp_attr::sq_psn);
  take(IBV_QP_MAX_QP_RD_ATOMIC, &ibv_qp_attr::max_rd_atomic);
  take(IBV_QP_MAX_DEST_RD_ATOMIC, &ibv_qp_attr::max_dest_rd_atomic);
  take(IBV_QP_MIN_RNR_TIMER, &ibv_qp_attr::min_rnr_timer);
  take(IBV_QP_DEST_QPN, &ibv_qp_attr::dest_qp_num);
}

std::string over(const char* what, std::uint32_t value, std::uint32_t most) {
  return value <= most ? std::string()
                       : std::string(what) + " = " + std::to_string(value) + ": must be at most " +
                             std::to_string(most);
}

std::string value_problem(const ibv_qp_attr& to, int mask) {
  const auto has = [mask](int bit) { return (mask & bit) != 0; };
  std::string problem;
  const auto limit = [&](int bit, const char* what, std::uint32_t value, std::uint32_t most) {
    if (has(bit) && problem.empty()) problem = over(what, value, most);
  };
  limit(IBV_QP_TIMEOUT, "timeout", to.timeout, 31);
  limit(IBV_QP_RETRY_CNT, "retry_cnt", to.retry_cnt, 7);
  limit(IBV_QP_RNR_RETRY, "rnr_retry", to.rnr_retry, 7);
  limit(IBV_QP_MIN_RNR_TIMER, "min_rnr_timer", to.min_rnr_timer, 31);
  limit(IBV_QP_MAX_QP_RD_ATOMIC, "max_rd_atomic", to.max_rd_atomic, 16);
  limit(IBV_QP_MAX_DEST_RD_ATOMIC, "max_dest_rd_atomic", to.max_dest_rd_atomic, 16);
  limit(IBV_QP_PKEY_INDEX, "pkey_index", to.pkey_index, 0);
  limit(IBV_QP_RQ_PSN, "rq_psn", to.rq_psn, 0xffffff);
  limit(IBV_QP_SQ_PSN, "sq_psn", to.sq_psn, 0xffffff);
  limit(IBV_QP_DEST_QPN, "dest_qp_num", to.dest_qp_num, 0xffffff);
  if (!problem.empty()) return problem;
  if (has(IBV_QP_PORT) && to.port_num != 1) return "port_num: there is only port 1";
  if (has(IBV_QP_PATH_MTU) && (to.path_mtu < IBV_MTU_256 || to.path_mtu > IBV_MTU_4096))
    return "path_mtu: must be from IBV_MTU_256 to the port's active_mtu, IBV_MTU_4096";
  if (!has(IBV_QP_AV)) return "";
  if (to.ah_attr.is_global == 0) return "ah_attr: RoCE needs is_global and a destination GID";
  return over("ah_attr.grh.sgid_index", to.ah_attr.grh.sgid_index, gid_count - 1);
}

// Tells the peer what it has to know to find us and be found.
void publish(nic& owner, queue_pair& qp) {
  auto& slot = owner.slot_of(qp);
  const auto& now = qp.attributes;
  const auto gid = gid_words(now.ah_attr.grh.dgid);
  const auto& settings = process_settings();
  qp.far = settings.network.between(settings.host, host_of(now.ah_attr.grh.dgid));
  slot.destination_gid[0].store(gid[0]);
  slot.destination_gid[1].store(gid[1]);
  slot.destination_lid.store(now.ah_attr.dlid);
  slot.destination.store(now.dest_qp_num);
  slot.receive_psn.store(now.rq_psn);
  slot.send_psn.store(now.sq_psn);
  slot.path_mtu_bytes.store(128u << now.path_mtu);
  slot.not_ready_timer.store(now.min_rnr_timer);
}

void reset(nic& owner, queue_pair& qp) {
  ++qp.generation;
  set_state(owner, qp, IBV_QPS_RESET);
  wait_for_peers(owner, qp);
  abandon_requests(qp);
  qp.send_cq->forget(qp);
  qp.recv_cq->forget(qp);
  qp.send.posted = qp.send.retired = qp.send.released = 0;
  qp.send.retries = qp.send.not_ready_retries = 0;
  qp.send.deadline = never;
  qp.send.last_arrival = 0;
  qp.receive.posted = qp.receive.taken = qp.receive.released = 0;
  qp.incoming = {};
  qp.remote = nullptr;
  qp.due = never;
  auto& slot = owner.slot_of(qp);
  slot.destination.store(0);
  slot.bound.store(0);
  slot.posted.store(0);
  slot.retired.store(0);
}

void enter(nic& owner, queue_pair& qp, ibv_qp_state state) {
  switch (state) {
    case IBV_QPS_RESET: reset(owner, qp); return;
    case IBV_QPS_ERR:
      if (qp.handle.state != IBV_QPS_ERR) break_down(owner, qp, IBV_WC_SUCCESS);
      return;
    case IBV_QPS_RTR:
      publish(owner, qp);
      set_state(owner, qp, state);
      qp.remote = owner.find_peer(qp.attributes.dest_qp_num);
      if (qp.remote != nullptr) qp.remote->wait_until_ready(greeting_wait_ms);
      // The peer may have sent already.
      owner.schedule(qp, 0);
      return;
    default: publish(owner, qp); set_state(owner, qp, state);
  }
}

}  // namespace

std::string name_of(const queue_pair& qp) {
  return "QP " + hexadecimal(qp.handle.qp_num);
}

ibv_qp* make_queue_pair(nic& owner, ibv_pd& pd, const ibv_qp_init_attr& asked) {
  auto made = std::make_unique<queue_pair>();
  made->owner = &owner;
  made->made_with = asked;
  auto& cap = made->made_with.cap;
  // As real cards do, none asked for still gives one.
  for (auto* const count :
       {&cap.max_send_wr, &cap.max_recv_wr, &cap.max_send_sge, &cap.max_recv_sge})
    *count = std::max(*count, 1u);
  made->send.records.resize(cap.max_send_wr);
  made->send.regions.resize(std::size_t{cap.max_send_wr} * cap.max_send_sge);
  made->receive.records.resize(cap.max_recv_wr);
  made->receive.pieces.resize(std::size_t{cap.max_recv_wr} * cap.max_recv_sge);
  const auto room = std::max<std::uint64_t>(cap.max_send_sge * sizeof(source_piece),
                                            std::max<std::uint64_t>(cap.max_inline_data, 128));
  made->send.entry_bytes = line(sizeof(send_entry) + room);
  made->send.ring_bytes = std::uint64_t{made->send.entry_bytes} * cap.max_send_wr;
  const auto ring = owner.take_ring(made->send.ring_bytes);
  if (!ring) {
    complain("ibv_create_qp",
             "no room for a send queue of " + std::to_string(made->send.ring_bytes) + " bytes");
    errno = ENOMEM;
    return nullptr;
  }
  made->send.ring_offset = *ring;
  made->send_cq = reinterpret_cast<completion_queue*>(asked.send_cq);
  made->recv_cq = reinterpret_cast<completion_queue*>(asked.recv_cq);
  auto& qp = *made;
  auto& handle = made->handle;
  handle.context = pd.context;
  handle.qp_context = asked.qp_context;
  handle.pd = &pd;
  handle.send_cq = asked.send_cq;
  handle.recv_cq = asked.recv_cq;
  handle.qp_type = asked.qp_type;
  if (const int problem = owner.add(std::move(made)); problem != 0) {
    owner.drop_ring(*ring, qp.send.ring_bytes);
    errno = problem;
    return nullptr;
  }
  ++qp.send_cq->users;
  ++qp.recv_cq->users;
  auto& slot = owner.slot_of(qp);
  slot.ring_offset.store(*ring);
  slot.ring_entries.store(cap.max_send_wr);
  slot.entry_bytes.store(qp.send.entry_bytes);
  reset(owner, qp);
  return &qp.handle;
}

void end_queue_pair(nic& owner, queue_pair& qp) {
  reset(owner, qp);
  owner.async_events.remove([&qp](const ibv_async_event& event) {
    const bool is_of_a_qp = event.event_type == IBV_EVENT_QP_FATAL ||
                            event.event_type == IBV_EVENT_QP_REQ_ERR ||
                            event.event_type == IBV_EVENT_QP_ACCESS_ERR;
    return is_of_a_qp && event.element.qp == &qp.handle;
  });
  --qp.send_cq->users;
  --qp.recv_cq->users;
  owner.drop_ring(qp.send.ring_offset, qp.send.ring_bytes);
  owner.remove(qp);
}

int modify_queue_pair(nic& owner, queue_pair& qp, const ibv_qp_attr& to, int mask) {
  const auto from = qp.handle.state;
  const auto state = (mask & IBV_QP_STATE) != 0 ? to.qp_state : from;
  auto problem = transition_problem(from, state, mask);
  if (problem.empty()) problem = value_problem(to, mask);
  if (!problem.empty()) {
    complain("ibv_modify_qp", name_of(qp) + ": " + problem);
    return EINVAL;
  }
  take_attributes(qp, to, mask);
  if (state != from || (mask & IBV_QP_STATE) != 0)
    enter(owner, qp, state);
  else
    publish(owner, qp);
  return 0;
}

}  // namespace troupe::net::emulation
