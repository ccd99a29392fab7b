#include <string>
#include <utility>

#include "actors/collective/collective_actor.hpp"
#include "actors/endpoint/operation_end.hpp"
#include "actors/rank/rank_actor.hpp"

// The part of the rank actor that a fault-tolerant communicator adds.
namespace troupe::actors {

rank_actor_state::~rank_actor_state() {
  if (spare_) context_->scratch.give_back(*spare_);
}

void rank_actor_state::drive_epochs(epoch_event event) {
  epochs_->drive(std::move(event));
}

// -- what the epochs ask for ----------------------------------------------------------------------

void rank_actor_state::do_start(const start_promised& effect) {
  const auto slot = (*slots_)[effect.slot];
  auto& entry = *context_->operations.find(slot);
  if (effect.again) context_->counters.operations_repeated.add(1);
  entry.number = {promised_bit | effect.number.value};
  entry.epoch = epoch_;
  entry.members = members_;
  entry.self = state_->self;
  entry.deadline = saturating_add(context_->now(), entry.work->request().timeout);
  entry.stopping = entry.ended = false;
  entry.gave_up = no_rank;
  entry.open.clear();
  // It is the only one of its kind that runs, and all members run it.
  entry.may_overdraw_scratch = true;
  entry.work->set_number(effect.number);
  auto& record = entry.trace.record;
  record.number = entry.number;
  record.epoch = epoch_;
  record.self = entry.self;
  record.ranks = members_->size();
  record.open_puts = record.open_accepts = 0;
  context_->recorder.trace.publish(slot.index, record);
  if (auto& saved = entry.promise->saved_block; !saved && entry.work->request().in_place)
    saved = std::exchange(spare_, std::nullopt);
  entry.runner = take_runner();
  context_->wake_watchdog();
  context_->send(entry.runner, collective_start{slot});
}

void rank_actor_state::do_stop(const stop_promised& effect) {
  const auto slot = (*slots_)[effect.slot];
  const auto* entry = context_->operations.find(slot);
  context_->send_urgent(
      entry->runner, collective_stop{slot, std::make_shared<const failure>(
                                               errc::epoch_changed, "stopped by a view change")});
}

void rank_actor_state::do_stop_others() {
  context_->windows.close_all(id_);
  decision_asked_ = true;  // what ends now is no reason for another decision
  drive(epoch_ending{{errc::epoch_changed, "epoch " + std::to_string(epoch_.value) +
                                               " of the communicator is over; call adopt_epoch, "
                                               "then go on among its members"}});
}

void rank_actor_state::do_restore(const restore_promised& effect) {
  const auto slot = (*slots_)[effect.slot];
  auto& entry = *context_->operations.find(slot);
  // Nothing was written to the buffer before its input was saved, and out of place never is.
  if (!entry.promise->saved) {
    drive_epochs(input_restored{effect.slot});
    return;
  }
  entry.runner = take_runner();
  context_->send(entry.runner, collective_restore{slot});
}

void rank_actor_state::do_finish(const finish_promised& effect) {
  const auto slot = (*slots_)[effect.slot];
  auto& entry = *context_->operations.find(slot);
  std::vector<rank> contributors;
  contributors.reserve(effect.contributors.size());
  for (const auto name : effect.contributors)
    contributors.push_back(rank{name.value});
  entry.work->set_decided(effect.epoch, std::move(contributors));
  note_end(*context_, slot, nullptr);
  end_promise(entry);
  entry.work->finish();
  close_entry(slot);
  finalize_if_idle();
}

void rank_actor_state::do_fail(const fail_promised& effect) {
  const auto slot = (*slots_)[effect.slot];
  auto& entry = *context_->operations.find(slot);
  const auto& own = entry.promise->why;
  const auto& request = entry.work->request();
  auto why = own && own->code() == effect.why
                 ? *own
                 : failure{effect.why, to_string(request.signature) + " (operation " +
                                           std::to_string(effect.number.value) +
                                           "): " + std::string(explain(effect.why)) +
                                           "; its input is intact"};
  note_end(*context_, slot, &why);
  end_promise(entry);
  entry.work->finish(std::move(why));
  close_entry(slot);
  finalize_if_idle();
}

void rank_actor_state::end_promise(operation_entry& entry) {
  if (auto& saved = entry.promise->saved_block) {
    if (spare_ && spare_->view.bytes > saved->view.bytes) std::swap(*spare_, *saved);
    if (spare_) context_->scratch.give_back(*spare_);
    spare_ = saved;
  }
  entry.promise.reset();
  context_->wake_scratch_waiters();
}

void rank_actor_state::do_enter(const std::shared_ptr<const seated_epoch>& next) {
  const auto before = members_->size();
  if (next->members->size() < before)
    context_->counters.members_left_out.add(before - next->members->size());
  epoch_ = next->epoch;
  members_ = next->members;
  const bool finalizing = state_->finalizing;
  state_.emplace(context_->ledger.of(memory_purpose::histories));
  state_->self = next->self;
  state_->size = members_->size();
  state_->finalizing = finalizing;
  decision_asked_ = failure_noted_ = false;
  progress_->set_epoch(epoch_);
  context_->recorder.board.enter(id_, next->self, members_);
  context_->forget_lanes(id_);
  for (const auto& [world, link] : context_->links)
    context_->send(link, epoch_raised{id_, epoch_});
  board_->put_up(next);
  if (!coming_in_) return;
  // Nobody knows yet where this rank is: it links to all of them.
  for (std::uint32_t r = 0; r < members_->size(); ++r)
    if (const auto world = members_->to_world(rank{r}); world != context_->identity.self)
      context_->link_to(world);
  answer_coming_in(errc::ok);
}

void rank_actor_state::answer_coming_in(errc why) {
  const auto answer = std::exchange(coming_in_, nullptr);
  if (!answer) return;
  if (why != errc::ok)
    return answer->answer(
        fail(why, "coming in: " + std::string(explain(why)) + "; ask for another invitation"));
  answer->answer(communicator_seat{.member = rank_actor{self_},
                                   .id = id_,
                                   .tolerant = true,
                                   .first = board_->newest(),
                                   .board = board_,
                                   .progress = progress_});
}

void rank_actor_state::do_leave(errc why) {
  decision_asked_ = true;
  board_->leave(why);
  answer_coming_in(why);
  context_->windows.close_all(id_);
  if (why == errc::finalized) return;
  drive(epoch_ending{{why, "the communicator: " + std::string(explain(why))}});
}

// -- messages -------------------------------------------------------------------------------------

void rank_actor_state::on_promise_ended(const promise_ended& message) {
  auto* entry = context_->operations.find(message.slot);
  if (entry == nullptr || !entry->promise) return;
  give_back(std::exchange(entry->runner, nullptr));
  entry->stopping = false;
  const auto slot = std::uint32_t{message.slot.index};
  switch (message.how) {
    case promise_end::confirmed: drive_epochs(promised_confirmed{slot}); break;
    case promise_end::restored: drive_epochs(input_restored{slot}); break;
    case promise_end::stopped: {
      promised_stopped event{.slot = slot, .complete = message.complete};
      if (message.why && message.why->code() != errc::epoch_changed) {
        event.why = message.why->code();
        event.peer = epochs_->name_of(message.why->what.peer);
        entry->promise->why = message.why;
      }
      drive_epochs(event);
      break;
    }
  }
}

void rank_actor_state::on_failure_noticed(const failure_noticed& message) {
  // What ended with its epoch is no news for the next one; an abort is meant for the communicator.
  const bool is_past = message.epoch && *message.epoch != epoch_;
  if (epochs_ && is_past && message.why->code() != errc::aborted) return;
  drive(failure_heard{*message.why});
}

void rank_actor_state::on_reconfigure(const reconfigure_requested& message) {
  if (!epochs_) {
    message.answer->answer(fail(errc::not_available, "the communicator is not fault-tolerant"));
    return;
  }
  net::reconfigure_wanted event;
  for (const auto name : *message.without)
    net::insert(event.without, net::member_id{name});
  drive_epochs(net::membership_event{std::move(event)});
  message.answer->answer(done_value{});
}

void rank_actor_state::on_invitation_requested(const invitation_requested& message) {
  const auto& who = context_->identity;
  if (!epochs_ || context_->network.address().port == 0) {
    message.answer->answer(fail(errc::not_available,
                                epochs_ ? "invite: a job that began with one rank cannot be reached"
                                        : "the communicator is not fault-tolerant"));
    return;
  }
  const auto newcomer = net::first_newcomer | static_cast<std::uint32_t>(context_->tokens.next());
  const invitation one{
      .token = std::uint64_t{newcomer} << 32 | static_cast<std::uint32_t>(context_->tokens.next()),
      .contact = who.self,
      .address = context_->network.address(),
      .communicator = id_,
      .world_size = who.world_size,
      .job = who.job_hash,
      .agreed = context_->book_owner->digest};
  drive_epochs(net::membership_event{net::token_issued{one.token}});
  message.answer->answer(to_text(one));
}

/// Promised operations that were called before end first, however they do.
void rank_actor_state::finalize_if_idle() {
  if (finalizers_.empty() || (epochs_ && epochs_->has_calls())) return;
  drive(finalize_called{});
}

}  // namespace troupe::actors
