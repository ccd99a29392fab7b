#include "actors/byte_mover/byte_mover.hpp"

#include <algorithm>

namespace troupe::actors {

namespace {

// One turn of a job. At the 3.5 GB/s of the slowest loop measured (docs/performance.md) this is
// 75 us, below the default slice.
constexpr std::uint64_t turn_bytes = 256 * 1024;

byte_job first_part(const byte_job& job, std::uint64_t count) {
  byte_job part = job;
  part.count = count;
  return part;
}

void advance(byte_job& job, std::uint64_t count) {
  const auto bytes = count * size_of(job.rule.type);
  job.target += bytes;
  if (job.left != nullptr) job.left += bytes;
  job.right += bytes;
  job.count -= count;
}

}  // namespace

void byte_mover::run(const byte_job& job) {
  if (job.count == 0) return;
  if (job.left == nullptr)
    collectives::copy_bytes(job.rule, job.target, job.right, job.count);
  else
    collectives::combine_bytes(job.rule, job.target, job.left, job.right, job.count);
}

void byte_mover::cancel(const byte_job_owner& owner) {
  std::erase_if(jobs_, [&](const byte_job& job) { return job.owner == &owner; });
}

bool byte_mover::poll(instant now) {
  if (jobs_.empty()) return false;
  const instant until = saturating_add(now, slice_);
  do {
    auto job = jobs_.front();
    jobs_.pop_front();
    const auto count = std::min(job.count, turn_bytes / size_of(job.rule.type));
    run(first_part(job, count));
    advance(job, count);
    if (job.count == 0)
      job.owner->on_bytes_moved(job.token);
    else
      jobs_.push_back(job);
  } while (!jobs_.empty() && clock_() < until);
  return true;
}

}  // namespace troupe::actors
