#include "net/emulation/detail/nic.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <functional>
#include <string>

#include "net/emulation/detail/clock.hpp"
#include "net/emulation/detail/control.hpp"
#include "net/emulation/detail/data_path.hpp"
#include "net/emulation/detail/device.hpp"
#include "net/emulation/detail/misuse.hpp"
#include "net/emulation/detail/requester.hpp"
#include "net/emulation/detail/responder.hpp"
#include "net/emulation/detail/settings.hpp"
#include "net/emulation/detail/signals_blocked.hpp"

namespace troupe::net::emulation {

namespace {

// While somebody polls, the thread only looks now and then whether that is still so. Chosen: short
// against any timeout, long enough to cost nothing.
constexpr std::uint64_t rest_ns = 1'000'000;

// Longest sleep while there are queue pairs. Chosen: shorter than usual timeouts of verbs (67 ms
// and more), so that setting one need not wake the thread.
constexpr std::uint64_t sleep_ns_max = 50'000'000;

// Every open device of a job draws another sequence, the same in each run of a program that opens
// its devices in the same order.
std::uint64_t first_random(std::uint32_t device_index) {
  static std::atomic<std::uint64_t> opened{0};
  const auto& settings = process_settings();
  std::uint64_t mixed = settings.seed;
  for (const std::uint64_t part :
       {std::uint64_t{settings.host}, std::uint64_t{std::hash<std::string>()(settings.rank)},
        std::uint64_t{device_index}, opened++})
    mixed = (mixed ^ part) * 0x9e3779b97f4a7c15;
  return mixed;
}

}  // namespace

nic& nic_of(ibv_context* context) {
  auto* const verbs = verbs_get_ctx(context);
  return *reinterpret_cast<nic_handle*>(verbs)->owner;
}

std::unique_ptr<nic> nic::open(ibv_device& device, std::uint32_t device_index) {
  auto door = doorway::open(process_settings().job);
  if (!door.valid()) return nullptr;
  auto memory = segment::make();
  if (!memory.valid()) return nullptr;
  descriptor wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.valid()) return nullptr;
  // Lets processes that are no ancestors of this one move its bytes.
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  std::unique_ptr<nic> made(
      new nic(device, device_index, std::move(door), std::move(memory), std::move(wake)));
  enroll(*made);
  const signals_blocked blocked;
  made->thread_ = std::thread([at = made.get()] { at->run(); });
  return made;
}

nic::nic(ibv_device& device, std::uint32_t device_index, doorway door, segment memory,
         descriptor wake)
    : device_index_(device_index),
      doorway_(std::move(door)),
      memory_(std::move(memory)),
      wake_(std::move(wake)),
      random_(first_random(device_index)),
      self_(memory_) {
  self_.set_wake(wake_.number());
  fill_handle(device);
  publish_addresses();
}

nic::~nic() {
  dismiss(*this);
  stops_.store(true);
  wake();
  thread_.join();
}

void nic::fill_handle(ibv_device& device) {
  handle_.owner = this;
  handle_.verbs.sz = sizeof handle_.verbs;
  handle_.verbs.query_port = query_port;
  handle_.verbs.query_device_ex = query_device_ex;
  auto& context = handle_.verbs.context;
  context.device = &device;
  context.abi_compat = __VERBS_ABI_IS_EXTENDED;
  context.cmd_fd = -1;
  context.async_fd = async_events.number();
  context.num_comp_vectors = 1;
  context.ops.poll_cq = poll_completions;
  context.ops.req_notify_cq = request_notification;
  context.ops.post_send = post_sends;
  context.ops.post_recv = post_receives;
  ::pthread_mutex_init(&context.mutex, nullptr);
}

void nic::publish_addresses() {
  auto& header = memory_.header();
  for (std::uint32_t i = 0; i < gid_count; ++i) {
    const auto gid = gid_words(device_gid(device_index_, i, faults().gid_changes.load()));
    header.gids[i][0].store(gid[0]);
    header.gids[i][1].store(gid[1]);
  }
  header.port_is_up.store(faults().is_down.load() ? 0 : 1);
}

