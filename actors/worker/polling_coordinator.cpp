#include "actors/worker/polling_coordinator.hpp"

#include <immintrin.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>

#include "actors/worker/idle_pause.hpp"
#include "runtime/assert.hpp"

namespace troupe::actors {

namespace {

// Jobs between two rounds of the pollers. Chosen: at 0.2 us a message, a full round delays the
// lanes by about 13 us, below one wake-up.
constexpr std::size_t jobs_per_round = 64;

// The longest sleep of a worker: a bound on what a lost wake-up could cost.
constexpr duration longest_park = std::chrono::seconds(1);

constexpr std::size_t descriptors_max = 8;

// A guest waits this long for the worker to let go: longer than any slice of byte work.
constexpr duration guest_patience = std::chrono::milliseconds(2);

// A guest has nothing else to do: it yields longer than a worker before it sleeps.
constexpr duration guest_yield = std::chrono::microseconds(500);

// The worker, woken when the guest came, may take a wake-up that was meant for the guest.
constexpr duration guest_nap = std::chrono::milliseconds(2);

// Rounds of messages a guest handles after its operation ended.
constexpr unsigned rounds_before_leaving = 16;

class spin_guard {
 public:
  explicit spin_guard(std::atomic_flag& flag) : flag_(flag) {
    while (flag_.test_and_set(std::memory_order_acquire)) {
      // The holder may have lost its core: give it ours rather than a whole tick.
      if (++tries_ % 64 == 0)
        sched_yield();
      else
        _mm_pause();
    }
  }
  ~spin_guard() { flag_.clear(std::memory_order_release); }
  spin_guard(const spin_guard&) = delete;
  spin_guard& operator=(const spin_guard&) = delete;

 private:
  std::atomic_flag& flag_;
  unsigned tries_ = 0;
};

}  // namespace

void polling_coordinator::local_unit::exec_later(caf::resumable* job) {
  // CAF hands the sender's unit to the receiver. On the worker's thread that is us; a foreign
  // thread never has this unit.
  jobs.push(job);
}

polling_coordinator::polling_coordinator(caf::actor_system& system)
    : caf::scheduler::abstract_coordinator(system),
      unit_(&system),
      spin_ns_(polling_options{}.spin.count()),
      yield_ns_(polling_options{}.yield.count()) {
  recent_ = now();
  unit_.owner = this;
  wake_descriptor_ = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  TROUPE_ASSERT(wake_descriptor_ >= 0);
}

polling_coordinator::~polling_coordinator() {
  ::close(wake_descriptor_);
}

caf::actor_system::module* polling_coordinator::make(caf::actor_system& system,
                                                     caf::detail::type_list<>) {
  return new polling_coordinator(system);
}

void polling_coordinator::configure(const polling_options& options) {
  spin_ns_.store(options.spin.count());
  yield_ns_.store(options.yield.count());
}

instant polling_coordinator::now() const {
  return instant(
      std::chrono::duration_cast<duration>(std::chrono::steady_clock::now().time_since_epoch()));
}

void polling_coordinator::add(poller& p) {
  pollers_.push_back(&p);
  collect_descriptors();
}

void polling_coordinator::collect_descriptors() {
  wait_descriptor_count_ = 0;
  for (const auto* p : pollers_) {
    const int descriptor = p->wait_descriptor();
    if (descriptor >= 0 && wait_descriptor_count_ < wait_descriptors_.size())
      wait_descriptors_[wait_descriptor_count_++] = descriptor;
  }
}

void polling_coordinator::remove(poller& p) {
  const auto found = std::find(pollers_.begin(), pollers_.end(), &p);
  if (found == pollers_.end()) return;
  const auto index = static_cast<std::size_t>(found - pollers_.begin());
  pollers_.erase(found);
  collect_descriptors();
  // Removed from within a round: the round goes on with the one that moved into its place.
  if (index < poller_index_) --poller_index_;
}

void polling_coordinator::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_descriptor_, &one, sizeof one);
}

void polling_coordinator::start() {
  thread_ = std::thread([this] { run(); });
  caf::scheduler::abstract_coordinator::start();
}

