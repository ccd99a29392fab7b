#include "net/verbs/detail/completion_queues.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace troupe::net::detail {

result<completion_queues::reservation> completion_queues::reserve(std::uint32_t entries) {
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    if (queues_[i].capacity - queues_[i].reserved < entries) continue;
    queues_[i].reserved += entries;
    return reservation{i, entries};
  }
  const auto wanted = std::max(entries_, entries);
  entry made{.handle = completion_queue(
                 ibv_create_cq(&device_, static_cast<int>(wanted), nullptr, &channel_, 0)),
             .capacity = wanted,
             .reserved = entries};
  if (!made.handle) return fail(errc::resource_exhausted, errno);
  queues_.push_back(std::move(made));
  return reservation{queues_.size() - 1, entries};
}

void completion_queues::release(const reservation& from) {
  queues_[from.queue].retired += from.entries;
}

void completion_queues::arm() {
  for (auto& each : queues_)
    ibv_req_notify_cq(each.handle.get(), 0);
}

void completion_queues::drain_events() {
  ibv_cq* queue = nullptr;
  void* context = nullptr;
  while (ibv_get_cq_event(&channel_, &queue, &context) == 0)
    ibv_ack_cq_events(queue, 1);
}

}  // namespace troupe::net::detail