std::uint64_t nic::draw(std::uint64_t limit) {
  // splitmix64: Steele, Lea, Flood, OOPSLA 2014.
  auto z = (random_ += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return (z ^ (z >> 31)) % limit;
}

void nic::take_changes(ibv_event_type event) {
  const std::lock_guard guard(lock);
  publish_addresses();
  ibv_async_event said{};
  said.element.port_num = 1;
  said.event_type = event;
  async_events.push(said);
  // What was held up goes on.
  for (auto* qp : active_) {
    schedule(*qp, 0);
    if (qp->remote != nullptr && qp->remote->is_ready())
      qp->remote->ring(::troupe::net::emulation::slot_of(qp->attributes.dest_qp_num));
  }
}

void nic::break_queue_pairs() {
  const std::lock_guard guard(lock);
  for (auto* qp : active_) {
    if (!qp->is_sending()) continue;
    break_down(*this, *qp, IBV_WC_SUCCESS);
    ibv_async_event said{};
    said.element.qp = &qp->handle;
    said.event_type = IBV_EVENT_QP_FATAL;
    async_events.push(said);
  }
}

int nic::add(std::unique_ptr<queue_pair> qp) {
  // Numbers come back as late as possible, so that a stale one is noticed.
  for (std::uint32_t i = 1; i <= slot_count; ++i) {
    const auto slot = (last_slot_ + i) % slot_count;
    if (slots_[slot] != nullptr) continue;
    last_slot_ = slot;
    qp->slot = slot;
    qp->generation = memory_.slot(slot).life.load() >> 8;
    qp->handle.qp_num = qp_number(context_id(), slot);
    active_.push_back(qp.get());
    slots_[slot] = std::move(qp);
    return 0;
  }
  return ENOMEM;
}

std::unique_ptr<queue_pair> nic::remove(queue_pair& qp) {
  std::erase(active_, &qp);
  return std::move(slots_[qp.slot]);
}

std::size_t nic::qp_count_of(const ibv_pd* pd) const {
  return static_cast<std::size_t>(std::count_if(
      active_.begin(), active_.end(), [pd](const auto* qp) { return qp->handle.pd == pd; }));
}

void nic::drop_ring(std::uint64_t offset, std::uint64_t bytes) {
  memory_.drop(offset, bytes);
  rings_.give_back(offset, bytes);
}

peer* nic::find_peer(std::uint32_t number) {
  const auto id = context_of(number);
  if (id == context_id()) return &self_;
  if (id == 0) return nullptr;
  auto& known = peers_[id];
  if (known != nullptr && known->is_alive()) return known.get();
  if (known != nullptr)
    for (auto* qp : active_)
      if (qp->remote == known.get()) qp->remote = nullptr;
  known = doorway_.find(id);
  return known.get();
}

void nic::schedule(queue_pair& qp, std::uint64_t due) {
  qp.due = std::min(qp.due, due);
  if (due >= next_due_.load(std::memory_order_relaxed)) return;
  next_due_.store(due, std::memory_order_relaxed);
  if (due + rest_ns < sleeps_until_.load(std::memory_order_relaxed)) wake();
}

bool nic::has_work() const {
  if (memory_.header().rung_words.load(std::memory_order_relaxed) != 0) return true;
  const auto due = next_due_.load(std::memory_order_relaxed);
  return due != never && (due == 0 || due <= now_ns());
}

void nic::serve(queue_pair& qp, std::uint64_t now) {
  retire_requests(*this, qp, now);
  serve_requests(*this, qp, now);
}

void nic::serve_rung(std::uint64_t now) {
  auto& header = memory_.header();
  auto words = header.rung_words.exchange(0, std::memory_order_seq_cst);
  while (words != 0) {
    const auto word = static_cast<std::uint32_t>(std::countr_zero(words));
    words &= words - 1;
    auto bits = header.rung_slots[word].exchange(0, std::memory_order_seq_cst);
    while (bits != 0) {
      const auto slot = word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
      bits &= bits - 1;
      if (slots_[slot] != nullptr) serve(*slots_[slot], now);
    }
  }
}

void nic::progress() {
  const auto now = now_ns();
  const bool is_due = next_due_.load(std::memory_order_relaxed) <= now;
  if (memory_.header().rung_words.load(std::memory_order_relaxed) != 0) serve_rung(now);
  if (!is_due) return;
  next_due_.store(never, std::memory_order_relaxed);
  for (auto* qp : active_) {
    if (qp->due <= now) {
      qp->due = never;
      serve(*qp, now);
    }
    schedule(*qp, qp->due);
  }
}

void nic::count_armed(int change) {
  armed_.fetch_add(change);
  if (change > 0 && rests_.load()) wake();
}

void nic::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_.number(), &one, sizeof one);
}

// How long the thread may sleep; 0 if there is work.
std::uint64_t nic::time_to_sleep(bool others_poll) {
  if (others_poll) return armed_.load() > 0 ? 0 : rest_ns;
  memory_.header().is_asleep.store(1, std::memory_order_seq_cst);
  const auto now = now_ns();
  const std::lock_guard guard(lock);
  const auto until = now + sleep_ns_max;
  sleeps_until_.store(until, std::memory_order_relaxed);
  if (memory_.header().rung_words.load(std::memory_order_seq_cst) != 0) return 0;
  const auto due = std::min(until, next_due_.load(std::memory_order_relaxed));
  return due <= now ? 0 : due - now;
}

// Sleeps until a doorbell, a guest, or the next deadline.
void nic::sleep(bool others_poll) {
  rests_.store(others_poll);
  const auto wait = time_to_sleep(others_poll);
  std::vector<pollfd> entries{{wake_.number(), POLLIN, 0}, {doorway_.socket(), POLLIN, 0}};
  for (const auto& guest : doorway_.guests())
    entries.push_back({guest.number(), POLLRDHUP, 0});
  const timespec limit{0, static_cast<long>(wait)};
  const int ready = ::ppoll(entries.data(), entries.size(), &limit, nullptr);
  memory_.header().is_asleep.store(0, std::memory_order_seq_cst);
  sleeps_until_.store(0, std::memory_order_relaxed);
  rests_.store(false);
  if (ready <= 0) return;
  std::uint64_t count = 0;
  if (entries[0].revents != 0) [[maybe_unused]]
    const auto got = ::read(wake_.number(), &count, sizeof count);
  doorway_.serve(memory_.file(), wake_.number());
}

void nic::run() {
  std::uint64_t polls_seen = polls_.load();
  while (!stops_.load()) {
    const auto polls = polls_.load(std::memory_order_relaxed);
    const bool others_poll = polls != polls_seen && armed_.load() == 0;
    polls_seen = polls;
    if (!others_poll && has_work()) {
      const std::lock_guard guard(lock);
      progress();
    }
    sleep(others_poll);
  }
}

}  // namespace troupe::net::emulation
