#include "actors/collective/collective_actor.hpp"

#include <algorithm>
#include <utility>

#include "actors/collective/operation_plan.hpp"
#include "actors/endpoint/operation_end.hpp"
#include "actors/endpoint/spawn_actor.hpp"
#include "actors/rank/rank_machine.hpp"
#include "runtime/assert.hpp"

namespace troupe::actors {

namespace {

// How long an operation waits to hear why a peer ended it. Chosen: a notice takes a hop or two;
// half a second leaves room within the second that an abort may take.
constexpr duration reason_patience = std::chrono::milliseconds(500);

}  // namespace

void collective_actor_state::init(collective_actor::pointer self, endpoint_context& context) {
  self_ = self;
  context_ = &context;
}

collective_actor_state::~collective_actor_state() {
  if (context_ != nullptr) context_->mover.cancel(*this);
}

collective_actor::behavior_type collective_actor_state::make_behavior() {
  return {[this](const collective_start& message) {
            context_->on_message(actor_kind::collective, self_->mailbox().size());
            start(message.slot);
          },
          [this](const transfer_ended& message) {
            context_->on_message(actor_kind::collective, self_->mailbox().size());
            if (running_ && message.slot == slot_) on_transfer(message);
          },
          [this](const bytes_moved& message) {
            context_->on_message(actor_kind::collective, self_->mailbox().size());
            if (!running_ || message.slot != slot_ || stopping_) return;
            if (std::exchange(restoring_, false)) {
              end_attempt({.slot = slot_, .how = promise_end::restored});
              return;
            }
            --byte_jobs_;
            drive(collectives::bytes_finished{message.token});
          },
          [this](const collective_stop& message) {
            context_->on_message(actor_kind::collective, self_->mailbox().size());
            if (!running_) adopt(message.slot);
            if (running_ && message.slot == slot_) stop(message.why);
          },
          [this](const collective_restore& message) {
            context_->on_message(actor_kind::collective, self_->mailbox().size());
            restore(message.slot);
          },
          [this](const cancel_ended& message) {
            context_->on_message(actor_kind::collective, self_->mailbox().size());
            if (running_ && message.slot == slot_) on_cancelled(message.peer);
          }};
}

operation_entry& collective_actor_state::entry() {
  auto* found = context_->operations.find(slot_);
  TROUPE_ASSERT(found != nullptr);
  return *found;
}

transfer_id collective_actor_state::id_of(std::uint32_t step) const {
  const auto& e = *context_->operations.find(slot_);
  return {e.communicator, e.epoch, e.number, step};
}

void collective_actor_state::start(operation_slot slot) {
  // One that waited may be started twice, be told to stop before it starts, have ended meanwhile,
  // or have gone to another runner.
  const auto* called = context_->operations.find(slot);
  if (called == nullptr || called->ended || called->runner.address() != self_->address()) return;
  if (running_ && slot == slot_ && (state_ || stopping_)) return;
  slot_ = slot;
  running_ = true;
  stopping_.reset();
  touched_.clear();
  byte_jobs_ = 0;
  auto& e = entry();
  if (!context_->drive(turn_wanted{slot_, is_collective(e.number), e.may_overdraw_scratch})) return;
  const auto& request = e.work->request();
  const auto planned = plan_operation(e, *context_);
  if (!planned) {
    end(std::make_shared<failure>(planned.error(),
                                  "no algorithm for " + to_string(request.signature)));
    return;
  }
  e.work->set_path(planned->path);
  collectives::collective_buffers buffers;
  if (request.blocks) buffers.blocks = *request.blocks;
  if (const auto opened = open_buffers(request, *planned, buffers); !opened) {
    if (opened.error().code == errc::queue_full) {
      // Staging memory is short: wait for it with nothing held.
      context_->scratch_waiters.push_back(slot_);
      return;
    }
    end(std::make_shared<failure>(
        opened.error(), "no staging memory or buffer slot for " + to_string(request.signature)));
    return;
  }
  rule_ = {.type = request.signature.type,
           .op = request.signature.op,
           .scalar = request.scalar,
           .divisor = e.members->size()};
  auto made = collectives::make_state(*planned, buffers);
  if (!made) {
    end(std::make_shared<failure>(made.error(),
                                  "buffers do not fit " + to_string(request.signature)));
    return;
  }
  state_.emplace(*made);
  step(e.trace, operation_began{planned->path}, context_->now());
  context_->recorder.trace.publish(slot_.index, e.trace.record);
  if (is_collective(e.number) && !e.promise) e.progress->started(e.number);
  drive(collectives::collective_started{});
}

/// Takes over an operation whose runner failed, in order to stop it.
void collective_actor_state::adopt(operation_slot slot) {
  const auto* found = context_->operations.find(slot);
  if (found == nullptr || found->ended) return;
  slot_ = slot;
  running_ = true;
  stopping_.reset();
  touched_.clear();
  for (const auto& [world, link] : context_->links)
    if (found->members->from_world(rank{world})) touched_.push_back(rank{world});
}

void collective_actor_state::drive(const collectives::collective_event& event) {
  effects_.clear();
  collectives::step(*state_, event, effects_);
  if (auto& promise = entry().promise; promise && !promise->saved)
    promise->saved = collectives::has_saved_input(*state_);
  for (std::size_t i = 0; i < effects_.size(); ++i) {
    if (i + 1 < effects_.size() && exchange(effects_[i], effects_[i + 1])) {
      ++i;
      continue;
    }
    apply(effects_[i]);
    if (!running_) return;
  }
  // Small byte work was done while the effects were applied; its events come after them, in
  // order, and from one loop rather than from recursion.
  if (driving_) return;
  driving_ = true;
  while (running_ && !stopping_ && next_moved_ < moved_.size())
    drive(collectives::bytes_finished{moved_[next_moved_++]});
  forget_moved();
  driving_ = false;
  if (running_) note_waits();
}

void collective_actor_state::note_waits() {
  step(entry().trace, operation_stepped{byte_jobs_}, context_->now());
}

void collective_actor_state::begin_transfer(rank peer, std::uint32_t step, bool is_put) {
  auto& e = entry();
  e.open.push_back({peer, step, is_put});
  ++(is_put ? e.trace.record.open_puts : e.trace.record.open_accepts);
}

void collective_actor_state::forget_moved() {
  moved_.clear();
  next_moved_ = 0;
}

void collective_actor_state::apply(const collectives::collective_effect& effect) {
  std::visit([this](const auto& e) { apply_one(e); }, effect);
}

void collective_actor_state::touch(rank peer) {
  const bool known = std::find(touched_.begin(), touched_.end(), peer) != touched_.end();
  if (!known && peer != context_->identity.self) touched_.push_back(peer);
}

put_request collective_actor_state::begin(const collectives::put& effect) {
  auto& e = entry();
  const auto peer = e.members->to_world(effect.peer);
  touch(peer);
  begin_transfer(peer, effect.step, true);
  const auto& request = e.work->request();
  put_request out{id_of(effect.step), wire_signature(request, effect.peer, true), effect.source,
                  transfer_token(slot_, effect.step), request.window.at};
  if (is_window_put(out.id))
    out.id.step = window_step(request.window.number, request.window.notifies);
  return out;
}

accept_request collective_actor_state::begin(const collectives::accept& effect) {
  auto& e = entry();
  const auto peer = e.members->to_world(effect.peer);
  touch(peer);
  begin_transfer(peer, effect.step, false);
  return {id_of(effect.step), wire_signature(e.work->request(), effect.peer, false), effect.target,
          transfer_token(slot_, effect.step)};
}

/// One message for a put and an accept that follow each other and have the same peer.
bool collective_actor_state::exchange(const collectives::collective_effect& one,
                                      const collectives::collective_effect& other) {
  const auto* put = std::get_if<collectives::put>(&one);
  const auto* accept = std::get_if<collectives::accept>(put != nullptr ? &other : &one);
  if (put == nullptr) put = std::get_if<collectives::put>(&other);
  if (put == nullptr || accept == nullptr || put->peer != accept->peer) return false;
  const auto peer = entry().members->to_world(put->peer);
  if (peer == context_->identity.self) return false;
  context_->send(context_->link_to(peer), exchange_request{begin(*put), begin(*accept)});
  return true;
}

void collective_actor_state::apply_one(const collectives::put& effect) {
  const auto peer = entry().members->to_world(effect.peer);
  if (peer == context_->identity.self)
    put_to_self(begin(effect));
  else
    context_->send(context_->link_to(peer), begin(effect));
}

void collective_actor_state::apply_one(const collectives::accept& effect) {
  const auto peer = entry().members->to_world(effect.peer);
  const auto kind = entry().work->request().signature.kind;
  if (kind == operation_kind::wait_notifications) return await_notifications(peer);
  if (peer == context_->identity.self) return accept_from_self(begin(effect));
  if (kind == operation_kind::get) return fetch_from(peer, begin(effect));
  context_->send(context_->link_to(peer), begin(effect));
}

void collective_actor_state::apply_one(const collectives::combine& effect) {
  byte_job job{.rule = rule_, .owner = this, .token = effect.token};
  job.rule.scale_left = effect.scale_left;
  job.rule.scale_right = effect.scale_right;
  job.rule.divide = effect.divide;
  job.target = context_->buffers.resolve(effect.target);
  job.left = context_->buffers.resolve(effect.left);
  job.right = context_->buffers.resolve(effect.right);
  job.count = effect.target.bytes / size_of(rule_.type);
  move(job);
}

void collective_actor_state::apply_one(const collectives::copy& effect) {
  byte_job job{.rule = rule_, .owner = this, .token = effect.token};
  job.rule.scale_left = effect.scale;
  job.rule.divide = effect.divide;
  job.target = context_->buffers.resolve(effect.target);
  job.right = context_->buffers.resolve(effect.source);
  job.count = effect.target.bytes / size_of(rule_.type);
  move(job);
}

void collective_actor_state::move(const byte_job& job) {
  TROUPE_ASSERT(job.target != nullptr || job.count == 0);
  if (job.count * size_of(job.rule.type) > byte_mover::inline_bytes_max) {
    ++byte_jobs_;
    context_->mover.add(job);
    return;
  }
  byte_mover::run(job);
  moved_.push_back(job.token);
}

void collective_actor_state::apply_one(const collectives::finish&) {
  end(nullptr);
}

void collective_actor_state::on_bytes_moved(std::uint32_t token) {
  context_->send(collective_actor{self_}, bytes_moved{slot_, token});
}

void collective_actor_state::on_transfer(const transfer_ended& message) {
  auto& e = entry();
  const auto found = std::find_if(e.open.begin(), e.open.end(), [&](const auto& t) {
    return t.peer == message.peer && t.step == message.step && t.is_put == message.was_put;
  });
  if (found == e.open.end()) return;
  e.open.erase(found);
  --(message.was_put ? e.trace.record.open_puts : e.trace.record.open_accepts);
  if (stopping_) {
    end_if_quiet();
    return;
  }
  if (message.failed.code == errc::aborted) {
    // A view change stops it: this member hears of that, too.
    if (e.promise) return;
    // The peer ended the operation early. The reason follows as a failure notice to the rank, which
    // stops us with it; the watchdog ends the wait if it does not come.
    e.gave_up = message.peer;
    e.deadline = std::min(e.deadline, saturating_add(context_->now(), reason_patience));
    return;
  }
  if (message.failed.code != errc::ok) {
    stop(std::make_shared<failure>(transfer_failure(message)));
    return;
  }
  step(e.trace, transfer_finished{}, context_->now());
  const auto peer = *e.members->from_world(message.peer);
  const auto& call = e.work->request();
  if (call.signature.kind == operation_kind::put && call.window.notifies &&
      message.peer == context_->identity.self)
    context_->send(e.owner, window_written{call.window.number, message.peer});
  if (message.was_put)
    drive(collectives::put_finished{peer, message.step});
  else
    drive(collectives::accept_finished{peer, message.step});
}

failure collective_actor_state::transfer_failure(const transfer_ended& message) const {
  const auto& e = *context_->operations.find(slot_);
  const auto member = e.members->from_world(message.peer).value_or(no_rank);
  error what = message.failed;
  what.peer = member;
  const auto& ours = e.work->request().signature;
  if (what.code == errc::mismatch)
    return {what, describe_mismatch(e.work->request(), e.number, message.theirs,
                                    {e.self, member, message.was_put})};
  const auto dead = context_->dead.find(message.peer);
  if (dead != context_->dead.end()) return {what, dead->second->message};
  return {what, to_string(ours) + " needs " + context_->describe(message.peer) + ": " +
                    std::string(explain(what.code))};
}

void collective_actor_state::stop(std::shared_ptr<const failure> why) {
  if (stopping_) return;
  stopping_ = std::move(why);
  complete_ = state_ && collectives::holds_result(*state_);
  entry().stopping = true;
  forget_moved();
  context_->mover.cancel(*this);
  auto& e = entry();
  look_at_waits(e, context_->now());
  cancelling_ = touched_;
  context_->windows.forget(slot_);
  context_->to_self.cancel(e.communicator, e.epoch, e.number);
  std::erase_if(e.open, [&](const auto& t) { return t.peer == context_->identity.self; });
  // Buffers may go back to the trainer only when no lane reads or writes them any more.
  // Not urgent: the cancellation must not overtake a put or accept of ours in the link's mailbox.
  for (const auto peer : touched_)
    context_->send(context_->link_to(peer),
                   cancel_request{e.communicator, e.epoch, e.number, slot_});
  end_if_quiet();
}

void collective_actor_state::on_cancelled(rank peer) {
  std::erase(cancelling_, peer);
  end_if_quiet();
}

/// A stopped operation ends when every link forgot it and no lane reads a source of it.
void collective_actor_state::end_if_quiet() {
  if (!stopping_ || !cancelling_.empty()) return;
  const auto& open = entry().open;
  if (std::any_of(open.begin(), open.end(), [](const auto& t) { return t.is_put; })) return;
  end(stopping_);
}

void collective_actor_state::end(std::shared_ptr<const failure> why) {
  if (entry().promise)
    return end_attempt({.slot = slot_,
                        .how = why ? promise_end::stopped : promise_end::confirmed,
                        .complete = complete_,
                        .why = std::move(why)});
  running_ = false;
  stopping_.reset();
  state_.reset();
  forget_moved();
  close_buffers();
  auto& e = entry();
  e.ended = true;
  context_->drive(turn_ended{slot_});
  note_end(*context_, slot_, why.get());
  if (why)
    e.work->finish(*why);
  else
    e.work->finish();
  context_->send(e.owner, collective_ended{slot_, std::move(why)});
}

collective_actor spawn_collective(endpoint_context& context) {
  return spawn_actor<collective_actor, collective_actor_state>(context);
}

}  // namespace troupe::actors
