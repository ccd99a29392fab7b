#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/communicator.hpp"
#include "tests/bench/peers/rank_loop.hpp"

namespace {

using namespace troupe;
using peers::operation;

/// One rank, through nothing but the public API.
class troupe_library : public peers::measured_library {
 public:
  explicit troupe_library(std::unique_ptr<communicator> world) : world_(std::move(world)) {}

  std::uint32_t rank() const override { return to_index(world_->rank()); }
  std::uint32_t size() const override { return world_->size(); }
  const float* result() const override { return planned_.receive.data(); }
  bool barrier() override { return done(world_->barrier()); }
  void finish() override { (void)world_->finalize(std::chrono::seconds(5)); }

  bool prepare(const peers::planned_call& planned) override {
    planned_ = planned;
    return true;
  }

  bool call() override {
    const float* send = planned_.send.data();
    float* receive = planned_.receive.data();
    const std::uint64_t count = planned_.count;
    switch (planned_.what) {
      case operation::all_reduce:
        return done(world_->all_reduce({.send = send, .receive = receive, .count = count}));
      case operation::all_gather:
        return done(world_->all_gather({.send = send, .receive = receive, .count = count}));
      case operation::reduce_scatter:
        return done(world_->reduce_scatter({.send = send, .receive = receive, .count = count}));
      case operation::all_to_all:
        return done(world_->all_to_all({.send = send, .receive = receive, .count = count}));
      case operation::barrier: return barrier();
      case operation::ping_pong:
        if (rank() == 0)
          return done(world_->send({.buffer = send, .count = count, .peer = troupe::rank{1}})) &&
                 done(
                     world_->receive({.buffer = receive, .count = count, .peer = troupe::rank{1}}));
        return done(
                   world_->receive({.buffer = receive, .count = count, .peer = troupe::rank{0}})) &&
               done(world_->send({.buffer = receive, .count = count, .peer = troupe::rank{0}}));
    }
    return failed("no such operation");
  }

 private:
  bool done(outcome<work_handle> work) {
    if (!work) return failed(to_string(work.error()));
    if (auto end = (*work)->wait(); !end) return failed(to_string(end.error()));
    return true;
  }

  std::unique_ptr<communicator> world_;
  peers::planned_call planned_;
};

/// A port of loopback that was free a moment ago.
std::uint16_t free_port() {
  const int s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ::bind(s, reinterpret_cast<sockaddr*>(&address), sizeof address);
  socklen_t length = sizeof address;
  ::getsockname(s, reinterpret_cast<sockaddr*>(&address), &length);
  ::close(s);
  return ntohs(address.sin_port);
}

std::unique_ptr<communicator> join_or_end(const communicator_options& options) {
  auto world = join(options);
  if (!world) {
    std::fprintf(stderr, "troupe_peer: %s\n", to_string(world.error()).c_str());
    std::exit(3);
  }
  return std::move(*world);
}

/// Every rank an endpoint of its own in this process, with a thread that calls it.
int serve_threads(std::uint32_t count, const communicator_options& common,
                  const peers::driver_options& driver) {
  const std::string rendezvous = "127.0.0.1:" + std::to_string(free_port());
  std::vector<std::thread> threads;
  for (std::uint32_t r = 0; r < count; ++r)
    threads.emplace_back([&, r] {
      communicator_options options = common;
      options.rank = r;
      options.world_size = count;
      options.rendezvous = rendezvous;
      troupe_library library(join_or_end(options));
      peers::serve(library, driver);
    });
  for (auto& t : threads)
    t.join();
  return 0;
}

/// How long a job takes from nothing to its first barrier: prints when this rank was through, and
/// what it took: messages sent and received, connections accepted and dialled.
int pass_first_barrier(const communicator_options& options) {
  auto world = join_or_end(options);
  const communicator& joined = *world;
  troupe_library library(std::move(world));
  if (!library.barrier()) {
    std::fprintf(stderr, "troupe_peer: %s\n", library.reason().c_str());
    return 3;
  }
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  const auto took = joined.start_up();
  std::printf("through %lld %llu %llu %llu %llu\n",
              static_cast<long long>(t.tv_sec) * 1'000'000'000 + t.tv_nsec,
              static_cast<unsigned long long>(took.messages_sent),
              static_cast<unsigned long long>(took.messages_received),
              static_cast<unsigned long long>(took.connections_accepted),
              static_cast<unsigned long long>(took.connections_dialled));
  library.finish();
  return 0;
}

}  // namespace

/// troupe_peer [--set NAME=VALUE]... (--first-barrier | --control PATH [--threads N])
int main(int argument_count, char** arguments) {
  communicator_options options;
  std::uint32_t threads = 0;
  bool first_barrier = false;
  for (int i = 1; i < argument_count; ++i) {
    const std::string word = arguments[i];
    const std::string next = i + 1 < argument_count ? arguments[i + 1] : "";
    if (word == "--first-barrier") first_barrier = true;
    if (word == "--threads") threads = static_cast<std::uint32_t>(std::stoul(next));
    if (word == "--set")
      options.settings.emplace_back(next.substr(0, next.find('=')),
                                    next.substr(next.find('=') + 1));
  }
  if (first_barrier) return pass_first_barrier(options);
  const auto driver = peers::driver_options_of(argument_count, arguments);
  if (threads > 0) return serve_threads(threads, options, driver);
  troupe_library library(join_or_end(options));
  return peers::serve(library, driver);
}
