#define BOOST_TEST_MODULE mailbox
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdio>
#include <thread>

#include "kernels/device/memory.hpp"
#include "kernels/device/stream.hpp"
#include "kernels/mailbox/host_mailbox.hpp"
#include "kernels/mailbox/round_trip.hpp"
#include "tests/gpu/gpu_fixture.hpp"
#include "tests/gpu/members.hpp"

namespace troupe::test {

namespace {

using clock = std::chrono::steady_clock;

/// Two mailboxes, a kernel that asks, and the host's ends.
struct conversation {
  kernels::pinned_memory memory = got(kernels::pinned_memory::allocate(
      2 * sizeof(kernels::mailbox_layout) + sizeof(std::uint32_t)));
  kernels::stream in = got(kernels::stream::create(0, kernels::stream_priority::high));
  kernels::mailbox_layout& to_host = *reinterpret_cast<kernels::mailbox_layout*>(memory.data());
  kernels::mailbox_layout& to_device = (&to_host)[1];
  std::uint32_t& wrong = *reinterpret_cast<std::uint32_t*>(&(&to_host)[2]);
  kernels::host_mailbox_reader questions{to_host};
  kernels::host_mailbox_writer answers{to_device};

  /// Answers until the kernel is through; how many questions there were.
  std::uint32_t answer(std::uint32_t rounds, std::uint64_t offset) {
    std::uint32_t answered = 0;
    const auto limit = clock::now() + std::chrono::seconds(30);
    while (answered < rounds && clock::now() < limit)
      if (const auto question = questions.take()) {
        answers.post(1, 0, kernels::round_trip_answer(question->argument + offset));
        ++answered;
      }
    return answered;
  }
};

std::string ask_and_answer(member&) {
  constexpr std::uint32_t rounds = 100'000;  // the ring goes round 390 times
  conversation talk;
  check(kernels::launch_round_trips(talk.in.ref(), talk.to_host, talk.to_device, rounds,
                                    &talk.wrong));
  const auto begin = clock::now();
  const auto answered = talk.answer(rounds, 0);
  const std::chrono::duration<double, std::micro> took = clock::now() - begin;
  std::printf("mailbox round trip, GPU to host to GPU: %.2f us\n", took.count() / rounds);
  got(talk.in.wait());
  if (answered != rounds) return "questions were lost";
  return talk.wrong == 0 ? "" : std::to_string(talk.wrong) + " answers were wrong";
}

std::string wrong_answers_are_counted(member&) {
  constexpr std::uint32_t rounds = 10;
  conversation talk;
  check(kernels::launch_round_trips(talk.in.ref(), talk.to_host, talk.to_device, rounds,
                                    &talk.wrong));
  talk.answer(rounds, 7);
  got(talk.in.wait());
  return talk.wrong == rounds ? "" : "wrong answers passed: " + std::to_string(talk.wrong);
}

std::string closing_frees_the_kernel(member&) {
  conversation talk;
  check(kernels::launch_round_trips(talk.in.ref(), talk.to_host, talk.to_device, 10, &talk.wrong));
  talk.answer(3, 0);
  talk.to_device.closed = 1;
  const auto begin = clock::now();
  got(talk.in.wait());
  return clock::now() - begin < std::chrono::seconds(1) ? "" : "freed only after a second";
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_question_of_a_kernel_is_answered_in_order, *on_a_gpu()) {
  BOOST_TEST(run_members(living::in_processes, 1, std::chrono::seconds(60), ask_and_answer) == "");
}

BOOST_AUTO_TEST_CASE(a_wrong_answer_is_noticed_by_the_kernel, *on_a_gpu()) {
  BOOST_TEST(run_members(living::in_processes, 1, std::chrono::seconds(60),
                         wrong_answers_are_counted) == "");
}

BOOST_AUTO_TEST_CASE(a_closed_mailbox_frees_a_waiting_kernel_within_a_second, *on_a_gpu()) {
  BOOST_TEST(run_members(living::in_processes, 1, std::chrono::seconds(60),
                         closing_frees_the_kernel) == "");
}

}  // namespace troupe::test