void polling_coordinator::stop() {
  stop_actors();
  stopping_.store(true);
  wake();
  thread_.join();
  drop_jobs();
}

void polling_coordinator::enqueue(caf::resumable* job) {
  {
    spin_guard guard(inbox_lock_);
    inbox_.push_back(job);
    inbox_filled_.store(true, std::memory_order_seq_cst);
  }
  if (sleepers_.load(std::memory_order_seq_cst) != 0) wake();
}

void polling_coordinator::run() {
  // Naps of tens of microseconds are meant: the default slack of 50 us would double them.
  ::prctl(PR_SET_TIMERSLACK, 1000);
  ::prctl(PR_SET_NAME, "troupe.worker");
  baton_.take();
  thread_id_.store(std::this_thread::get_id());
  instant idle_since = now();
  idle_pause pause;
  while (true) {
    if (baton_.guest_wants()) {
      serve_guest();
      idle_since = now();
    }
    const instant at = now();
    if (run_round(at)) {
      idle_since = at;
      pause.worked();
      continue;
    }
    if (stopping_.load(std::memory_order_acquire)) break;
    switch (pause.next(at - idle_since, at, spin(),
                       duration(yield_ns_.load(std::memory_order_relaxed)))) {
      case idle_pause::advice::spin: _mm_pause(); break;
      case idle_pause::advice::yield: ::sched_yield(); break;
      case idle_pause::advice::sleep: park(); break;
    }
  }
  baton_.give();
}

void polling_coordinator::serve_guest() {
  baton_.give();
  baton_.take();
  thread_id_.store(std::this_thread::get_id());
}

void polling_coordinator::drive(const std::function<bool()>& done, duration limit,
                                const std::function<bool()>& more) {
  const instant began = now();
  guess_.waited(began);
  if (done()) return;
  if (!baton_.enter(guest_patience)) return;
  // A parked worker sleeps until the deadlines it knew: once awake it naps while a guest drives.
  if (sleepers_.load(std::memory_order_seq_cst) != 0) wake();
  thread_id_.store(std::this_thread::get_id());
  const instant end = saturating_add(began, limit);
  instant idle_since = never;  // before the first look at the clock as driver
  idle_pause pause;
  while (!done()) {
    const instant at = now();
    idle_since = std::min(idle_since, at);
    if (at >= end || stopping_.load(std::memory_order_acquire)) break;
    if (run_round(at)) {
      idle_since = at;
      pause.worked();
      continue;
    }
    switch (pause.next(at - idle_since, at, spin(), guest_yield)) {
      case idle_pause::advice::spin: _mm_pause(); break;
      case idle_pause::advice::yield: ::sched_yield(); break;
      case idle_pause::advice::sleep:
        sleep_on_descriptors(std::min({prepare_to_wait(), end, saturating_add(at, guest_nap)}),
                             baton_.visits());
        break;
    }
  }
  // The end of the operation is still on its way to its rank; do not leave that to the worker.
  finish_messages();
  const bool hurry = !unit_.jobs.empty() || more();
  thread_id_.store(std::thread::id{});
  baton_.leave(hurry);
}

void polling_coordinator::start_now(const std::function<bool()>& more) {
  const instant called_at = now();
  const bool needs_worker = guess_.called(called_at);
  if (!baton_.try_enter()) {
    if (needs_worker) baton_.wake_worker();
    return;
  }
  thread_id_.store(std::this_thread::get_id());
  recent_ = called_at;
  finish_messages();
  for (poller_index_ = 0; poller_index_ < pollers_.size();)
    pollers_[poller_index_++]->release(recent_);
  finish_messages();
  const bool hurry = !unit_.jobs.empty() || (needs_worker && more());
  thread_id_.store(std::thread::id{});
  baton_.leave(hurry);
}

void polling_coordinator::finish_messages() {
  for (unsigned i = 0; i < rounds_before_leaving && (take_inbox() | run_jobs()); ++i) {
  }
}

