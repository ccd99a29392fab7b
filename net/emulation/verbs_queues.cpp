// The calls about completion channels, completion queues and queue pairs.
#include <infiniband/verbs.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>

#include "net/emulation/detail/completion_queue.hpp"
#include "net/emulation/detail/device.hpp"
#include "net/emulation/detail/misuse.hpp"
#include "net/emulation/detail/nic.hpp"
#include "net/emulation/detail/queue_pair.hpp"
#include "net/emulation/detail/queue_pair_states.hpp"

using namespace troupe::net::emulation;

namespace {

// How long ending a completion queue waits for another thread to acknowledge its events. Real
// verbs wait for ever.
constexpr std::chrono::seconds acknowledge_wait_max{5};

template <class Handle>
Handle* refused(const char* call, int code, const std::string& why) {
  complain(call, why);
  errno = code;
  return nullptr;
}

completion_queue& of(ibv_cq* handle) {
  return *reinterpret_cast<completion_queue*>(handle);
}

completion_channel& of(ibv_comp_channel* handle) {
  return *reinterpret_cast<completion_channel*>(handle);
}

queue_pair& of(ibv_qp* handle) {
  return *reinterpret_cast<queue_pair*>(handle);
}

std::string limit_problem(const ibv_qp_init_attr& asked) {
  const auto over = [](const char* what, std::uint32_t value, std::uint32_t most) {
    return value <= most ? std::string()
                         : std::string(what) + " = " + std::to_string(value) + " is more than " +
                               std::to_string(most) + "; ";
  };
  const auto& cap = asked.cap;
  return over("max_send_wr", cap.max_send_wr, queue_depth_max) +
         over("max_recv_wr", cap.max_recv_wr, queue_depth_max) +
         over("max_send_sge", cap.max_send_sge, piece_count_max) +
         over("max_recv_sge", cap.max_recv_sge, piece_count_max) +
         over("max_inline_data", cap.max_inline_data, inline_bytes_max);
}

}  // namespace

extern "C" {

ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  auto made = std::make_unique<completion_channel>();
  if (made->events.number() < 0) return nullptr;
  made->handle.context = context;
  made->handle.fd = made->events.number();
  ++nic_of(context).channel_count;
  return &made.release()->handle;
}

int ibv_destroy_comp_channel(ibv_comp_channel* handle) {
  const std::unique_ptr<completion_channel> ended(&of(handle));
  if (handle->refcnt != 0)
    misuse("ibv_destroy_comp_channel",
           std::to_string(handle->refcnt) + " completion queues still report to this channel");
  --nic_of(handle->context).channel_count;
  return 0;
}

ibv_cq* ibv_create_cq(ibv_context* context, int depth, void* cq_context, ibv_comp_channel* channel,
                      int vector) {
  if (depth < 1 || static_cast<std::uint32_t>(depth) > completion_depth_max || vector != 0)
    return refused<ibv_cq>("ibv_create_cq", EINVAL,
                           "depth " + std::to_string(depth) + ", vector " + std::to_string(vector) +
                               ": a completion queue has from 1 to " +
                               std::to_string(completion_depth_max) +
                               " places and the one vector 0");
  auto& owner = nic_of(context);
  auto made = std::make_unique<completion_queue>();
  made->owner = &owner;
  made->handle.context = context;
  made->handle.channel = channel;
  made->handle.cq_context = cq_context;
  made->handle.cqe = depth;
  made->places = std::make_unique_for_overwrite<completion[]>(made->capacity());
  const std::lock_guard guard(owner.lock);
  if (channel != nullptr) {
    made->channel = &of(channel);
    ++channel->refcnt;
  }
  ++owner.cq_count;
  return &made.release()->handle;
}

