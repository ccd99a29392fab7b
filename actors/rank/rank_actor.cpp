#include "actors/rank/rank_actor.hpp"

#include <exception>
#include <string>

#include "actors/collective/collective_actor.hpp"
#include "actors/endpoint/spawn_actor.hpp"

namespace troupe::actors {

namespace {

// Runners kept for the next operations. Chosen: more than a trainer overlaps; each costs 2 KiB.
constexpr std::size_t idle_runner_count = 16;

}  // namespace

void rank_actor_state::init(rank_actor::pointer self, endpoint_context& context,
                            const communicator_seat& seat, const std::optional<coming_in>& coming) {
  self_ = self;
  context_ = &context;
  progress_ = seat.progress;
  id_ = seat.id;
  epoch_ = seat.first->epoch;
  members_ = seat.first->members;
  board_ = seat.board;
  state_.emplace(context.ledger.of(memory_purpose::histories));
  slots_.emplace(&context.control);
  state_->self = seat.first->self;
  state_->size = members_->size();
  if (seat.tolerant) epochs_.emplace(context, *this, id_, seat.first->self, *members_);
  if (coming) {
    coming_in_ = coming->answer;
    epochs_->come_in(id_, coming->token, coming->contact);
  }
  self->set_down_handler([this](caf::down_msg& message) { on_runner_down(message); });
}

template <class Handler>
void rank_actor_state::guarded(Handler handler) {
  // Supervision: a rank that fails restarts in place, its communicator failed. Its mailbox, and so
  // every call on its way, survives: no work is left without an end.
  try {
    context_->on_message(actor_kind::rank, self_->mailbox().size());
    handler();
  } catch (const std::exception& broken) {
    context_->home.counters().restarted(actor_kind::rank);
    drive(failure_heard{{error{errc::internal_failure, 0, state_->self},
                         "the rank actor failed: " + std::string(broken.what())}});
  }
}

rank_actor::behavior_type rank_actor_state::make_behavior() {
  return {
      [this](const operation_requested& message) {
        pending_ = message.work;
        guarded([&] { on_requested(message); });
        if (pending_) pending_->finish(state_->sticky);
        pending_.reset();
      },
      [this](const collective_ended& message) { guarded([&] { on_ended(message); }); },
      [this](const failure_noticed& message) { guarded([&] { on_failure_noticed(message); }); },
      [this](const transfer_unmatched& message) {
        guarded([&] {
          if (const auto member = members_->from_world(message.peer))
            drive(unmatched_heard{*member, message.operation, message.theirs});
        });
      },
      [this](const peer_ended& message) { guarded([&] { on_peer_ended(message); }); },
      [this](const peer_connected& message) {
        guarded([&] {
          if (epochs_) context_->send(context_->link_to(message.peer), epoch_raised{id_, epoch_});
          if (const auto member = members_->from_world(message.peer))
            drive(member_connected{*member});
        });
      },
      [this](const abort_requested& message) {
        guarded([&] { drive(abort_called{}); });
        message.answer->answer(done_value{});
      },
      [this](const window_open_request& message) { guarded([&] { on_window_opened(message); }); },
      [this](const window_close_request& message) {
        guarded([&] { context_->windows.close({id_, message.number}); });
        message.answer->answer(done_value{});
      },
      [this](const window_written& message) { guarded([&] { on_window_written(message); }); },
      [this](const finalize_requested& message) {
        finalizers_.push_back(message.answer);
        guarded([&] { finalize_if_idle(); });
        if (state_->finalized) apply(report_finalized{});
      },
      [this](const promise_ended& message) { guarded([&] { on_promise_ended(message); }); },
      [this](const membership_heard& message) {
        guarded([&] {
          if (epochs_) epochs_->hear(message.from, *message.frame);
        });
      },
      [this](const exit_seen& message) {
        guarded([&] {
          if (epochs_) epochs_->prove_ended(message.peer);
        });
      },
      [this](const reconfigure_requested& message) { guarded([&] { on_reconfigure(message); }); },
      [this](const invitation_requested& message) {
        guarded([&] { on_invitation_requested(message); });
      }};
}

void rank_actor_state::on_window_opened(const window_open_request& message) {
  const auto key = context_->windows.open({id_, message.number}, message.base, message.bytes);
  if (key) return message.answer->answer(*key);
  message.answer->answer(fail(failure(
      key.error(), "create_window: the endpoint's table of buffers and exposures is full")));
}

void rank_actor_state::on_window_written(const window_written& message) {
  const auto slot = context_->windows.note({id_, message.number}, message.from);
  if (!slot) return;
  if (const auto* entry = context_->operations.find(*slot))
    context_->send(entry->runner, transfer_ended{.slot = *slot, .peer = message.from});
}

void rank_actor_state::on_peer_ended(const peer_ended& message) {
  const auto member = members_->from_world(message.peer);
  if (!member) return;
  failure why = *message.why;
  why.what.peer = *member;
  if (epochs_) epochs_->suspect(message.peer);
  drive(member_lost{*member, std::move(why)});
}

void rank_actor_state::drive(const rank_event& event) {
  effects_.clear();
  step(*state_, event, effects_);
  for (const auto& effect : effects_)
    apply(effect);
  note_failure();
  if (!epochs_) return;
  if (std::exchange(others_ended_, false)) drive_epochs(others_stopped{});
  const auto failed = state_->sticky.code();
  if (failed == errc::ok || std::exchange(decision_asked_, true)) return;
  if (failed == errc::aborted)
    drive_epochs(net::membership_event{net::leave_wanted{errc::aborted}});
  else
    drive_epochs(net::membership_event{net::decision_needed{}});
}

void rank_actor_state::note_failure() {
  const auto why = state_->sticky.code();
  // The end of an epoch is no failure: the communicator goes on.
  if (failure_noted_ || why == errc::ok || (epochs_ && why == errc::epoch_changed)) return;
  failure_noted_ = true;
  context_->recorder.board.note_failure(id_, state_->sticky, context_->now());
  context_->recorder.failed();
}

void rank_actor_state::apply(const rank_effect& effect) {
  std::visit([this](const auto& e) { apply_one(e); }, effect);
}

bool rank_actor_state::may_call(const operation_requested& message) {
  const auto& request = message.work->request();
  if (!epochs_ || request.is_promised) return true;
  if (request.epoch == epoch_ && epochs_->is_open()) return true;
  message.work->finish({errc::epoch_changed,
                        to_string(request.signature) + " was called in epoch " +
                            std::to_string(request.epoch.value) +
                            ", and the communicator went on; call adopt_epoch, then try again"});
  pending_.reset();
  return false;
}

void rank_actor_state::on_requested(const operation_requested& message) {
  const auto& request = message.work->request();
  if (!may_call(message)) return;
  auto& counters = context_->counters;
  counters.started[operation_counters::index(request.signature.kind)].add(1);
  const auto& control = context_->control;
  if (control.is_full()) {
    message.work->finish(
        {errc::queue_full, "messages and records of operations take " +
                               std::to_string(control.used_bytes()) + " bytes, the limit of " +
                               std::to_string(control.limit_bytes()) +
                               " of worker.control_bytes; wait for operations, or raise it"});
    pending_.reset();
    return;
  }
  const auto slot = context_->operations.open();
  if (!slot) {
    message.work->finish({errc::queue_full, "the endpoint runs as many operations as it can hold"});
    pending_.reset();
    return;
  }
  (*slots_)[slot->index] = *slot;
  open_entry(*slot, message.work);
  pending_.reset();
  context_->wake_watchdog();
  if (!request.is_promised)
    return drive(operation_called{slot->index, request.signature, request.peer});
  // Its time runs while it runs: before, it waits for others that have theirs.
  auto& entry = *context_->operations.find(*slot);
  entry.deadline = never;
  entry.promise.emplace();
  drive_epochs(promised_called{slot->index});
}

void rank_actor_state::open_entry(operation_slot slot, std::shared_ptr<work_state> work) {
  auto& entry = *context_->operations.find(slot);
  const auto& request = work->request();
  entry.work = std::move(work);
  entry.members = members_;
  entry.communicator = id_;
  entry.epoch = epoch_;
  entry.self = state_->self;
  entry.owner = rank_actor{self_};
  entry.progress = progress_;
  entry.deadline = saturating_add(context_->now(), request.timeout);
  auto& record = entry.trace.record;
  record.serial = context_->recorder.trace.next_serial();
  record.communicator = id_;
  record.epoch = epoch_;
  record.self = state_->self;
  record.peer = request.peer;
  record.signature = request.signature;
  record.ranks = members_->size();
  step(entry.trace, operation_queued{entry.deadline}, context_->now());
  entry.may_overdraw_scratch = oldest_collective() == nullptr;
}

void rank_actor_state::apply_one(const start_operation& effect) {
  auto& entry = *context_->operations.find((*slots_)[effect.slot]);
  entry.number = effect.number;
  entry.work->set_number(effect.number);
  entry.trace.record.number = effect.number;
  context_->recorder.trace.publish(static_cast<std::uint16_t>(effect.slot), entry.trace.record);
  progress_->called(effect.number, is_collective(effect.number), context_->now());
  entry.runner = take_runner();
  context_->send(entry.runner, collective_start{(*slots_)[effect.slot]});
}

void rank_actor_state::apply_one(const refuse_operation& effect) {
  const auto slot = (*slots_)[effect.slot];
  auto& entry = *context_->operations.find(slot);
  context_->counters.failed[operation_counters::index(entry.work->request().signature.kind)].add(1);
  note_refused(slot, entry, effect.why);
  entry.work->finish(effect.why);
  slots_->erase(effect.slot);
  context_->operations.close(slot);
}

/// The first call that a failed communicator refuses is remembered as the operation it would have
/// been: where ranks called different things, it may be what the failure is about.
void rank_actor_state::note_refused(operation_slot slot, operation_entry& entry,
                                    const failure& why) {
  const auto kind = entry.work->request().signature.kind;
  if (refusal_noted_ || is_one_sided(kind) || kind == operation_kind::send ||
      kind == operation_kind::receive)
    return;
  refusal_noted_ = true;
  entry.trace.record.number = {state_->last_collective.value + 1};
  step(entry.trace, operation_finished{why.code(), why.what.peer}, context_->now());
  context_->recorder.trace.retire(slot.index, entry.trace.record);
}

void rank_actor_state::apply_one(const stop_operation& effect) {
  const auto slot = (*slots_)[effect.slot];
  auto* entry = context_->operations.find(slot);
  context_->send_urgent(entry->runner,
                        collective_stop{slot, std::make_shared<failure>(effect.why)});
}

void rank_actor_state::apply_one(const spread_failure& effect) {
  const auto frame = std::make_shared<const notice_frame>(frame_of(effect.why));
  for (const auto& [world, link] : context_->links)
    if (members_->from_world(rank{world})) context_->send_urgent(link, notice_request{frame});
}

void rank_actor_state::apply_one(const tell_failure& effect) {
  context_->send(context_->link_to(members_->to_world(effect.member)),
                 notice_request{std::make_shared<const notice_frame>(frame_of(effect.why))});
}

void rank_actor_state::apply_one(const report_finalized&) {
  progress_->set_finalized();
  for (const auto& answer : finalizers_)
    answer->answer(done_value{});
  finalizers_.clear();
  if (epochs_) drive_epochs(net::membership_event{net::leave_wanted{errc::finalized}});
}

void rank_actor_state::apply_one(const report_ended&) {
  others_ended_ = true;
}

notice_frame rank_actor_state::frame_of(const failure& why) const {
  return encode({notice_kind::communicator_failed, id_, epoch_, why});
}

void rank_actor_state::on_ended(const collective_ended& message) {
  auto* entry = context_->operations.find(message.slot);
  if (entry == nullptr) return;
  give_back(std::move(entry->runner));
  close_entry(message.slot);
  drive(operation_ended{message.slot.index, message.why ? *message.why : failure{}});
  const auto* next = oldest_collective();
  if (next == nullptr) return;
  const auto oldest = (*slots_)[next->slot];
  if (auto* first = context_->operations.find(oldest)) {
    first->may_overdraw_scratch = true;
    context_->drive(oldest_named{oldest});
  }
  context_->wake_scratch_waiters();
}

void rank_actor_state::close_entry(operation_slot slot) {
  slots_->erase(slot.index);
  context_->operations.close(slot);
}

void rank_actor_state::give_back(collective_actor runner) {
  if (idle_.size() < idle_runner_count) {
    idle_.push_back(std::move(runner));
    return;
  }
  self_->demonitor(runner.address());
  stop_actor(runner);
}

/// Null if none runs. A send or receive holds no memory and no turn, and may wait for what comes
/// behind it.
const rank_state::running_operation* rank_actor_state::oldest_collective() const {
  for (const auto& one : state_->running)
    if (is_collective(one.number)) return &one;
  return nullptr;
}

void rank_actor_state::on_runner_down(const caf::down_msg& message) {
  // Supervision: a runner that fails is not restarted. A fresh one takes its operation over to
  // stop it, so that no lane keeps using buffers that go back to the trainer.
  std::erase_if(idle_, [&](const collective_actor& a) { return a.address() == message.source; });
  for (const auto& [index, slot] : *slots_) {
    auto* entry = context_->operations.find(slot);
    if (entry == nullptr || !entry->runner || entry->runner.address() != message.source) continue;
    context_->home.counters().restarted(actor_kind::collective);
    entry->runner = take_runner();
    context_->send(
        entry->runner,
        collective_stop{slot, std::make_shared<const failure>(
                                  errc::internal_failure,
                                  "the actor that ran " +
                                      to_string(entry->work->request().signature) + " failed")});
    return;
  }
}

collective_actor rank_actor_state::take_runner() {
  if (!idle_.empty()) {
    auto runner = std::move(idle_.back());
    idle_.pop_back();
    return runner;
  }
  auto runner = spawn_collective(*context_);
  self_->monitor(runner);
  return runner;
}

rank_actor spawn_rank(endpoint_context& context, const communicator_seat& seat,
                      const std::optional<coming_in>& coming) {
  return spawn_actor<rank_actor, rank_actor_state>(context, seat, coming);
}

}  // namespace troupe::actors
