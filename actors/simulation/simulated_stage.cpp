#include "actors/simulation/simulated_stage.hpp"

#include <algorithm>
#include <array>

#include "actors/endpoint/bootstrap_setup.hpp"
#include "actors/endpoint/endpoint_actor.hpp"
#include "runtime/assert.hpp"

namespace troupe::actors {

/// A handle's way into a simulated endpoint: time passes only while the handle waits.
class simulated_stage::door final : public endpoint_door {
 public:
  door(simulated_stage& stage, simulated_rank& one) : stage_(stage), rank_(one) {}

  endpoint_actor actor() const override { return rank_.actor; }
  const config::options& options() const override { return rank_.options; }
  const operation_counters& operation_statistics() const override { return rank_.counters; }
  bool forked() const override { return false; }
  const memory_ledger& ledger() const override { return *rank_.ledger; }
  rank_dump dump() const override {
    const auto now = stage_.now();
    auto out = rank_.context->recorder.take(rank_.home->counters(), now);
    out.self = rank_.context->identity.self;
    out.world_size = rank_.context->identity.world_size;
    out.taken_at_unix_ns = to_nanoseconds(now);
    out.cause = "call";
    return out;
  }
  const std::shared_ptr<shared_slab>& works() const override { return rank_.works; }
  void drive_until(const std::function<bool()>& done, duration limit) override {
    stage_.run_until(done, limit);
  }
  void start_now() override {}  // what was enqueued happens when the stage runs
  std::uint32_t next_communicator_id() override { return next_id_; }
  void raise_next_communicator_id(std::uint32_t above) override {
    next_id_ = std::max(next_id_, above);
  }

