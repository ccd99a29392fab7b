#include "actors/worker/polling_coordinator.hpp"

#include <immintrin.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>

#include "runtime/assert.hpp"

namespace troupe::actors {

namespace {

// Jobs between two rounds of the pollers. Chosen: at 0.2 us a message, a full round delays the
// lanes by about 13 us, below one wake-up.
constexpr std::size_t jobs_per_round = 64;

// The longest sleep of a worker: a bound on what a lost wake-up could cost.
constexpr duration longest_park = std::chrono::seconds(1);

constexpr std::size_t descriptors_max = 8;

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
  jobs.push_back(job);
}

polling_coordinator::polling_coordinator(caf::actor_system& system)
    : caf::scheduler::abstract_coordinator(system),
      unit_(&system),
      spin_ns_(polling_options{}.spin.count()),
      yield_ns_(polling_options{}.yield.count()) {
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
}

void polling_coordinator::remove(poller& p) {
  const auto found = std::find(pollers_.begin(), pollers_.end(), &p);
  if (found == pollers_.end()) return;
  const auto index = static_cast<std::size_t>(found - pollers_.begin());
  pollers_.erase(found);
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
  if (parked_.load(std::memory_order_seq_cst)) wake();
}

void polling_coordinator::run() {
  thread_id_.store(std::this_thread::get_id());
  // Naps of tens of microseconds are meant: the default slack of 50 us would double them.
  ::prctl(PR_SET_TIMERSLACK, 1000);
  ::prctl(PR_SET_NAME, "troupe.worker");
  instant idle_since = now();
  while (true) {
    const instant at = now();
    bool did = run_pollers(at);
    did |= take_inbox();
    did |= run_jobs();
    if (did) {
      idle_since = at;
      continue;
    }
    if (stopping_.load(std::memory_order_acquire)) return;
    wait(idle_since, at);
  }
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
    unit_.jobs.push_back(job);
  batch_.clear();
  return true;
}

bool polling_coordinator::run_jobs() {
  std::size_t done = 0;
  for (; done < jobs_per_round && !unit_.jobs.empty(); ++done) {
    auto* job = unit_.jobs.front();
    unit_.jobs.pop_front();
    switch (job->resume(&unit_, max_throughput())) {
      case caf::resumable::resume_later: unit_.jobs.push_back(job); break;
      case caf::resumable::done:
      case caf::resumable::awaiting_message: caf::intrusive_ptr_release(job); break;
      case caf::resumable::shutdown_execution_unit: break;
    }
  }
  return done != 0;
}

void polling_coordinator::wait(instant idle_since, instant at) {
  const auto idle = (at - idle_since).count();
  if (idle < spin_ns_.load(std::memory_order_relaxed)) {
    _mm_pause();
  } else if (idle <
             spin_ns_.load(std::memory_order_relaxed) + yield_ns_.load(std::memory_order_relaxed)) {
    ::sched_yield();
  } else {
    park();
  }
}

void polling_coordinator::park() {
  parked_.store(true, std::memory_order_seq_cst);
  if (!inbox_filled_.load(std::memory_order_seq_cst) && !stopping_.load()) {
    std::array<pollfd, descriptors_max> waits{};
    nfds_t count = 0;
    waits[count++] = {wake_descriptor_, POLLIN, 0};
    for (const auto* p : pollers_) {
      const int descriptor = p->wait_descriptor();
      if (descriptor >= 0 && count < waits.size()) waits[count++] = {descriptor, POLLIN, 0};
    }
    const auto left = std::clamp(earliest_deadline() - now(), duration::zero(), longest_park);
    const timespec limit{left.count() / 1'000'000'000, left.count() % 1'000'000'000};
    if (auto* counters = counters_.load(std::memory_order_relaxed)) counters->parks.add(1);
    ::ppoll(waits.data(), count, &limit, nullptr);
    std::uint64_t ignored = 0;
    if (waits[0].revents != 0) {
      [[maybe_unused]] const auto got = ::read(wake_descriptor_, &ignored, sizeof ignored);
    }
  }
  parked_.store(false, std::memory_order_seq_cst);
}

instant polling_coordinator::earliest_deadline() const {
  instant earliest = never;
  for (const auto* p : pollers_)
    earliest = std::min(earliest, p->next_deadline());
  return earliest;
}

void polling_coordinator::drop_jobs() {
  for (auto* job : inbox_)
    cleanup_and_release(job);
  for (auto* job : unit_.jobs)
    cleanup_and_release(job);
  inbox_.clear();
  unit_.jobs.clear();
}

}  // namespace troupe::actors
