#include "actors/communicator/window_handle.hpp"

#include <chrono>
#include <string>
#include <utility>

#include "actors/ticket.hpp"

namespace troupe::actors {

namespace {

// Opening and closing are local: a message to an actor of this process. The bound only guards
// against a worker that is stopped by a debugger or starved.
constexpr duration worker_patience = std::chrono::seconds(1);

}  // namespace

window_handle::window_handle(communicator_handle& home, std::uint32_t number)
    : home_(home), alive_(home.alive()), number_(number), epoch_(home.epoch()) {}

outcome<std::unique_ptr<window_handle>> window_handle::open(communicator_handle& home,
                                                            std::uint32_t number,
                                                            const window_arguments& arguments) {
  std::unique_ptr<window_handle> made(new window_handle(home, number));
  auto answer = std::make_shared<ticket<std::uint64_t>>();
  post(nullptr, home.seat().member,
       window_open_request{number, arguments.base, arguments.bytes, answer});
  home.door().drive_until([&] { return answer->answered(); }, worker_patience);
  const auto* key = answer->wait(worker_patience);
  if (key == nullptr)
    return fail(errc::timed_out, "create_window: this process's worker did not answer within 1 s");
  if (!*key) return fail(key->error());
  made->own_ = {**key, arguments.bytes};
  return made;
}

window_handle::~window_handle() {
  if (!alive_->load() || home_.door().forked()) return;
  auto answer = std::make_shared<ticket<done_value>>();
  post(nullptr, home_.seat().member, window_close_request{number_, answer});
  home_.door().drive_until([&] { return answer->answered(); }, worker_patience);
  answer->wait(worker_patience);
}

void window_handle::learn(std::span<const std::uint64_t> words) {
  parts_.resize(words.size() / 2);
  for (std::size_t r = 0; r < parts_.size(); ++r)
    parts_[r] = {words[2 * r], words[2 * r + 1]};
}

std::uint64_t window_handle::bytes_of(rank member) const {
  return to_index(member) < parts_.size() ? parts_[to_index(member)].bytes : 0;
}

template <class Arguments>
outcome<work_handle> window_handle::call(const Arguments& arguments) {
  if (!alive_->load())
    return fail(errc::aborted, "the communicator was destroyed before its window");
  const auto context = home_.context();
  if (context.epoch != epoch_)
    return fail(errc::epoch_changed, "the window was created in epoch " +
                                         std::to_string(epoch_.value) +
                                         " of its communicator and ended with it; create another");
  return home_.call(check(arguments, context, view()), arguments.options);
}

outcome<work_handle> window_handle::remember(outcome<work_handle> work) {
  if (!work) return work;
  const std::lock_guard lock(guard_);
  std::erase_if(open_, [](const work_handle& each) {
    return each->test() && each->error().code() == errc::ok;
  });
  open_.push_back(*work);
  return work;
}

outcome<work_handle> window_handle::put(const window_put_arguments& arguments) {
  return remember(call(arguments));
}

outcome<work_handle> window_handle::get(const window_get_arguments& arguments) {
  return remember(call(arguments));
}

outcome<work_handle> window_handle::wait_notifications(const notification_arguments& arguments) {
  return call(arguments);
}

outcome<void> window_handle::flush(duration limit) {
  std::vector<work_handle> open;
  {
    const std::lock_guard lock(guard_);
    open.swap(open_);
  }
  const auto end = std::chrono::steady_clock::now() + limit;
  for (std::size_t i = 0; i < open.size(); ++i) {
    const auto left = end - std::chrono::steady_clock::now();
    auto done = open[i]->wait(std::max<duration>(left, duration::zero()));
    if (done) continue;
    const std::lock_guard lock(guard_);
    open_.insert(open_.end(), open.begin() + static_cast<std::ptrdiff_t>(i) + 1, open.end());
    if (!open[i]->test()) open_.push_back(open[i]);
    return done;
  }
  return {};
}

}  // namespace troupe::actors