bool polling_coordinator::run_round(instant at) {
  recent_ = at;
  if (auto* counters = counters_.load(std::memory_order_relaxed)) {
    counters->on_round(at, counters->parked.get() != 0);
    counters->parked.set(0);
  }
  bool did = run_pollers(at);
  did |= take_inbox();
  did |= run_jobs();
  return did;
}

bool polling_coordinator::run_pollers(instant at) {
  bool did = false;
  for (poller_index_ = 0; poller_index_ < pollers_.size();)
    did |= pollers_[poller_index_++]->poll(at);
  if (auto* counters = counters_.load(std::memory_order_relaxed)) counters->polls.add(1);
  return did;
}

bool polling_coordinator::take_inbox() {
  if (!inbox_filled_.load(std::memory_order_acquire)) return false;
  {
    spin_guard guard(inbox_lock_);
    batch_.swap(inbox_);
    inbox_filled_.store(false, std::memory_order_relaxed);
  }
  for (auto* job : batch_)
    unit_.jobs.push(job);
  batch_.clear();
  return true;
}

bool polling_coordinator::run_jobs() {
  std::size_t done = 0;
  for (; done < jobs_per_round && !unit_.jobs.empty(); ++done) {
    auto* job = unit_.jobs.pop();
    switch (run_job(*job)) {
      case caf::resumable::resume_later: unit_.jobs.push(job); break;
      case caf::resumable::done:
      case caf::resumable::awaiting_message: caf::intrusive_ptr_release(job); break;
      case caf::resumable::shutdown_execution_unit: break;
    }
  }
  return done != 0;
}

caf::resumable::resume_result polling_coordinator::run_job(caf::resumable& job) {
  auto* counters = counters_.load(std::memory_order_relaxed);
  if (counters == nullptr || ++turns_ % worker_counters::turn_sample_interval != 0)
    return job.resume(&unit_, max_throughput());
  const auto began = now();
  const auto result = job.resume(&unit_, max_throughput());
  counters->on_turn(now() - began);
  return result;
}

void polling_coordinator::park() {
  // The deadline is read while this thread still drives; a guest that takes over wakes it.
  const auto visits = baton_.visits();
  const instant until = prepare_to_wait();
  thread_id_.store(std::thread::id{});
  baton_.give();
  if (!baton_.guest_wants()) sleep_on_descriptors(until, visits);
  baton_.take();
  thread_id_.store(std::this_thread::get_id());
}

void polling_coordinator::sleep_on_descriptors(instant until, std::uint64_t visits) {
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  // A guest that came and went since saw no sleeper to wake.
  const bool current = baton_.visits() == visits;
  if (current && !inbox_filled_.load(std::memory_order_seq_cst) && !stopping_.load()) {
    std::array<pollfd, descriptors_max> waits{};
    nfds_t count = 0;
    waits[count++] = {wake_descriptor_, POLLIN, 0};
    for (std::size_t i = 0; i < wait_descriptor_count_ && count < waits.size(); ++i)
      waits[count++] = {wait_descriptors_[i], POLLIN, 0};
    const auto left = std::clamp(until - now(), duration::zero(), longest_park);
    const timespec limit{left.count() / 1'000'000'000, left.count() % 1'000'000'000};
    if (auto* counters = counters_.load(std::memory_order_relaxed)) counters->parks.add(1);
    ::ppoll(waits.data(), count, &limit, nullptr);
    std::uint64_t ignored = 0;
    if (waits[0].revents != 0) {
      [[maybe_unused]] const auto got = ::read(wake_descriptor_, &ignored, sizeof ignored);
    }
  }
  sleepers_.fetch_sub(1, std::memory_order_seq_cst);
}

instant polling_coordinator::prepare_to_wait() {
  if (auto* counters = counters_.load(std::memory_order_relaxed)) counters->parked.set(1);
  instant earliest = never;
  for (auto* p : pollers_)
    earliest = std::min(earliest, p->prepare_to_wait());
  return earliest;
}

void polling_coordinator::drop_jobs() {
  for (auto* job : inbox_)
    cleanup_and_release(job);
  inbox_.clear();
  while (!unit_.jobs.empty())
    cleanup_and_release(unit_.jobs.pop());
}

}  // namespace troupe::actors
