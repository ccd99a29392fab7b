#include "net/fabric/port_queue.hpp"

#include <algorithm>
#include <bit>

namespace troupe::net {

namespace {

constexpr std::uint64_t nanoseconds_per_second = 1'000'000'000;
constexpr int smallest_octave = 10;

}  // namespace

duration port_queue::time_of(std::uint64_t bytes) const {
  const auto seconds = bytes / bytes_per_second_;
  const auto rest = bytes % bytes_per_second_;
  // The rest of a second's bytes: below 2^34 ports are slower than 16 GB/s, above it precision
  // beyond a microsecond means nothing to what is watched here.
  const auto of_rest =
      rest < (1ull << 34)
          ? (rest * nanoseconds_per_second + bytes_per_second_ - 1) / bytes_per_second_
          : rest / (bytes_per_second_ / nanoseconds_per_second + 1);
  return duration(static_cast<duration::rep>(seconds * nanoseconds_per_second + of_rest));
}

std::uint64_t port_queue::bytes_in(duration time) const {
  const auto ns = static_cast<std::uint64_t>(std::max(time, duration::zero()).count());
  return ns / 1000 * (bytes_per_second_ / 1'000'000) +
         ns % 1000 * bytes_per_second_ / nanoseconds_per_second;
}

std::size_t port_queue::bucket_of(std::uint64_t queue_bytes) {
  if (queue_bytes >> smallest_octave == 0) return 0;
  const auto octave = static_cast<int>(std::bit_width(queue_bytes)) - 1;
  const auto quarter = queue_bytes >> (octave - 2) & 3u;
  const auto bucket = static_cast<std::size_t>(octave - smallest_octave) * 4 + quarter + 1;
  return std::min(bucket, bucket_count - 1);
}

std::uint64_t port_queue::upper_bound_of(std::size_t bucket) {
  if (bucket == 0) return 1ull << smallest_octave;
  const auto octave = (bucket - 1) / 4 + smallest_octave;
  return (1ull << octave) + ((bucket - 1) % 4 + 1) * (1ull << (octave - 2));
}

void port_queue::drain(instant now) {
  auto left = static_cast<std::uint64_t>(std::max(now - seen_, duration::zero()).count());
  while (left > 0) {
    const auto bucket = bucket_of(queue_);
    const auto floor = bucket == 0 ? 0 : upper_bound_of(bucket - 1);
    auto spent = left;
    if (queue_ > 0) {
      const auto to_leave = queue_ - floor + (bucket == 0 ? 0 : 1);
      spent = std::min(left, static_cast<std::uint64_t>(time_of(to_leave).count()));
      spent = std::max<std::uint64_t>(spent, 1);
    }
    nanoseconds_in_[bucket] += spent;
    queue_ -= std::min(queue_, bytes_in(duration(static_cast<duration::rep>(spent))));
    left -= spent;
  }
  seen_ = std::max(seen_, now);
}

port_passage port_queue::pass(std::uint64_t bytes, instant head, instant tail) {
  const auto start = std::max(free_at_, head);
  const auto finish = std::max(start + time_of(bytes), tail);
  free_at_ = finish;
  drain(tail);
  queue_ = bytes_in(finish - seen_);
  totals_.queue_bytes_max = std::max(totals_.queue_bytes_max, queue_);
  totals_.bytes += bytes;
  return {start, finish};
}

fabric_port_report port_queue::report(instant until) const {
  auto seen = *this;
  seen.drain(until);
  auto out = seen.totals_;
  std::uint64_t all = 0;
  for (const auto each : seen.nanoseconds_in_)
    all += each;
  std::uint64_t below = 0;
  for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
    below += seen.nanoseconds_in_[bucket];
    if (out.queue_bytes_p99 == 0 && below * 100 >= all * 99 && all != 0)
      out.queue_bytes_p99 = std::min(upper_bound_of(bucket), out.queue_bytes_max);
    if (upper_bound_of(bucket) > fabric_queue_threshold_bytes)
      out.time_above += duration(static_cast<duration::rep>(seen.nanoseconds_in_[bucket]));
  }
  out.watched = duration(static_cast<duration::rep>(all));
  return out;
}

void port_queue::watch_from(instant now) {
  drain(now);
  since_ = now;
  totals_ = {};
  nanoseconds_in_.fill(0);
}

}  // namespace troupe::net
