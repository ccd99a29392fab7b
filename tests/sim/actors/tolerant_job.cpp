#include "tests/sim/actors/tolerant_job.hpp"

#include <algorithm>
#include <string>

#include "runtime/assert.hpp"

namespace troupe::sim {

namespace {

std::string call_name(std::uint32_t r, std::uint64_t number) {
  return "rank " + std::to_string(r) + ", call " + std::to_string(number);
}

}  // namespace

actors::stage_options tolerant_job::options(std::uint32_t ranks, std::uint64_t seed) {
  actors::stage_options out;
  out.rank_count = ranks;
  out.seed = seed;
  out.options.collective.timeout = std::chrono::seconds(20);
  out.options.fault_tolerance.world = "continue";
  out.options.fault_tolerance.chunk_bytes = 16 * 1024;
  return out;
}

tolerant_job::tolerant_job(std::uint32_t ranks, std::uint64_t seed, std::size_t count,
                           bool in_place)
    : count_(count),
      in_place_(in_place),
      alive_(ranks, true),
      calls_(ranks),
      first_number_(ranks, 1),
      stage(options(ranks, seed)) {
  const auto joined = stage.join_all(std::chrono::seconds(30));
  TROUPE_ASSERT(joined.has_value());
}

float tolerant_job::input(std::uint32_t name, std::uint64_t number, std::size_t element) {
  return static_cast<float>((name * 37 + number * 11 + element * 5) % 509 + 1);
}

void tolerant_job::call_one(std::uint32_t r) {
  call next;
  next.number = calls_[r].empty() ? first_number_[r] : calls_[r].back().number + 1;
  const auto members = stage.world(rank{r}).members();
  next.name = members.names[to_index(members.self)];
  std::vector<float> in(count_);
  for (std::size_t i = 0; i < count_; ++i)
    in[i] = input(next.name, next.number, i);
  if (in_place_)
    next.buffer = std::move(in);
  else
    next.send = std::move(in), next.buffer.assign(count_, -1.0f);
  calls_[r].push_back(std::move(next));
  auto& made = calls_[r].back();
  const auto work =
      stage.world(rank{r}).all_reduce({.send = in_place_ ? made.buffer.data() : made.send.data(),
                                       .receive = made.buffer.data(),
                                       .count = count_});
  TROUPE_ASSERT(work.has_value());
  made.work = *work;
}

void tolerant_job::call_all() {
  for (std::uint32_t r = 0; r < calls_.size(); ++r)
    if (alive_[r]) call_one(r);
}

bool tolerant_job::finish(duration limit) {
  return stage.run_until(
      [&] {
        for (std::uint32_t r = 0; r < calls_.size(); ++r)
          if (alive_[r])
            for (const auto& one : calls_[r])
              if (!one.work->test()) return false;
        return true;
      },
      limit);
}

const tolerant_job::call* tolerant_job::find(std::uint32_t r, std::uint64_t number) const {
  for (const auto& one : calls_[r])
    if (one.number == number) return &one;
  return nullptr;
}

outcome<void> tolerant_job::add_newcomer(const std::string& invited, duration limit) {
  alive_.push_back(false);
  calls_.emplace_back();
  first_number_.push_back(0);
  if (auto in = stage.add_newcomer(invited, limit); !in) return in;
  alive_.back() = true;
  const auto number = stage.size() - 1;
  first_number_.back() = stage.world(rank{number}).members().first_operation.value;
  return {};
}

void tolerant_job::crash(std::uint32_t r, bool is_proven) {
  alive_[r] = false;
  stage.crash(rank{r});
  if (is_proven) stage.tell_end(rank{r});
}

void tolerant_job::forget_ended_calls() {
  for (std::uint32_t r = 0; r < calls_.size(); ++r) {
    if (!alive_[r] || calls_[r].empty()) continue;
    first_number_[r] = calls_[r].back().number + 1;
    calls_[r].clear();
  }
}

std::string tolerant_job::wrong_with(const call& one) const {
  const bool failed = one.work->error().code() != errc::ok;
  const auto contributors = one.work->contributors();
  if (!failed && contributors.empty()) return "has no contributors";
  for (std::size_t i = 0; i < count_; ++i) {
    float expected = 0;
    if (failed)
      expected = in_place_ ? input(one.name, one.number, i) : one.send[i];
    else
      for (const auto name : contributors)
        expected += input(name.value, one.number, i);
    const float found = failed && !in_place_ ? one.send[i] : one.buffer[i];
    if (found != expected)
      return "element " + std::to_string(i) + " is " + std::to_string(found) + ", not " +
             std::to_string(expected);
  }
  return {};
}

std::string tolerant_job::broken_promise() const {
  for (std::uint32_t r = 0; r < calls_.size(); ++r) {
    if (!alive_[r]) continue;
    for (const auto& one : calls_[r]) {
      if (!one.work->test()) return call_name(r, one.number) + " never ended";
      if (auto wrong = wrong_with(one); !wrong.empty())
        return call_name(r, one.number) + ": " + wrong;
      for (std::uint32_t other = 0; other < r; ++other) {
        const auto* found = alive_[other] ? find(other, one.number) : nullptr;
        if (found == nullptr) continue;
        const auto& theirs = *found;
        if (one.work->error().code() != theirs.work->error().code())
          return call_name(r, one.number) + " ended in " +
                 std::string(to_string(one.work->error().code())) + ", of rank " +
                 std::to_string(other) + " in " +
                 std::string(to_string(theirs.work->error().code()));
        if (one.work->contributors() != theirs.work->contributors())
          return call_name(r, one.number) + " has other contributors than rank " +
                 std::to_string(other);
      }
    }
  }
  return {};
}

}  // namespace troupe::sim
