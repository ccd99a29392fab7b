#include "actors/byte_mover/byte_mover.hpp"

#include <algorithm>

namespace troupe::actors {

namespace {

// One turn of a job, whichever is less. At the 2 GB/s of a busy memory and the 0.8 G elements/s of
// the slowest conversion measured (premultiplied float8_e4m3, AVX2; docs/performance.md) this is
// 130 and 80 us.
constexpr std::uint64_t turn_bytes = 256 * 1024;
constexpr std::uint64_t turn_elements = 64 * 1024;

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
  const loop_choice choice{.path = job.path};
  if (job.left == nullptr)
    collectives::copy_bytes(job.rule, job.target, job.right, job.count, choice);
  else
    collectives::combine_bytes(job.rule, job.target, job.left, job.right, job.count, choice);
}

void byte_mover::add(const byte_job& job) {
  jobs_.push_back(job);
  jobs_.back().path = store_path_for(job.path, job.count * size_of(job.rule.type));
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
    const auto count = std::min({job.count, turn_bytes / size_of(job.rule.type), turn_elements});
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
