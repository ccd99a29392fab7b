#include "actors/communicator/communicator_handle.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "actors/communicator/window_handle.hpp"

namespace troupe::actors {

namespace {

// Abort is local: a message to an actor of this process. The bound only guards against a worker
// that is stopped by a debugger or starved.
constexpr duration abort_patience = std::chrono::seconds(1);

// What every member of a split tells the others, as 32-bit words.
constexpr std::size_t split_words = 4;
enum split_word : std::size_t { word_kind, word_colour, word_key, word_next_id };
constexpr std::uint32_t has_colour_bit = 1, tolerant_bit = 2;

failure forked_failure() {
  return {errc::forked,
          "this process was forked after the communicator was created; create communicators in "
          "the child instead, or fork before"};
}

template <class Arguments>
const operation_options& options_of(const Arguments& arguments) {
  return arguments.options;
}
const operation_options& options_of(const operation_options& options) {
  return options;
}

/// An operation of a group that has not ended.
class deferred_operation final : public grouped_operation {
 public:
  deferred_operation(std::shared_ptr<work_state> work, rank_actor member,
                     std::shared_ptr<const std::atomic<bool>> alive,
                     std::weak_ptr<endpoint_door> door)
      : work_(std::move(work)),
        handle_(work_),
        member_(std::move(member)),
        alive_(std::move(alive)),
        door_(std::move(door)) {}

  void launch() override {
    if (!alive_->load())
      return drop({errc::aborted, "the communicator was destroyed before its group ended"});
    work_->set_launched(true);
    post(nullptr, member_, operation_requested{work_});
  }
  void start_now() override {
    if (const auto open = door_.lock()) open->start_now();
  }
  void drop(const failure& why) override { work_->finish(why); }
  const work_handle& handle() const override { return handle_; }

