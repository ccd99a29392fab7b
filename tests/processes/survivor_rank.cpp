// A rank of a fault-tolerant job. All-reduces again and again; one rank meets its end on the way.
//
// Usage: survivor_rank STEPS COUNT [VICTIM STEP kill|stop|leave|replace FILE]
//   With "replace" the victim is killed, and the first of the others writes an invitation into
//   FILE.invitation; who comes in with it begins where the others are. With "stop" and "replace" a
//   step takes ten milliseconds more. The victim notes in FILE when (nanoseconds of
//   CLOCK_MONOTONIC) it ends or stops, right after it called the operation of that step.
// Prints "recovered <milliseconds> epoch <e> of <n> ranks" when the first operation without the
// victim is done, and at the end one of
//   "ended ok <steps> epoch <e> contributors <names> bits <hash of the last result>"
//   "ended <code> at step <s>, input <intact|broken>: <message>"
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "runtime/communicator.hpp"

namespace {

std::int64_t monotonic_ns() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

struct plan {
  long steps = 0;
  std::size_t count = 0;
  long victim = -1;
  long at = -1;
  std::string how = {};
  std::string file = {};
};

float input(std::uint32_t name, long step, std::size_t element) {
  return static_cast<float>(
      (name * 37 + static_cast<std::uint64_t>(step) * 11 + element * 5) % 509 + 1);
}

void meet_end(const plan& p, troupe::communicator& world) {
  std::ofstream(p.file) << monotonic_ns() << std::endl;
  if (p.how == "leave") {
    const auto done = world.finalize(std::chrono::seconds(5));
    std::printf("left %s\n", done ? "well" : done.error().message.c_str());
    std::exit(0);
  }
  ::raise(p.how == "stop" ? SIGSTOP : SIGKILL);
}

void write_invitation(const plan& p, troupe::communicator& world) {
  const auto text = world.invite();
  if (!text) {
    std::printf("no invitation: %s\n", text.error().message.c_str());
    return;
  }
  const auto path = p.file + ".invitation";
  std::ofstream(path + ".new") << *text << std::endl;
  std::rename((path + ".new").c_str(), path.c_str());
}

std::int64_t noted_in(const std::string& file) {
  std::int64_t at = 0;
  std::ifstream(file) >> at;
  return at;
}

bool holds(const std::vector<float>& data, const std::vector<troupe::rank>& names, long step) {
  for (std::size_t i = 0; i < data.size(); ++i) {
    float expected = 0;
    for (const auto name : names)
      expected += input(name.value, step, i);
    if (data[i] != expected) return false;
  }
  return true;
}

std::uint64_t bits_of(const std::vector<float>& data) {
  std::uint64_t hash = 14695981039346656037ull;
  for (const float value : data) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    hash = (hash ^ bits) * 1099511628211ull;
  }
  return hash;
}

std::string listed(const std::vector<troupe::rank>& names) {
  std::string out;
  for (const auto name : names)
    out += (out.empty() ? "" : ",") + std::to_string(name.value);
  return out;
}

int end_in_error(const troupe::failure& why, const std::vector<float>& data, std::uint32_t self,
                 long step) {
  const bool intact = holds(data, {troupe::rank{self}}, step);
  std::printf("ended %s at step %ld, input %s: %s\n", std::string(to_string(why.code())).c_str(),
              step, intact ? "intact" : "broken", why.message.c_str());
  return 3;
}

int run(const plan& p, troupe::communicator& world) {
  const auto now = world.members();
  const auto self = now.names[to_index(now.self)];
  std::vector<float> data(p.count);
  std::vector<troupe::rank> who;
  std::uint32_t epoch = 0;
  const bool is_slow = p.how == "stop" || p.how == "replace";
  // One all_reduce a step, so that a newcomer knows which step the others are at.
  for (long step = static_cast<long>(now.first_operation.value); step <= p.steps; ++step) {
    for (std::size_t i = 0; i < p.count; ++i)
      data[i] = input(self, step, i);
    const auto work =
        world.all_reduce({.send = data.data(), .receive = data.data(), .count = p.count});
    if (!work) return end_in_error(work.error(), data, self, step);
    if (self == static_cast<std::uint32_t>(p.victim) && step == p.at) meet_end(p, world);
    if (const auto done = (*work)->wait(); !done)
      return end_in_error(done.error(), data, self, step);
    if (is_slow) ::usleep(10'000);
    const auto before = who.size();
    who = (*work)->contributors();
    if (before != 0 && who.size() < before) {
      const auto ns = monotonic_ns() - noted_in(p.file);
      std::printf("recovered %.3f epoch %u of %zu ranks\n", static_cast<double>(ns) / 1e6,
                  (*work)->epoch().value, who.size());
      if (p.how == "replace" && who.front().value == self) write_invitation(p, world);
    }
    epoch = (*work)->epoch().value;
    if (!holds(data, who, step)) {
      std::printf("ended wrong at step %ld\n", step);
      return 4;
    }
  }
  std::printf("ended ok %ld epoch %u contributors %s bits %016" PRIx64 "\n", p.steps, epoch,
              listed(who).c_str(), bits_of(data));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 7) {
    std::fprintf(stderr,
                 "usage: survivor_rank STEPS COUNT [VICTIM STEP kill|stop|leave|replace FILE]\n");
    return 2;
  }
  plan p{.steps = std::atol(argv[1]), .count = static_cast<std::size_t>(std::atol(argv[2]))};
  if (argc == 7)
    p.victim = std::atol(argv[3]), p.at = std::atol(argv[4]), p.how = argv[5], p.file = argv[6];
  ::setvbuf(stdout, nullptr, _IOLBF, 0);
  troupe::communicator_options options;
  options.settings = {{"fault_tolerance.world", "continue"}};
  auto world = troupe::join(options);
  if (!world) {
    std::printf("ended %s at step 0, input intact: %s\n",
                std::string(to_string(world.error().code())).c_str(),
                world.error().message.c_str());
    return 3;
  }
  return run(p, **world);
}