 private:
  simulated_stage& stage_;
  simulated_rank& rank_;
  std::uint32_t next_id_ = 2;
};

namespace {

net::fabric_options seeded(net::fabric_options options, std::uint64_t seed) {
  options.seed = seed;
  return options;
}

}  // namespace

simulated_stage::simulated_stage(const stage_options& options)
    : options_(options),
      fabric_(seeded(options.fabric, options.seed)),
      choices_(random_stream(options.seed).fork(0x57a6e)),
      in_ready_(options.rank_count, false),
      deadline_of_(options.rank_count, never) {
  config_.set("scheduler.policy", caf::atom("testing"));
  system_ = std::make_unique<caf::actor_system>(config_);
  coordinator_ = &dynamic_cast<caf::scheduler::test_coordinator&>(system_->scheduler());
  for (std::uint32_t r = 0; r < options.rank_count; ++r)
    open(r, {rank{r}, options.rank_count, net::fabric::address_of(0), 0});
}

void simulated_stage::open(std::uint32_t number, endpoint_identity who) {
  auto one = std::make_unique<simulated_rank>(options_.options);
  one->home = std::make_unique<simulated_worker>(*system_, fabric_, number);
  one->home->set_trace(&trace_);
  one->network = fabric_.make_network(number, one->buffers);
  who.where = code_of(options_.find_place ? options_.find_place(rank{number})
                                          : place{.host = "rank-" + std::to_string(number)});
  one->context = std::make_unique<endpoint_context>(one->options, who, *one->home, one->buffers,
                                                    *one->network, one->counters, *one->ledger);
  std::array<std::byte, 32> entropy{};
  auto bits = random_stream(options_.seed).fork(number + 1);
  for (auto& byte : entropy)
    byte = static_cast<std::byte>(bits.next());
  one->actor = spawn_endpoint(*one->context, make_bootstrap_options(one->options, who), entropy);
  one->way_in = std::make_shared<door>(*this, *one);
  one->joined = std::make_shared<ticket<communicator_seat>>();
  ranks_.push_back(std::move(one));
  touched_.push_back(number);
}

outcome<void> simulated_stage::add_newcomer(const std::string& invited, duration limit) {
  const auto one = parse_invitation(invited);
  if (!one) return fail(one.error());
  const auto number = size();
  in_ready_.push_back(false);
  deadline_of_.push_back(never);
  open(number, {one->newcomer(), one->world_size, one->address, one->job, *one});
  auto& made = *ranks_[number];
  post(nullptr, made.actor, join_requested{made.joined});
  if (!run_until([&] { return made.joined->answered(); }, limit))
    return fail(errc::timed_out, "the newcomer was not let in within the virtual time limit");
  auto& seat = *made.joined->wait(duration::zero());
  if (!seat) return fail(seat.error());
  made.world = std::make_unique<communicator_handle>(made.way_in, *seat);
  return {};
}

simulated_stage::~simulated_stage() {
  // Orderly where it can be: every endpoint leaves, then whatever is left of its actors ends.
  for (auto& one : ranks_)
    one->world.reset();
  std::vector<ticket_handle<done_value>> left;
  for (auto& one : ranks_) {
    one->home->crashed = false;
    one->home->paused = false;
    left.push_back(std::make_shared<ticket<done_value>>());
    post(nullptr, one->actor, shut_down{left.back()});
  }
  run_until(
      [&] {
        return std::all_of(left.begin(), left.end(), [](const auto& t) { return t->answered(); });
      },
      std::chrono::seconds(10));
  for (auto& one : ranks_)
    one->actor = nullptr;
  while (coordinator_->try_run_once()) {
  }
  system_.reset();
  strangers_.clear();
  for (auto& one : ranks_)
    one->context.reset();
}

void simulated_stage::begin_join(rank r) {
  auto& one = *ranks_[to_index(r)];
  post(nullptr, one.actor, join_requested{one.joined});
}

outcome<void> simulated_stage::finish_join(rank r) {
  auto& one = *ranks_[to_index(r)];
  auto& seat = *one.joined->wait(duration::zero());
  if (!seat) return fail(seat.error());
  one.world = std::make_unique<communicator_handle>(one.way_in, *seat);
  return {};
}

outcome<void> simulated_stage::join_all(duration limit) {
  for (std::uint32_t r = 0; r < size(); ++r)
    begin_join(rank{r});
  const bool done = run_until(
      [&] {
        return std::all_of(ranks_.begin(), ranks_.end(),
                           [](const auto& one) { return one->joined->answered(); });
      },
      limit);
  if (!done) return fail(errc::timed_out, "not every rank joined within the virtual time limit");
  for (std::uint32_t r = 0; r < size(); ++r)
    if (auto joined = finish_join(rank{r}); !joined) return joined;
  return {};
}

outcome<std::vector<std::unique_ptr<communicator>>> simulated_stage::make_communicator(
    communicator_id id, const std::vector<rank>& members, duration limit, bool tolerant) {
  const auto who = std::make_shared<const membership>(membership::of(members));
  std::vector<ticket_handle<communicator_seat>> seats;
  for (std::uint32_t self = 0; self < members.size(); ++self) {
    seats.push_back(std::make_shared<ticket<communicator_seat>>());
    post(nullptr, ranks_[to_index(members[self])]->actor,
         communicator_requested{id, rank{self}, who, tolerant, seats.back()});
  }
  const bool done = run_until(
      [&] {
        return std::all_of(seats.begin(), seats.end(), [](const auto& s) { return s->answered(); });
      },
      limit);
  if (!done) return fail(errc::timed_out, "not every member made its part of the communicator");
  std::vector<std::unique_ptr<communicator>> out;
  for (std::uint32_t self = 0; self < members.size(); ++self) {
    auto& seat = *seats[self]->wait(duration::zero());
    if (!seat) return fail(seat.error());
    out.push_back(std::make_unique<communicator_handle>(ranks_[to_index(members[self])]->way_in,
                                                        std::move(*seat)));
  }
  return out;
}

void simulated_stage::tell_end(rank r) {
  for (std::uint32_t number = 0; number < ranks_.size(); ++number)
    if (number != r.value && !ranks_[number]->home->crashed)
      post(nullptr, ranks_[number]->actor,
           process_ended{ranks_[to_index(r)]->context->identity.self});
}

void simulated_stage::crash(rank r, net::crash_kind how) {
  fabric_.crash(r.value, how);
  ranks_[to_index(r)]->home->crashed = true;
}

bool simulated_stage::run_until(const std::function<bool()>& done, duration limit) {
  const instant end = saturating_add(now(), limit);
  while (!done())
    if (!run_one(end)) return done();
  return true;
}

bool simulated_stage::run_one(instant limit) {
  return run_ready() || advance(limit);
}

bool simulated_stage::run_moment(const std::function<bool()>& interrupted) {
  while (!interrupted())
    if (!run_ready()) return false;
  return true;
}

bool simulated_stage::go_to_next_moment(instant limit) {
  if (advance(limit)) return true;
  fabric_.run_until(limit);
  return false;
}

bool simulated_stage::run_ready() {
  collect_ready();
  const auto jobs = coordinator_->jobs.size();
  const auto choices = jobs + ready_.size();
  if (choices == 0) return false;
  const auto pick = choices_.below(choices);
  if (pick < jobs) {
    std::swap(coordinator_->jobs.front(), coordinator_->jobs[pick]);
    coordinator_->try_run_once();
    return true;
  }
  const auto at = static_cast<std::size_t>(pick - jobs);
  const auto number = ready_[at];
  ready_[at] = ready_.back();
  ready_.pop_back();
  in_ready_[number] = false;
  poll(number);
  return true;
}

void simulated_stage::poll(std::uint32_t number) {
  if (number < ranks_.size())
    ranks_[number]->home->poll();
  else
    poll_stranger(*strangers_[number - ranks_.size()]);
}

void simulated_stage::pause(rank r) {
  fabric_.pause(r.value);
  ranks_[to_index(r)]->home->paused = true;
}

void simulated_stage::resume(rank r) {
  auto& home = *ranks_[to_index(r)]->home;
  home.paused = false;
  home.touch();
  deadline_of_[to_index(r)] = never;
  fabric_.resume(r.value);
}

// -- strangers ------------------------------------------------------------------------------------

void simulated_stage::visit(rank r, std::vector<std::byte> words) {
  const auto number = static_cast<std::uint32_t>(ranks_.size() + strangers_.size());
  auto one = std::make_unique<stranger>();
  one->words = std::move(words);
  one->network = fabric_.make_network(number, one->buffers);
  one->network->dial(net::fabric::address_of(r.value), 0, never);
  strangers_.push_back(std::move(one));
  in_ready_.push_back(false);
  deadline_of_.push_back(never);
}

void simulated_stage::poll_stranger(stranger& one) {
  std::array<network_event, 4> events;
  const auto count = one.network->poll(now(), events);
  for (std::size_t i = 0; i < count; ++i) {
    if (events[i].opened == nullptr) continue;
    // Full or lost: then nobody hears it.
    (void)events[i].opened->post_message(one.words);
    one.lanes.push_back(std::move(events[i].opened));
  }
}

void simulated_stage::collect_ready() {
  auto add = [this](std::uint32_t number) {
    const bool silent = number < ranks_.size() && ranks_[number]->home->is_silent();
    if (in_ready_[number] || silent) return;
    in_ready_[number] = true;
    ready_.push_back(number);
  };
  std::uint32_t number = 0;
  while (fabric_.take_ready(number))
    add(number);
  while (!deadlines_.empty() && deadlines_.top().first <= now()) {
    const auto [at, due] = deadlines_.top();
    deadlines_.pop();
    if (deadline_of_[due] != at) continue;
    deadline_of_[due] = never;
    add(due);
  }
}

bool simulated_stage::advance(instant limit) {
  for (std::uint32_t number = 0; number < ranks_.size(); ++number) {
    if (!ranks_[number]->home->take_touched()) continue;
    const auto deadline = std::max(ranks_[number]->home->next_deadline(), now());
    if (deadline == deadline_of_[number] || deadline == never) continue;
    deadline_of_[number] = deadline;
    deadlines_.push({deadline, number});
  }
  while (!deadlines_.empty() && deadline_of_[deadlines_.top().second] != deadlines_.top().first)
    deadlines_.pop();
  const auto deadline = deadlines_.empty() ? never : deadlines_.top().first;
  const auto next = std::min(fabric_.next_event(), deadline);
  if (next > limit || next == never) return false;
  if (next > now() || fabric_.next_event() <= next) fabric_.run_until(next);
  return true;
}

std::uint64_t simulated_stage::messages_total() const {
  std::uint64_t sum = 0;
  for (const auto& one : ranks_)
    sum += one->home->counters().messages_total();
  return sum;
}

std::uint64_t simulated_stage::trace_hash() const {
  return trace_ ^ fabric_.trace_hash();
}

}  // namespace troupe::actors