int ibv_destroy_cq(ibv_cq* handle) {
  const std::unique_ptr<completion_queue> ended(&of(handle));
  auto& owner = *ended->owner;
  {
    const std::lock_guard guard(owner.lock);
    if (ended->users != 0)
      misuse("ibv_destroy_cq",
             std::to_string(ended->users) + " queues still complete to this completion queue");
    if (ended->armed != completion_queue::arming::none) owner.count_armed(-1);
    --owner.cq_count;
    if (ended->channel != nullptr) --ended->channel->handle.refcnt;
  }
  if (ended->channel == nullptr) return 0;
  std::unique_lock guard(ended->events_mutex);
  ended->events_delivered -= static_cast<std::uint32_t>(
      ended->channel->events.remove([handle](const ibv_cq* queued) { return queued == handle; }));
  const bool all = ended->events_acknowledged.wait_for(guard, acknowledge_wait_max, [&] {
    return handle->comp_events_completed == ended->events_delivered;
  });
  if (!all)
    misuse("ibv_destroy_cq",
           std::to_string(ended->events_delivered - handle->comp_events_completed) +
               " events of this completion queue were got and not acknowledged "
               "(ibv_ack_cq_events); real verbs wait for ever");
  return 0;
}

int ibv_resize_cq(ibv_cq* handle, int depth) {
  auto& cq = of(handle);
  const std::lock_guard guard(cq.owner->lock);
  const auto used = cq.count.load();
  if (depth < 1 || static_cast<std::uint32_t>(depth) > completion_depth_max ||
      static_cast<std::uint32_t>(depth) < used)
    return EINVAL;
  auto places = std::make_unique_for_overwrite<completion[]>(static_cast<std::size_t>(depth));
  for (std::uint32_t i = 0; i < used; ++i)
    places[i] = cq.places[(cq.first + i) % cq.capacity()];
  cq.places = std::move(places);
  cq.first = 0;
  handle->cqe = depth;
  return 0;
}

int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) {
  const auto got = of(channel).events.take();
  if (!got) return -1;
  *cq = *got;
  *cq_context = (*got)->cq_context;
  return 0;
}

void ibv_ack_cq_events(ibv_cq* handle, unsigned count) {
  auto& cq = of(handle);
  const std::lock_guard guard(cq.events_mutex);
  handle->comp_events_completed += count;
  cq.events_acknowledged.notify_all();
}

ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* asked) {
  if (asked->qp_type != IBV_QPT_RC || asked->srq != nullptr)
    return refused<ibv_qp>("ibv_create_qp", EOPNOTSUPP,
                           "only reliable connected queue pairs without a shared receive queue "
                           "are emulated");
  if (asked->send_cq == nullptr || asked->recv_cq == nullptr)
    return refused<ibv_qp>("ibv_create_qp", EINVAL, "a queue pair needs both completion queues");
  if (const auto problem = limit_problem(*asked); !problem.empty())
    return refused<ibv_qp>("ibv_create_qp", EINVAL, problem + "see ibv_query_device");
  auto& owner = nic_of(pd->context);
  const std::lock_guard guard(owner.lock);
  auto* const made = make_queue_pair(owner, *pd, *asked);
  if (made != nullptr) asked->cap = of(made).made_with.cap;
  return made;
}

int ibv_destroy_qp(ibv_qp* handle) {
  auto& qp = of(handle);
  auto& owner = *qp.owner;
  const std::lock_guard guard(owner.lock);
  end_queue_pair(owner, qp);
  return 0;
}

int ibv_modify_qp(ibv_qp* handle, ibv_qp_attr* attributes, int mask) {
  auto& qp = of(handle);
  auto& owner = *qp.owner;
  const std::lock_guard guard(owner.lock);
  return modify_queue_pair(owner, qp, *attributes, mask);
}

int ibv_query_qp(ibv_qp* handle, ibv_qp_attr* out, int, ibv_qp_init_attr* made_with) {
  auto& qp = of(handle);
  const std::lock_guard guard(qp.owner->lock);
  *out = qp.attributes;
  out->qp_state = out->cur_qp_state = handle->state;
  out->cap = qp.made_with.cap;
  if (made_with != nullptr) *made_with = qp.made_with;
  return 0;
}

}  // extern "C"
