#include "net/link/flight_window.hpp"

#include <algorithm>

#include "runtime/mark.hpp"

namespace troupe::net {

namespace {

// All chosen. Headroom: what is in flight beyond the path's own content waits in a queue, so a
// quarter of it bounds the queue of however many links meet, and a larger share is found at 25 % a
// round trip. Three rounds: one slow round is chance. Eight rounds: a queue that others made drains
// within five.
constexpr double headroom = 1.25;
constexpr double queue_shows = 1.25;
constexpr double rate_grows = 1.25;
constexpr std::uint32_t flat_rounds_max = 3;
constexpr double path_grew = 1.5;
constexpr std::uint32_t slow_rounds_max = 8;
constexpr double measuring_share = 0.25;

double in_ns(duration d) {
  return static_cast<double>(d.count());
}

}  // namespace

void flight_window::on_posted(std::uint64_t bytes, instant now) {
  in_flight_ += bytes;
  if (!in_round_) begin_round(now);
}

void flight_window::on_completed(std::uint64_t bytes, instant posted_at, instant now) {
  in_flight_ -= bytes;
  if (!options_.adapts || bytes == 0) return;
  const auto latency = std::max(now - posted_at, duration(1));
  round_bytes_ += bytes;
  round_latency_ = std::min(round_latency_, latency);
  if (latency < base_) {
    base_ = latency;
    base_at_ = now;
  }
  if (phase_ == phase::starting && held_back_)
    bytes_ = std::min(bytes_ + bytes, options_.ceiling_bytes);
  if (in_round_ && posted_at >= round_began_) end_round(now);
}

void flight_window::begin_round(instant now) {
  in_round_ = true;
  round_began_ = now;
  round_bytes_ = 0;
  round_latency_ = unknown_latency;
  held_back_ = false;
}

void flight_window::note_rate(double rate) {
  std::rotate(rates_.rbegin(), rates_.rbegin() + 1, rates_.rend());
  rates_[0] = rate;
}

double flight_window::target(double gain) const {
  return gain * *std::max_element(rates_.begin(), rates_.end()) * in_ns(base_);
}

void flight_window::set_window(double bytes) {
  const auto most = static_cast<double>(options_.ceiling_bytes);
  bytes_ = std::max(static_cast<std::uint64_t>(std::min(bytes, most)), options_.floor_bytes);
}

bool flight_window::must_leave_start(double rate) {
  if (in_ns(round_latency_) > queue_shows * in_ns(base_)) return true;
  const auto best = *std::max_element(rates_.begin(), rates_.end());
  flat_rounds_ = rate < rate_grows * best ? flat_rounds_ + 1 : 0;
  return flat_rounds_ == flat_rounds_max;
}

void flight_window::start(double rate) {
  const bool over = must_leave_start(rate);
  note_rate(rate);
  if (!over) return;
  phase_ = phase::cruising;
  set_window(target(headroom));
}

void flight_window::cruise(instant now) {
  set_window(target(headroom));
  const bool slow = in_ns(round_latency_) > path_grew * in_ns(base_);
  slow_rounds_ = slow ? slow_rounds_ + 1 : 0;
  const bool old = now - base_at_ > options_.base_lifetime;
  if (!old && slow_rounds_ < slow_rounds_max) return;
  if (!old) TROUPE_MARK("flight window: the path became longer");
  phase_ = phase::draining;
  set_window(target(measuring_share));
}

// Round by round: with a quarter of the window the queue drains, the next round sees the path
// empty.
void flight_window::end_round(instant now) {
  const auto rate = static_cast<double>(round_bytes_) / std::max(in_ns(now - round_began_), 1.0);
  const auto best = *std::max_element(rates_.begin(), rates_.end());
  const bool counts = held_back_ || rate > best;
  switch (phase_) {
    case phase::starting:
      if (counts) start(rate);
      break;
    case phase::cruising:
      if (counts) {
        note_rate(rate);
        cruise(now);
      }
      break;
    case phase::draining: phase_ = phase::measuring; break;
    case phase::measuring:
      base_ = round_latency_;
      base_at_ = now;
      slow_rounds_ = 0;
      phase_ = phase::cruising;
      set_window(target(headroom));
      break;
  }
  in_round_ = in_flight_ > 0;
  if (in_round_) begin_round(now);
}

}  // namespace troupe::net
