// One rank of a job that runs random operations and checks every byte of them:
//   stream_rank <first seed> <seeds>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "runtime/communicator.hpp"
#include "runtime/group.hpp"
#include "tests/reference/operation_stream.hpp"

namespace {

using namespace troupe;
using reference::stream_batch;
using reference::stream_part;

/// Four batches a seed; elements of a block up to what crosses the ring's threshold.
constexpr reference::stream_wishes wishes{
    .communicator_count = 3, .batch_count = 4, .count_max = 40'000};

std::string run_batch(const stream_batch& batch, const std::vector<communicator*>& on) {
  std::vector<std::unique_ptr<stream_part>> parts;
  group all;
  if (batch.grouped) all.start();
  for (const auto& one : batch.operations) {
    auto& c = *on[one.communicator];
    parts.push_back(std::make_unique<stream_part>(one, c.rank().value, c.size()));
    if (auto started = parts.back()->start(c, batch.grouped ? &all : nullptr); !started)
      return describe(one) + ": " + to_string(started.error());
  }
  if (batch.grouped)
    if (auto ended = all.end(); !ended) return to_string(ended.error());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (const auto& work : parts[i]->works())
      if (auto done = work->wait(std::chrono::seconds(60)); !done)
        return describe(batch.operations[i]) + ": " + to_string(done.error());
    if (const auto wrong = parts[i]->check(); !wrong.empty())
      return describe(batch.operations[i]) + ": " + wrong;
  }
  return {};
}

int fail_with(const std::string& what) {
  std::printf("FAILED %s\n", what.c_str());
  return 1;
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) return fail_with("usage: stream_rank <first seed> <seeds>");
  const std::uint64_t first = std::strtoull(words[1], nullptr, 10);
  const std::uint64_t seeds = std::strtoull(words[2], nullptr, 10);
  auto world = join();
  if (!world) return fail_with(to_string(world.error()));
  const auto self = static_cast<std::int32_t>((*world)->rank().value);
  auto reversed = (*world)->split({.colour = 0, .key = -self});
  auto halves = (*world)->split({.colour = self % 2, .key = self});
  if (!reversed || !halves) return fail_with("a split failed");
  const std::vector<communicator*> all{world->get(), reversed->get(), halves->get()};
  for (std::uint64_t seed = first; seed < first + seeds; ++seed)
    for (const stream_batch& batch : reference::draw_stream(seed, wishes))
      if (const auto wrong = run_batch(batch, all); !wrong.empty())
        return fail_with("seed " + std::to_string(seed) + ", rank " + std::to_string(self) + ": " +
                         wrong);
  for (auto* one : {halves->get(), reversed->get(), world->get()})
    if (auto gone = one->finalize(std::chrono::seconds(20)); !gone)
      return fail_with(to_string(gone.error()));
  std::printf("checked %llu seeds\n", static_cast<unsigned long long>(seeds));
  return 0;
}
