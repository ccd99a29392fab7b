#include "net/emulation/detail/data_path.hpp"

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <string>
#include <thread>

#include "net/emulation/detail/completion_queue.hpp"
#include "net/emulation/detail/misuse.hpp"
#include "net/emulation/detail/nic.hpp"
#include "net/emulation/detail/queue_pair.hpp"
#include "net/emulation/detail/requester.hpp"
#include "net/emulation/detail/responder.hpp"

namespace troupe::net::emulation {

namespace {

// A program that spins gives its processor away now and then: the peer that it waits for may need
// it. Chosen: some microseconds of polls.
constexpr std::uint64_t empty_polls_a_yield = 256;

queue_pair& of(ibv_qp* handle) {
  return *reinterpret_cast<queue_pair*>(handle);
}

completion_queue& of(ibv_cq* handle) {
  return *reinterpret_cast<completion_queue*>(handle);
}

int post_receive(queue_pair& qp, const ibv_recv_wr& wr) {
  const auto& cap = qp.made_with.cap;
  if (qp.receive.posted - qp.receive.released >= cap.max_recv_wr) return ENOMEM;
  if (wr.num_sge < 0 || static_cast<std::uint32_t>(wr.num_sge) > cap.max_recv_sge) {
    complain("ibv_post_recv", name_of(qp) + " takes at most " + std::to_string(cap.max_recv_sge) +
                                  " pieces a receive, not " + std::to_string(wr.num_sge));
    return EINVAL;
  }
  const auto at = qp.receive.posted++ % qp.receive.records.size();
  qp.receive.records[at] = {wr.wr_id, static_cast<std::uint32_t>(wr.num_sge)};
  std::copy_n(wr.sg_list, wr.num_sge, &qp.receive.pieces[at * cap.max_recv_sge]);
  return 0;
}

void release(const completion& taken) {
  auto& qp = *taken.owner;
  if (taken.is_receive)
    qp.receive.released = taken.index + 1;
  else
    qp.send.released = taken.index + 1;
}

}  // namespace

int poll_completions(ibv_cq* handle, int count, ibv_wc* out) {
  auto& cq = of(handle);
  auto& owner = *cq.owner;
  owner.note_poll();
  const bool has_work = owner.has_work();
  if (!has_work && cq.count.load(std::memory_order_acquire) == 0) {
    if (owner.note_empty_poll() % empty_polls_a_yield == 0) std::this_thread::yield();
    return 0;
  }
  const std::lock_guard guard(owner.lock);
  if (has_work) owner.progress();
  int taken = 0;
  for (; taken < count && cq.count.load(std::memory_order_relaxed) != 0; ++taken) {
    const auto done = cq.pop();
    release(done);
    out[taken] = done.what;
  }
  return taken;
}

int request_notification(ibv_cq* handle, int solicited_only) {
  auto& cq = of(handle);
  if (cq.channel == nullptr)
    misuse("ibv_req_notify_cq", "this completion queue was created without a completion channel");
  const std::lock_guard guard(cq.owner->lock);
  const bool was_armed = cq.armed != completion_queue::arming::none;
  // Who asked for any keeps that until an event comes.
  if (solicited_only == 0)
    cq.armed = completion_queue::arming::any;
  else if (!was_armed)
    cq.armed = completion_queue::arming::solicited;
  if (!was_armed) cq.owner->count_armed(1);
  return 0;
}

int post_sends(ibv_qp* handle, ibv_send_wr* first, ibv_send_wr** bad) {
  auto& qp = of(handle);
  auto& owner = *qp.owner;
  const std::lock_guard guard(owner.lock);
  if (handle->state != IBV_QPS_RTS && handle->state != IBV_QPS_ERR)
    misuse("ibv_post_send", name_of(qp) + " is in " + name_of(handle->state) +
                                "; it sends from RTS on: ibv_modify_qp comes first");
  int wrong = 0;
  for (auto* wr = first; wr != nullptr && wrong == 0; wr = wr->next) {
    wrong = post_request(owner, qp, *wr);
    if (wrong != 0) *bad = wr;
  }
  show_requests(owner, qp);
  return wrong;
}

int post_receives(ibv_qp* handle, ibv_recv_wr* first, ibv_recv_wr** bad) {
  auto& qp = of(handle);
  const std::lock_guard guard(qp.owner->lock);
  if (handle->state == IBV_QPS_RESET)
    misuse("ibv_post_recv",
           name_of(qp) + " is in RESET; it takes receives from INIT on: ibv_modify_qp comes first");
  int wrong = 0;
  for (auto* wr = first; wr != nullptr && wrong == 0; wr = wr->next) {
    wrong = post_receive(qp, *wr);
    if (wrong != 0) *bad = wr;
  }
  if (handle->state == IBV_QPS_ERR) flush_receives(qp);
  return wrong;
}

}  // namespace troupe::net::emulation
