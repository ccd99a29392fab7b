#include "actors/rank/member_epochs.hpp"

#include <algorithm>
#include <utility>

#include "actors/qp_group/qp_group_messages.hpp"
#include "net/membership/membership_wire.hpp"

namespace troupe::actors {

/// One timer of the view change.
class member_epochs::alarm final : public timer_owner {
 public:
  alarm(member_epochs& owner, net::membership_timer which)
      : owner_(owner), which_(which), id_(owner.context_.timers.create(*this)) {}
  ~alarm() override { owner_.context_.timers.destroy(id_); }

  void arm(instant deadline, std::uint32_t generation) {
    owner_.context_.timers.arm(id_, deadline, generation);
  }

  void on_timer(std::uint64_t generation) override {
    owner_.drive(net::membership_event{
        net::membership_timer_fired{which_, static_cast<std::uint32_t>(generation)}});
  }

 private:
  member_epochs& owner_;
  const net::membership_timer which_;
  const timer_queue::timer_id id_;
};

/// Shows the token again while nobody answers.
class member_epochs::knocking final : public timer_owner {
 public:
  explicit knocking(member_epochs& owner)
      : owner_(owner), id_(owner.context_.timers.create(*this)) {
    arm();
  }
  ~knocking() override { owner_.context_.timers.destroy(id_); }

  void on_timer(std::uint64_t) override {
    if (owner_.state_.membership.phase != net::membership_phase::joining) return;
    arm();
    owner_.drive(net::membership_event{net::join_retried{}});
  }

 private:
  void arm() {
    // Chosen: a view change takes a few round trips; asking again costs one frame.
    constexpr duration pause = std::chrono::milliseconds(50);
    owner_.context_.timers.arm(id_, saturating_add(owner_.context_.now(), pause), 0);
  }

  member_epochs& owner_;
  const timer_queue::timer_id id_;
};

namespace {

net::membership_options options_of(const config::fault_tolerance_options& from) {
  return {.patience = from.patience, .succession = from.succession, .decision = from.decision};
}

}  // namespace

member_epochs::member_epochs(endpoint_context& context, epoch_host& host, communicator_id id,
                             rank self, const membership& members)
    : context_(context), host_(host) {
  auto first = net::first_epoch(members.size());
  for (std::uint32_t r = 0; r < members.size(); ++r) {
    worlds_[{r}] = members.to_world(rank{r});
    first.processes[r] = worlds_[{r}].value;
  }
  state_.membership = net::make_member(id, net::member_id{self.value}, first,
                                       options_of(context.options.fault_tolerance));
  state_.has_others = true;
  for (std::size_t i = 0; i < alarms_.size(); ++i)
    alarms_[i] = std::make_unique<alarm>(*this, static_cast<net::membership_timer>(i));
}

void member_epochs::come_in(communicator_id id, std::uint64_t token, rank contact) {
  state_.membership = net::make_joiner(id, token, options_of(context_.options.fault_tolerance));
  worlds_.clear();
  contact_ = contact;
  knocks_ = std::make_unique<knocking>(*this);
  drive(net::membership_event{net::join_retried{}});
}

member_epochs::~member_epochs() {
  // Whoever goes without a word costs the others a time-out.
  driving_ = true;
  epoch_effects effects;
  step(state_, net::membership_event{net::leave_wanted{errc::aborted}}, context_.now(), effects);
  for (const auto& effect : effects) {
    const auto* frame = std::get_if<net::send_membership>(&effect);
    // No link is made for it: the endpoint may be about to end.
    if (frame != nullptr && context_.links.contains(worlds_.at(frame->to).value)) apply_one(*frame);
  }
}

void member_epochs::drive(epoch_event event) {
  waiting_.push_back(std::move(event));
  if (std::exchange(driving_, true)) return;
  while (!waiting_.empty()) {
    const auto next = std::move(waiting_.front());
    waiting_.pop_front();
    epoch_effects effects;
    step(state_, next, context_.now(), effects);
    for (const auto& effect : effects)
      apply(effect);
  }
  driving_ = false;
  publish();
}

void member_epochs::apply(const epoch_effect& effect) {
  std::visit([this](const auto& e) { apply_one(e); }, effect);
}

void member_epochs::hear(rank world, const std::vector<std::byte>& bytes) {
  auto frame = net::decode_membership(bytes);
  if (!frame) {
    context_.counters.foreign_frames.add(1);
    return;
  }
  auto from = net::no_member;
  for (const auto& [name, process] : worlds_)
    if (process == world) from = name;
  // Who comes in from outside knows nobody's name yet, and whom it asked proved to be of the job.
  if (state_.membership.phase == net::membership_phase::joining) from = frame->sender;
  net::membership_frame_received heard{from, {}};
  heard.frame = std::move(*frame);
  drive(net::membership_event(heard));
}

void member_epochs::suspect(rank world) {
  for (const auto& [name, process] : worlds_)
    if (process == world) drive(net::membership_event{net::member_suspected{name}});
}

void member_epochs::prove_ended(rank world) {
  for (const auto& [name, process] : worlds_)
    if (process == world) drive(net::membership_event{net::member_ended{name}});
}

net::member_id member_epochs::name_of(rank member) const {
  const auto& members = state_.membership.current.members;
  return to_index(member) < members.size() ? members[to_index(member)] : net::no_member;
}

std::shared_ptr<const seated_epoch> member_epochs::seat() const {
  const auto& current = state_.membership.current;
  auto out = std::make_shared<seated_epoch>();
  out->epoch = current.number;
  const auto& decided = current.decided;
  out->first_operation.value = decided.completed_through + (decided.failed != errc::ok ? 2u : 1u);
  std::vector<rank> processes;
  for (const auto name : current.members) {
    if (name == state_.membership.self)
      out->self = rank{static_cast<std::uint32_t>(processes.size())};
    processes.push_back(worlds_.at(name));
    out->names.push_back(name.value);
  }
  out->members = std::make_shared<const membership>(membership::of(std::move(processes)));
  return out;
}

void member_epochs::apply_one(const net::send_membership& effect) {
  const auto found = worlds_.find(effect.to);
  if (found != worlds_.end()) send(found->second, effect.frame);
}

void member_epochs::apply_one(const net::send_to_joiner& effect) {
  send(rank{net::process_of(effect.token)}, effect.frame);
}

void member_epochs::apply_one(const net::send_join& effect) {
  send(contact_, effect.frame);
}

void member_epochs::apply_one(const net::enter_epoch& effect) {
  const auto& record = effect.record;
  for (std::size_t i = 0; i < record.members.size(); ++i)
    worlds_[record.members[i]] = rank{record.processes[i]};
  host_.do_enter(seat());
}

void member_epochs::apply_one(const net::arm_membership_timer& effect) {
  alarms_[static_cast<std::size_t>(effect.timer)]->arm(effect.deadline, effect.generation);
}

void member_epochs::send(rank world, const net::membership_frame& frame) {
  auto bytes = std::make_shared<std::vector<std::byte>>();
  net::encode(frame, *bytes);
  context_.send(context_.link_to(world), frame_request{std::move(bytes)});
}

void member_epochs::publish() {
  const auto& now = state_.membership.counters;
  auto& out = context_.counters;
  out.view_changes.add(now.view_changes - published_.view_changes);
  out.foreign_frames.add(now.foreign_frames - published_.foreign_frames);
  out.stale_frames.add(now.stale_frames - published_.stale_frames);
  published_ = now;
}

}  // namespace troupe::actors
