#include "actors/endpoint/self_transfers.hpp"

#include <algorithm>

#include "actors/endpoint/endpoint_context.hpp"

namespace troupe::actors {

namespace {

void report(endpoint_context& context, std::uint64_t token, bool was_put, error failed,
            const operation_signature& theirs) {
  const auto slot = slot_of(token);
  if (const auto* entry = context.operations.find(slot))
    context.send(entry->runner, transfer_ended{slot, context.identity.self, step_of(token), was_put,
                                               failed, theirs});
}

}  // namespace

void self_transfers::put(const put_request& message) {
  auto& one = meeting_of(message.id);
  one.put = message;
  move_if_met(one);
}

void self_transfers::accept(const accept_request& message) {
  auto& one = meeting_of(message.id);
  one.accept = message;
  move_if_met(one);
}

self_transfers::meeting& self_transfers::meeting_of(const transfer_id& id) {
  const auto found =
      std::find_if(open_.begin(), open_.end(), [&](const meeting& m) { return m.id == id; });
  if (found != open_.end()) return *found;
  open_.emplace_back(*this).id = id;
  return open_.back();
}

void self_transfers::move_if_met(meeting& one) {
  if (!one.put || !one.accept) return;
  const bool agree = one.put->signature == one.accept->signature &&
                     one.put->source.bytes == one.accept->target.bytes;
  if (!agree) {
    finish(one, {errc::mismatch, 0, context_.identity.self});
    return;
  }
  byte_job job{.rule = {.type = one.put->signature.type}, .owner = &one};
  job.target = context_.buffers.resolve(one.accept->target);
  job.right = context_.buffers.resolve(one.put->source);
  job.count = one.put->source.bytes / size_of(job.rule.type);
  if (one.put->source.bytes > byte_mover::inline_bytes_max) {
    context_.mover.add(job);
    return;
  }
  byte_mover::run(job);
  finish(one, {});
}

void self_transfers::finish(meeting& one, error failed) {
  report(context_, one.put->token, true, failed, one.accept->signature);
  report(context_, one.accept->token, false, failed, one.put->signature);
  open_.remove_if([&](const meeting& m) { return &m == &one; });
}

void self_transfers::cancel(communicator_id communicator, troupe::epoch epoch,
                            operation_number operation) {
  open_.remove_if([&](const meeting& m) {
    const bool named =
        m.id.communicator == communicator && m.id.epoch == epoch && m.id.operation == operation;
    if (named) context_.mover.cancel(m);
    return named;
  });
}

}  // namespace troupe::actors
