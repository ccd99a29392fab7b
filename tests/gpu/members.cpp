#include "tests/gpu/members.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <thread>

#include "kernels/device/device.hpp"
#include "kernels/domain/domain_layout.hpp"

namespace troupe::test {

namespace {

using clock = std::chrono::steady_clock;

constexpr std::uint32_t members_max = kernels::domain_ranks_max;
constexpr std::size_t word_bytes_max = 256;
constexpr std::size_t text_bytes_max = 1024;

/// Memory that all members have, made before they are.
struct gathering {
  std::atomic<std::uint32_t> arrived[members_max];
  std::byte words[2][members_max][word_bytes_max];
  char texts[members_max][text_bytes_max];
  std::int64_t number;
};

class shared_gathering {
 public:
  shared_gathering()
      : place_(::mmap(nullptr, sizeof(gathering), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0)),
        shared_(new (place_) gathering{}) {}
  ~shared_gathering() { ::munmap(place_, sizeof(gathering)); }
  shared_gathering(const shared_gathering&) = delete;
  shared_gathering& operator=(const shared_gathering&) = delete;

  gathering& get() { return *shared_; }

 private:
  void* place_;
  gathering* shared_;
};

/// Rounds of words in shared memory. A member is at most one round ahead of any other, so two sets
/// of words are enough.
class shared_meeting : public kernels::meeting {
 public:
  shared_meeting(gathering& shared, std::uint32_t rank, std::uint32_t size)
      : shared_(&shared), rank_(rank), size_(size) {}

  outcome<void> all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    if (mine.size() > word_bytes_max) return fail(errc::bad_argument, "too long a word");
    ++round_;
    auto& words = shared_->words[round_ % 2];
    std::memcpy(words[rank_], mine.data(), mine.size());
    shared_->arrived[rank_].store(round_, std::memory_order_release);
    const auto limit = clock::now() + std::chrono::seconds(60);
    for (std::uint32_t rank = 0; rank < size_; ++rank) {
      while (shared_->arrived[rank].load(std::memory_order_acquire) < round_) {
        if (clock::now() > limit)
          return fail(errc::timed_out, "member " + std::to_string(rank) + " did not come");
        std::this_thread::yield();
      }
      std::memcpy(all.data() + rank * mine.size(), words[rank], mine.size());
    }
    return {};
  }

 private:
  gathering* shared_;
  std::uint32_t rank_;
  std::uint32_t size_;
  std::uint32_t round_ = 0;
};

void run_one(gathering& shared, std::uint32_t rank, std::uint32_t size, const member_body& body) {
  const auto devices = kernels::device_count();
  std::string text = devices && *devices > 0 ? "" : "no GPU";
  if (text.empty()) {
    shared_meeting others(shared, rank, size);
    member who{rank, size, static_cast<int>(rank) % *devices, &others};
    const kernels::device_scope current(who.device);
    text = body(who);
  }
  std::strncpy(shared.texts[rank], text.c_str(), text_bytes_max - 1);
}

/// The processes, each with its ranks.
std::vector<pid_t> start(living how, std::uint32_t size, gathering& shared,
                         const member_body& body) {
  std::vector<pid_t> children;
  const std::uint32_t processes = how == living::in_processes ? size : 1;
  for (std::uint32_t process = 0; process < processes; ++process) {
    const pid_t child = ::fork();
    if (child > 0) children.push_back(child);
    if (child != 0) continue;
    // The handlers of the test program would go on with its next case in the child.
    for (const int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL})
      ::signal(number, SIG_DFL);
    if (how == living::in_processes) {
      run_one(shared, process, size, body);
    } else {
      std::vector<std::jthread> threads;
      for (std::uint32_t rank = 0; rank < size; ++rank)
        threads.emplace_back([&, rank] { run_one(shared, rank, size, body); });
    }
    std::fflush(nullptr);
    ::_exit(0);
  }
  return children;
}

/// Waits until the deadline, kills who is left. What was wrong with the processes.
std::string collect(std::vector<pid_t> children, clock::time_point deadline) {
  std::string wrong;
  while (!children.empty()) {
    const bool late = clock::now() > deadline;
    for (auto at = children.begin(); at != children.end();) {
      int status = 0;
      if (late && ::kill(*at, SIGKILL) == 0) wrong += "hangs at the deadline; ";
      if (::waitpid(*at, &status, late ? 0 : WNOHANG) == 0) {
        ++at;
        continue;
      }
      if (!late && WIFEXITED(status) && WEXITSTATUS(status) != 0)
        wrong += "ended with status " + std::to_string(WEXITSTATUS(status)) + "; ";
      if (!late && WIFSIGNALED(status))
        wrong += "ended by signal " + std::to_string(WTERMSIG(status)) + "; ";
      at = children.erase(at);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return wrong;
}

}  // namespace

const char* to_string(living how) {
  return how == living::in_processes ? "processes" : "one process";
}

outcome<void> member::gather() const {
  const std::byte nothing{};
  std::vector<std::byte> all(size);
  return others->all_gather(std::span(&nothing, 1), all);
}

std::vector<double> member::all_say(double mine) const {
  std::vector<double> all(size);
  static_cast<void>(others->all_gather(std::as_bytes(std::span(&mine, 1)),
                                       std::as_writable_bytes(std::span(all))));
  return all;
}

int visible_devices() {
  shared_gathering shared;
  const pid_t child = ::fork();
  if (child == 0) {
    shared.get().number = kernels::device_count().value_or(0);
    ::_exit(0);
  }
  int status = 0;
  if (child > 0) ::waitpid(child, &status, 0);
  return static_cast<int>(shared.get().number);
}

std::string run_members(living how, std::uint32_t size, std::chrono::seconds deadline,
                        const member_body& body) {
  shared_gathering shared;
  auto wrong = collect(start(how, size, shared.get(), body), clock::now() + deadline);
  for (std::uint32_t rank = 0; rank < size; ++rank)
    if (shared.get().texts[rank][0] != '\0')
      wrong += "member " + std::to_string(rank) + ": " + shared.get().texts[rank] + "; ";
  return wrong;
}

}  // namespace troupe::test
