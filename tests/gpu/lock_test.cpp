#define BOOST_TEST_MODULE lock
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdio>
#include <optional>
#include <string>

#include "kernels/reduce/served_reduction.hpp"
#include "tests/gpu/domain_fixture.hpp"
#include "tests/gpu/gpu_fixture.hpp"
#include "tests/gpu/stranger.hpp"

/// The trap: a thread of the trainer holds the lock of a GPU while it waits for what runs there,
/// and what runs there waits for a call that needs the lock. A thousand operations beside a
/// stranger who does nothing else must end.
namespace troupe::test {

namespace {

using namespace std::chrono_literals;

constexpr int operation_count = 1'000;
constexpr std::uint64_t buffer_bytes = 8 << 20;
constexpr auto deadline = 100s;

enum class start_by { calls, graph };

void report(const char* what, start_by how, living where, const stranger& other,
            std::chrono::steady_clock::time_point begin) {
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  std::printf(
      "%s, %s, %s: %d operations in %.0f ms beside %llu rounds of malloc and free, "
      "%llu first launches\n",
      what, how == start_by::calls ? "eager" : "graph", to_string(where), operation_count,
      took.count(), static_cast<unsigned long long>(other.rounds()),
      static_cast<unsigned long long>(other.first_launches()));
}

/// Each shape of operation in turn: kernels alone, a resident kernel with copies, copies alone.
outcome<void> one_of_each(domain_seat& seat, int number) {
  auto* const send = seat.send.data();
  auto* const receive = seat.receive.data();
  const auto in = seat.in.ref();
  switch (number % 4) {
    case 0:
      return seat.group->all_reduce(
          in, {.send = send, .receive = receive, .count = 1 << 20, .blocks = 8});
    case 1: return seat.group->all_reduce(in, {.send = send, .receive = receive, .count = 1'000});
    case 2:
      return seat.group->all_reduce(in, {.send = send,
                                         .receive = receive,
                                         .count = 1 << 20,
                                         .path = kernels::all_reduce_path::pipelined});
    default: return seat.group->all_gather(in, {send, receive, 1 << 20});
  }
}

std::string beside_a_stranger(member& who, start_by how, living where) {
  domain_seat seat(who, buffer_bytes);
  std::optional<kernels::graph> captured;
  if (how == start_by::graph)
    captured = got(kernels::graph::capture(seat.in, [&]() -> outcome<void> {
      for (int i = 0; i < 10; ++i)
        if (auto done = one_of_each(seat, i); !done) return done;
      return {};
    }));
  std::optional<stranger> other;
  if (where == living::in_processes || who.rank == 0) {
    std::vector<int> devices{who.device};
    if (where == living::in_one_process) devices = {0, 1};
    other.emplace(devices);
  }
  got(who.gather());
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < operation_count; ++i) {
    if (!captured)
      got(one_of_each(seat, i));
    else if (i % 10 == 0)
      check(captured->launch(seat.in.ref()));
  }
  got(seat.in.wait());
  got(who.gather());
  if (!other) return "";
  report("domain", how, where, *other, begin);
  return other->failed() == 0 ? "" : "the stranger met error " + std::to_string(other->failed());
}

/// One thread starts the operations of both GPUs, one after the other.
std::string one_thread_for_both(member& who) {
  static std::atomic<domain_seat*> second{nullptr};
  domain_seat seat(who, buffer_bytes);
  if (who.rank != 0) {
    second = &seat;
    got(who.gather());
    got(who.gather());
    return "";
  }
  got(who.gather());
  stranger other({0, 1});
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < operation_count; ++i)
    for (auto* const driven : {&seat, second.load()})
      got(one_of_each(*driven, i));
  got(seat.in.wait());
  got(second.load()->in.wait());
  report("domain, one thread", start_by::calls, living::in_one_process, other, begin);
  got(who.gather());
  return other.failed() == 0 ? "" : "the stranger met error " + std::to_string(other.failed());
}

/// Operations of a kernel that waits for chunks from the host.
std::string served_beside_a_stranger(member& who) {
  auto served = got(kernels::served_reduction::create(who.device));
  auto in = got(kernels::stream::create(who.device, kernels::stream_priority::high));
  auto memory = got(kernels::device_memory::allocate(who.device, buffer_bytes));
  stranger other({who.device});
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < operation_count; ++i) {
    check(served.start(in.ref(), {.blocks = 2}));
    for (int chunk = 0; chunk < 8; ++chunk) {
      if (!served.post({memory.data(), memory.data(), memory.data() + (4 << 20), 65'536}))
        return "a chunk was refused";
      while (served.done() < served.posted())
        served.take_done();
    }
    served.finish();
    got(in.wait());
  }
  report("served reduction", start_by::calls, living::in_processes, other, begin);
  return other.failed() == 0 ? "" : "the stranger met error " + std::to_string(other.failed());
}

void run(living where, start_by how) {
  BOOST_TEST_CONTEXT("in " << to_string(where))
  BOOST_TEST(run_members(where, 2, deadline,
                         [=](member& who) { return beside_a_stranger(who, how, where); }) == "");
}

}  // namespace

BOOST_AUTO_TEST_CASE(operations_of_two_processes_end_beside_a_stranger, *on_gpus(2)) {
  run(living::in_processes, start_by::calls);
  run(living::in_processes, start_by::graph);
}

BOOST_AUTO_TEST_CASE(operations_of_two_threads_end_beside_a_stranger, *on_gpus(2)) {
  run(living::in_one_process, start_by::calls);
  run(living::in_one_process, start_by::graph);
}

BOOST_AUTO_TEST_CASE(operations_of_one_thread_for_two_gpus_end_beside_a_stranger, *on_gpus(2)) {
  BOOST_TEST(run_members(living::in_one_process, 2, deadline, one_thread_for_both) == "");
}

BOOST_AUTO_TEST_CASE(chunks_of_a_waiting_kernel_end_beside_a_stranger, *on_a_gpu()) {
  BOOST_TEST(run_members(living::in_processes, 1, deadline, served_beside_a_stranger) == "");
}

}  // namespace troupe::test