 private:
  std::shared_ptr<work_state> work_;
  work_handle handle_;
  rank_actor member_;
  // Shared with the communicator's handle, which clears it when it goes.
  std::shared_ptr<const std::atomic<bool>> alive_;
  std::weak_ptr<endpoint_door> door_;
};

}  // namespace

communicator_handle::communicator_handle(std::shared_ptr<endpoint_door> door,
                                         communicator_seat seat)
    : door_(std::move(door)),
      seat_(std::move(seat)),
      adopted_(seat_.first),
      timeout_(door_->options().collective.timeout.count()),
      outstanding_(seat_.progress, &seat_.progress->outstanding),
      drive_(std::make_shared<const work_state::driver>(
          [door = std::weak_ptr<endpoint_door>(door_)](const std::function<bool()>& done,
                                                       duration longest) {
            if (const auto open = door.lock()) open->drive_until(done, longest);
          })) {}

communicator_handle::~communicator_handle() {
  alive_->store(false);
  // In a child of fork the worker does not exist; the handle only lets go.
  if (door_->forked()) return;
  if (outstanding_->load() != 0) abort();
  post(nullptr, door_->actor(), communicator_dropped{seat_.id});
}

start_up_report communicator_handle::start_up() const {
  const auto& counted = door_->operation_statistics();
  return {.messages_sent = counted.bootstrap_messages_sent.get(),
          .messages_received = counted.bootstrap_messages_received.get(),
          .connections_accepted = counted.bootstrap_connections_accepted.get(),
          .connections_dialled = counted.bootstrap_connections_dialled.get()};
}

check_context communicator_handle::context() const {
  const auto in = adopted();
  return {in->self, in->members->size(), duration(timeout_.load()), in->epoch, seat_.tolerant};
}

std::shared_ptr<const seated_epoch> communicator_handle::adopted() const {
  if (!seat_.tolerant) return adopted_;
  const std::lock_guard lock(adopted_guard_);
  return adopted_;
}

outcome<std::shared_ptr<work_state>> communicator_handle::make_work(
    outcome<operation_request> request) {
  if (!request) return fail(request.error());
  const auto limit = door_->options().collective.outstanding_operation_count;
  if (outstanding_->fetch_add(1) >= limit) {
    outstanding_->fetch_sub(1);
    return fail(errc::queue_full,
                std::to_string(limit) +
                    " operations are outstanding, the limit of "
                    "collective.outstanding_operation_count; wait for one of them");
  }
  const auto& works = door_->works();
  if (works->is_full()) {
    outstanding_->fetch_sub(1);
    return fail(errc::queue_full,
                "works take " + std::to_string(works->used_bytes()) + " bytes, the limit of " +
                    std::to_string(works->limit_bytes()) +
                    " of worker.control_bytes; let go of works that are done, or raise it");
  }
  return std::allocate_shared<work_state>(slab_allocator<work_state>(works), *request,
                                          adopted()->members->size(), outstanding_, drive_);
}

outcome<void> communicator_handle::check_usable() const {
  if (door_->forked()) return fail(forked_failure());
  if (aborted_.load())
    return fail(failure{error{errc::aborted, 0, rank()}, "the communicator was aborted"});
  if (finalized_.load()) return fail(errc::finalized, "the communicator was finalized");
  return {};
}

outcome<work_handle> communicator_handle::launch(std::shared_ptr<work_state> work) {
  post(nullptr, seat_.member, operation_requested{work});
  door_->start_now();
  return work_handle(std::move(work));
}

template <class Arguments>
outcome<work_handle> communicator_handle::call(const Arguments& arguments) {
  return call(check(arguments, context()), options_of(arguments));
}

outcome<work_handle> communicator_handle::call(outcome<operation_request> checked,
                                               const operation_options& options) {
  group* const in = options.group;
  const bool grouped = in != nullptr && in->is_open();
  const auto usable = check_usable();
  auto work = make_work(usable ? std::move(checked) : fail(usable.error()));
  if (!work) {
    if (grouped) in->note(work.error());
    return fail(work.error());
  }
  if (!grouped) return launch(std::move(*work));
  (*work)->set_launched(false);
  in->add(std::make_unique<deferred_operation>(*work, seat_.member, alive_, door_));
  return work_handle(std::move(*work));
}

outcome<work_handle> communicator_handle::all_reduce(const all_reduce_arguments& arguments) {
  return call(arguments);
}
outcome<work_handle> communicator_handle::all_gather(const all_gather_arguments& arguments) {
  return call(arguments);
}
outcome<work_handle> communicator_handle::reduce_scatter(
    const reduce_scatter_arguments& arguments) {
  return call(arguments);
}
outcome<work_handle> communicator_handle::broadcast(const broadcast_arguments& arguments) {
  return call(arguments);
}
outcome<work_handle> communicator_handle::send(const send_arguments& arguments) {
  return call(arguments);
}
outcome<work_handle> communicator_handle::receive(const receive_arguments& arguments) {
  return call(arguments);
}
outcome<work_handle> communicator_handle::barrier(const operation_options& options) {
  return call(options);
}

outcome<work_handle> communicator_handle::reduce(const reduce_arguments& arguments) {
  return call(arguments);
}
outcome<work_handle> communicator_handle::gather(const gather_arguments& arguments) {
  return call(arguments);
}
outcome<work_handle> communicator_handle::scatter(const scatter_arguments& arguments) {
  return call(arguments);
}
outcome<work_handle> communicator_handle::all_to_all(const all_to_all_arguments& arguments) {
  return call(arguments);
}
outcome<work_handle> communicator_handle::all_to_all_v(const all_to_all_v_arguments& arguments) {
  return call(arguments);
}

outcome<std::unique_ptr<communicator>> communicator_handle::split(
    const split_arguments& arguments) {
  if (const auto usable = check_usable(); !usable) return fail(usable.error());
  if (arguments.options.group != nullptr && arguments.options.group->is_open()) {
    const failure why(errc::bad_argument,
                      "split: it waits for all members and cannot be part of a group; call it "
                      "before or after");
    arguments.options.group->note(why);
    return fail(why);
  }
  const auto in = adopted();
  std::array<std::uint32_t, split_words> mine{};
  mine[word_kind] = (arguments.colour ? has_colour_bit : 0u) |
                    (arguments.fault_tolerant.value_or(seat_.tolerant) ? tolerant_bit : 0u);
  mine[word_colour] = static_cast<std::uint32_t>(arguments.colour.value_or(0));
  mine[word_key] = static_cast<std::uint32_t>(arguments.key);
  mine[word_next_id] = door_->next_communicator_id();
  std::vector<std::uint32_t> all(split_words * in->members->size());
  auto request = check(all_gather_arguments{.send = mine.data(),
                                            .receive = all.data(),
                                            .count = split_words,
                                            .type = data_type::uint32,
                                            .options = arguments.options},
                       context());
  if (!request) return fail(request.error());
  request->signature.kind = operation_kind::split;
  if (auto done = run(std::move(request)); !done) return fail(done.error());
  return make_part(arguments, *in, all);
}

outcome<void> communicator_handle::gather_words(std::span<const std::uint64_t> mine,
                                                std::span<std::uint64_t> all,
                                                const operation_options& options) {
  all_gather_arguments how{.send = mine.data(),
                           .receive = all.data(),
                           .count = mine.size(),
                           .type = data_type::uint64,
                           .options = options};
  how.options.algorithm = algorithm::binary_tree;
  return run(check(how, context()));
}

outcome<void> communicator_handle::run(outcome<operation_request> request) {
  auto made = make_work(std::move(request));
  if (!made) return fail(made.error());
  auto work = launch(std::move(*made));
  door_->drive_until([&] { return (*work)->test(); }, door_->options().collective.timeout);
  auto done = (*work)->wait();
  // One that goes on would still write into the caller's memory: end it before that goes.
  if (!done && !(*work)->test()) abort();
  return done;
}

outcome<std::unique_ptr<window>> communicator_handle::create_window(
    const window_arguments& arguments) {
  if (const auto usable = check_usable(); !usable) return fail(usable.error());
  if (arguments.base == nullptr && arguments.bytes != 0)
    return fail(errc::bad_argument, "create_window: `base` is null but `bytes` is " +
                                        std::to_string(arguments.bytes) +
                                        "; pass memory, or 0 bytes to open none");
  if (arguments.options.group != nullptr && arguments.options.group->is_open()) {
    const failure why(errc::bad_argument,
                      "create_window: it waits for all members and cannot be part of a group; call "
                      "it before or after");
    arguments.options.group->note(why);
    return fail(why);
  }
  auto opened = window_handle::open(*this, ++windows_created_, arguments);
  if (!opened) return fail(opened.error());
  const std::array mine{(*opened)->own_part().key, (*opened)->own_part().bytes};
  std::vector<std::uint64_t> all(mine.size() * size());
  if (auto met = gather_words(mine, all, arguments.options); !met) return fail(met.error());
  (*opened)->learn(all);
  return std::unique_ptr<window>(std::move(*opened));
}

outcome<std::unique_ptr<communicator>> communicator_handle::make_part(
    const split_arguments& arguments, const seated_epoch& in,
    const std::vector<std::uint32_t>& answers) {
  struct candidate {
    std::int32_t key;
    troupe::rank old;
  };
  std::vector<std::uint32_t> colours;
  std::vector<candidate> part;
  std::uint32_t base = 0;
  const bool tolerant = arguments.fault_tolerant.value_or(seat_.tolerant);
  for (std::uint32_t r = 0; r < in.members->size(); ++r) {
    const auto* words = answers.data() + r * split_words;
    if (((words[word_kind] & tolerant_bit) != 0) != tolerant)
      return fail(failure{error{errc::mismatch, 0, troupe::rank{r}},
                          "split: fault_tolerant is " + std::to_string(tolerant) + " here and " +
                              std::to_string(!tolerant) + " at rank " + std::to_string(r) +
                              "; it has to be equal on all members"});
    base = std::max(base, words[word_next_id]);
    if ((words[word_kind] & has_colour_bit) == 0) continue;
    colours.push_back(words[word_colour]);
    if (arguments.colour && words[word_colour] == static_cast<std::uint32_t>(*arguments.colour))
      part.push_back({static_cast<std::int32_t>(words[word_key]), troupe::rank{r}});
  }
  std::sort(colours.begin(), colours.end());
  colours.erase(std::unique(colours.begin(), colours.end()), colours.end());
  door_->raise_next_communicator_id(base + static_cast<std::uint32_t>(colours.size()));
  if (!arguments.colour) return std::unique_ptr<communicator>{};

  std::stable_sort(part.begin(), part.end(),
                   [](const candidate& a, const candidate& b) { return a.key < b.key; });
  std::vector<troupe::rank> world_ranks;
  troupe::rank self{0};
  for (const auto& member : part) {
    if (member.old == in.self) self = {static_cast<std::uint32_t>(world_ranks.size())};
    world_ranks.push_back(in.members->to_world(member.old));
  }
  const auto colour_index = std::lower_bound(colours.begin(), colours.end(),
                                             static_cast<std::uint32_t>(*arguments.colour)) -
                            colours.begin();
  const communicator_id id{base + static_cast<std::uint32_t>(colour_index)};
  auto answer = std::make_shared<ticket<communicator_seat>>();
  post(nullptr, door_->actor(),
       communicator_requested{
           id, self, std::make_shared<const membership>(membership::of(std::move(world_ranks))),
           tolerant, answer});
  door_->drive_until([&] { return answer->answered(); }, abort_patience);
  auto* seat = answer->wait(abort_patience);
  if (seat == nullptr)
    return fail(errc::timed_out, "split: this process's worker did not answer within 1 s");
  if (!*seat) return fail(seat->error());
  return std::unique_ptr<communicator>(
      std::make_unique<communicator_handle>(door_, std::move(**seat)));
}

void communicator_handle::wait_until_quiet(duration limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  door_->drive_until([&] { return outstanding_->load() == 0; }, limit);
  while (outstanding_->load() != 0 && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::microseconds(50));
}

void communicator_handle::abort() {
  if (door_->forked()) return;
  aborted_.store(true);
  auto answer = std::make_shared<ticket<done_value>>();
  post_urgent(nullptr, seat_.member, abort_requested{answer});
  door_->drive_until([&] { return answer->answered(); }, abort_patience);
  answer->wait(abort_patience);
  wait_until_quiet(abort_patience);
}

outcome<void> communicator_handle::finalize(duration limit) {
  if (door_->forked()) return fail(forked_failure());
  if (finalized_.exchange(true)) return {};
  auto answer = std::make_shared<ticket<done_value>>();
  post(nullptr, seat_.member, finalize_requested{answer});
  door_->drive_until([&] { return answer->answered(); }, limit);
  if (answer->wait(limit) != nullptr) return {};
  const auto left = outstanding_->load();
  abort();
  return fail(errc::timed_out, std::to_string(left) + " operations were still running after " +
                                   std::to_string(limit.count() / 1'000'000) +
                                   " ms; they were aborted");
}

}  // namespace troupe::actors
