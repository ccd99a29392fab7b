#include "actors/simulation/simulated_worker.hpp"

#include <algorithm>

namespace troupe::actors {

namespace {

constexpr std::uint64_t fnv_prime = 1099511628211ull;

void mix(std::uint64_t& hash, std::uint64_t value) {
  hash ^= value;
  hash *= fnv_prime;
}

}  // namespace

void simulated_worker::add(poller& p) {
  pollers_.push_back(&p);
}

void simulated_worker::remove(poller& p) {
  const auto found = std::find(pollers_.begin(), pollers_.end(), &p);
  if (found == pollers_.end()) return;
  const auto index = static_cast<std::size_t>(found - pollers_.begin());
  pollers_.erase(found);
  if (index < poller_index_) --poller_index_;
}

void simulated_worker::on_message(actor_kind kind) {
  worker::on_message(kind);
  touched_ = true;
  if (trace_ == nullptr) return;
  mix(*trace_, static_cast<std::uint64_t>(number_) << 8 | static_cast<std::uint64_t>(kind));
  mix(*trace_, static_cast<std::uint64_t>(to_nanoseconds(now())));
}

bool simulated_worker::poll() {
  if (is_silent()) return false;
  touched_ = true;
  bool did = false;
  for (poller_index_ = 0; poller_index_ < pollers_.size();)
    did |= pollers_[poller_index_++]->poll(now());
  return did;
}

instant simulated_worker::next_deadline() const {
  instant earliest = never;
  if (is_silent()) return earliest;
  for (const auto* p : pollers_)
    earliest = std::min(earliest, p->next_deadline());
  return earliest;
}

bool simulated_worker::take_touched() {
  return std::exchange(touched_, false);
}

}  // namespace troupe::actors
