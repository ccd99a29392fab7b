#include "actors/collective/collective_actor.hpp"

// Memory of one operation, and what a promised one keeps from attempt to attempt.
namespace troupe::actors {

result<void> collective_actor_state::open_buffers(const operation_request& request,
                                                  const collectives::plan& planned,
                                                  collectives::collective_buffers& out) {
  auto& e = entry();
  if (auto staging = open_staging(planned, out); !staging) return staging;
  // The runtime only reads the send buffer; the table knows one kind of pointer.
  auto* const send_base = static_cast<std::byte*>(const_cast<void*>(request.send));
  auto* const receive_base = static_cast<std::byte*>(request.receive);
  if (e.promise && e.promise->saved) {
    // Done again: the buffer holds what an earlier attempt left in it.
    const auto target = context_->buffers.add(receive_base, request.receive_bytes);
    if (!target) return tl::unexpected<error>(target.error());
    e.receive_buffer = target->id;
    out.receive = *target;
    out.send = e.promise->saved_input;
    return {};
  }
  if (request.in_place && request.receive_bytes >= request.send_bytes) {
    // In place the two are views of one buffer: that is how the machine knows.
    const auto whole = context_->buffers.add(receive_base, request.receive_bytes);
    if (!whole) return tl::unexpected<error>(whole.error());
    e.receive_buffer = whole->id;
    out.receive = *whole;
    out.send =
        whole->part(static_cast<std::uint64_t>(send_base - receive_base), request.send_bytes);
    return {};
  }
  const auto send = context_->buffers.add(send_base, request.send_bytes);
  if (!send) return tl::unexpected<error>(send.error());
  e.send_buffer = send->id;
  out.send = *send;
  if (request.in_place) {
    out.receive =
        send->part(static_cast<std::uint64_t>(receive_base - send_base), request.receive_bytes);
    return {};
  }
  const auto receive = context_->buffers.add(receive_base, request.receive_bytes);
  if (!receive) return tl::unexpected<error>(receive.error());
  e.receive_buffer = receive->id;
  out.receive = *receive;
  return {};
}

result<void> collective_actor_state::open_staging(const collectives::plan& planned,
                                                  collectives::collective_buffers& out) {
  auto& e = entry();
  const auto take = [&](std::uint64_t bytes) {
    return e.may_overdraw_scratch ? context_->scratch.take_always(bytes)
                                  : context_->scratch.take(bytes);
  };
  const bool is_kept = e.promise.has_value();
  const std::uint64_t bytes = planned.scratch_bytes + (is_kept ? 0 : planned.saved_bytes);
  if (bytes != 0) {
    const auto taken = take(bytes);
    if (!taken) return tl::unexpected<error>(taken.error());
    e.scratch = *taken;
    out.scratch = taken->view.part(0, planned.scratch_bytes);
    if (!is_kept) out.saved = taken->view.part(planned.scratch_bytes, planned.saved_bytes);
  }
  if (!is_kept || planned.saved_bytes == 0) return {};
  auto& promise = *e.promise;
  if (promise.saved_block && promise.saved_block->view.bytes < planned.saved_bytes) {
    context_->scratch.give_back(*promise.saved_block);
    promise.saved_block.reset();
  }
  if (!promise.saved_block) {
    const auto taken = take(planned.saved_bytes);
    if (!taken) return tl::unexpected<error>(taken.error());
    promise.saved_block = *taken;
  }
  promise.saved_input = promise.saved_block->view.part(0, planned.saved_bytes);
  out.saved = promise.saved_input;
  return {};
}

void collective_actor_state::close_buffers() {
  auto& e = entry();
  if (e.send_buffer) context_->buffers.release(*e.send_buffer);
  if (e.receive_buffer) context_->buffers.release(*e.receive_buffer);
  if (e.scratch) context_->scratch.give_back(*e.scratch);
  e.send_buffer.reset();
  e.receive_buffer.reset();
  e.scratch.reset();
  context_->wake_scratch_waiters();
}

/// The operation goes on elsewhere: its rank knows how.
void collective_actor_state::end_attempt(promise_ended how) {
  running_ = restoring_ = complete_ = false;
  stopping_.reset();
  state_.reset();
  forget_moved();
  close_buffers();
  auto& e = entry();
  e.ended = true;
  context_->drive(turn_ended{slot_});
  context_->send(e.owner, std::move(how));
}

void collective_actor_state::restore(operation_slot slot) {
  const auto* called = context_->operations.find(slot);
  if (called == nullptr) return;
  slot_ = slot;
  running_ = restoring_ = true;
  stopping_.reset();
  touched_.clear();
  const auto& request = called->work->request();
  byte_job job{.rule = {.type = data_type::uint8}, .owner = this};
  job.target = static_cast<std::byte*>(request.receive);
  job.right = context_->buffers.resolve(called->promise->saved_input);
  job.count = request.receive_bytes;
  context_->mover.add(job);
}

}  // namespace troupe::actors
