#include "actors/trace/flight_board.hpp"

#include <algorithm>
#include <utility>

namespace troupe::actors {

namespace {

instant instant_of(const std::atomic<std::int64_t>& nanoseconds) {
  return instant(duration(nanoseconds.load(std::memory_order_relaxed)));
}

}  // namespace

void communicator_progress::called(operation_number number, bool is_collective, instant now) {
  if (is_collective) last_called_.store(number.value, std::memory_order_relaxed);
  last_call_ns_.store(to_nanoseconds(now), std::memory_order_relaxed);
  last_progress_ns_.store(to_nanoseconds(now), std::memory_order_relaxed);
}

void communicator_progress::started(operation_number number) {
  if (number.value > last_started_.load(std::memory_order_relaxed))
    last_started_.store(number.value, std::memory_order_relaxed);
}

void communicator_progress::ended(operation_number number, bool is_collective, instant now) {
  if (is_collective && number.value > last_ended_.load(std::memory_order_relaxed))
    last_ended_.store(number.value, std::memory_order_relaxed);
  last_progress_ns_.store(to_nanoseconds(now), std::memory_order_relaxed);
}

void communicator_progress::set_epoch(epoch now) {
  epoch_.store(now.value, std::memory_order_relaxed);
  for (auto* number : {&last_called_, &last_started_, &last_ended_})
    number->store(0, std::memory_order_relaxed);
}

communicator_report communicator_progress::report() const {
  communicator_report out;
  out.id = id;
  out.epoch = epoch{epoch_.load(std::memory_order_relaxed)};
  out.last_called = last_called_.load(std::memory_order_relaxed);
  out.last_started = last_started_.load(std::memory_order_relaxed);
  out.last_ended = last_ended_.load(std::memory_order_relaxed);
  out.calls_waiting = outstanding.load(std::memory_order_relaxed);
  out.last_call = instant_of(last_call_ns_);
  out.last_progress = instant_of(last_progress_ns_);
  out.finalized = finalized_.load(std::memory_order_relaxed);
  return out;
}

void flight_board::note_joining(std::string detail) {
  const std::lock_guard guard(mutex_);
  joining_detail_ = std::move(detail);
}

void flight_board::add(std::shared_ptr<const communicator_progress> one) {
  const std::lock_guard guard(mutex_);
  const auto id = one->id.value;
  auto& known = communicators_[id];
  known = {.progress = one, .self = one->self, .members = one->members, .why = {}};
}

void flight_board::enter(communicator_id id, rank self, std::shared_ptr<const membership> members) {
  const std::lock_guard guard(mutex_);
  const auto found = communicators_.find(id.value);
  if (found == communicators_.end()) return;
  found->second.self = self;
  found->second.members = std::move(members);
  found->second.why = {};
}

void flight_board::remove(communicator_id id) {
  const std::lock_guard guard(mutex_);
  communicators_.erase(id.value);
}

void flight_board::note_failure(communicator_id id, const failure& why, instant now) {
  const std::lock_guard guard(mutex_);
  const auto found = communicators_.find(id.value);
  if (found == communicators_.end() || found->second.why.code() != errc::ok) return;
  found->second.why = why;
  const auto& members = *found->second.members;
  const auto peer =
      to_index(why.what.peer) < members.size() ? members.to_world(why.what.peer) : no_rank;
  add_incident({incident_kind::operation_failed, now, peer, why.code(), why.message});
}

void flight_board::note(const link_report& one) {
  const std::lock_guard guard(mutex_);
  links_[one.peer.value] = one;
}

void flight_board::forget_link(rank peer) {
  const std::lock_guard guard(mutex_);
  links_.erase(peer.value);
}

void flight_board::note(incident one) {
  const std::lock_guard guard(mutex_);
  add_incident(std::move(one));
}

void flight_board::add_incident(incident one) {
  if (one.text.size() > incident_text_bytes_max) one.text.resize(incident_text_bytes_max);
  if (incidents_.size() < incident_count) {
    incidents_.push_back(std::move(one));
    return;
  }
  incidents_[oldest_incident_] = std::move(one);
  oldest_incident_ = (oldest_incident_ + 1) % incident_count;
}

bool flight_board::read(rank_dump& out) const {
  out.phase = phase();
  std::vector<known_communicator> known;
  {
    const std::unique_lock guard(mutex_, patience);
    if (!guard.owns_lock()) return false;
    out.joining_detail = joining_detail_;
    for (const auto& [id, one] : communicators_)
      known.push_back(one);
    for (const auto& [peer, one] : links_)
      out.links.push_back(one);
    out.incidents = incidents_;
    std::rotate(out.incidents.begin(),
                out.incidents.begin() + static_cast<std::ptrdiff_t>(oldest_incident_),
                out.incidents.end());
  }
  for (const auto& one : known) {
    auto& report = out.communicators.emplace_back(one.progress->report());
    report.self = one.self;
    report.size = one.members->size();
    for (std::uint32_t i = 0; !one.members->is_world() && i < report.size; ++i)
      report.members.push_back(one.members->to_world(rank{i}));
    report.failed = one.why.code();
    report.failed_peer = one.why.what.peer;
    report.failure = one.why.message;
  }
  return true;
}

}  // namespace troupe::actors
