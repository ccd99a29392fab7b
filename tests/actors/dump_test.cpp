#define BOOST_TEST_MODULE dump
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <thread>

#include "actors/rank/rank_machine.hpp"
#include "runtime/diagnosis.hpp"
#include "tests/actors/local_job.hpp"

namespace troupe::test {
namespace {

using namespace std::chrono_literals;

/// A dump that `seen` likes; the last one if none came within 20 s.
template <class Seen>
rank_dump dump_when(communicator& c, Seen seen) {
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (true) {
    auto dump = c.dump();
    if (seen(dump) || std::chrono::steady_clock::now() > end) return dump;
    std::this_thread::sleep_for(5ms);
  }
}

BOOST_AUTO_TEST_CASE(an_operation_that_ended_says_when_how_and_with_whom) {
  auto job = join_locally(2);
  BOOST_REQUIRE(job.ranks[0] && job.ranks[1]);
  std::vector<float> data(5000, 1.0f);
  on_all_ranks(job, [&](std::size_t r) {
    std::vector<float> out(data.size());
    const auto work =
        job[r].all_reduce({.send = data.data(), .receive = out.data(), .count = data.size()});
    BOOST_REQUIRE(work.has_value());
    BOOST_REQUIRE((*work)->wait().has_value());
  });
  const auto dump = job[0].dump();
  BOOST_TEST((dump.phase == endpoint_phase::joined));
  BOOST_TEST(dump.complete);
  BOOST_TEST(dump.world_size == 2u);
  BOOST_REQUIRE(dump.operations.size() == 1u);
  const auto& r = dump.operations[0];
  BOOST_TEST((r.phase == operation_phase::past));
  BOOST_TEST((r.failed == errc::ok));
  BOOST_TEST(r.number.value == 1u);
  BOOST_TEST((r.signature.kind == operation_kind::all_reduce));
  BOOST_TEST(r.signature.count == 5000u);
  BOOST_TEST((r.algorithm != algorithm::none));
  BOOST_TEST((r.lanes != lane_kind::none));
  BOOST_TEST(r.bytes == 20'000u);
  BOOST_TEST(r.contributors == 2u);
  BOOST_TEST((r.queued <= r.started && r.started <= r.first_byte && r.first_byte <= r.last_byte &&
              r.last_byte <= r.ended && r.ended <= dump.taken_at));
  BOOST_TEST((r.waited_for_peers + r.waited_for_sending <= r.execution()));
  BOOST_REQUIRE(dump.communicators.size() == 1u);
  const auto& c = dump.communicators[0];
  BOOST_TEST(c.last_called == 1u);
  BOOST_TEST(c.last_started == 1u);
  BOOST_TEST(c.last_ended == 1u);
  BOOST_TEST(c.calls_waiting == 0u);
  BOOST_REQUIRE(dump.links.size() == 1u);
  BOOST_TEST((dump.links[0].peer == rank{1}));
  BOOST_TEST(dump.links[0].lanes_open == dump.links[0].lanes_wanted);
  BOOST_TEST((diagnose(std::vector{dump, job[1].dump()}).verdict == verdict_kind::all_good));
}

BOOST_AUTO_TEST_CASE(a_stuck_operation_is_current_and_names_whom_it_waits_for) {
  auto job = join_locally(3);
  BOOST_REQUIRE(job.ranks[0] && job.ranks[1] && job.ranks[2]);
  const auto work = job[0].barrier();
  const auto other = job[1].barrier();
  BOOST_REQUIRE((work.has_value() && other.has_value()));
  const auto stuck = dump_when(job[0], [](const rank_dump& d) {
    return !d.operations.empty() && d.operations[0].waits_for_count != 0;
  });
  BOOST_REQUIRE(stuck.operations.size() == 1u);
  BOOST_TEST((stuck.operations[0].phase == operation_phase::current));
  const auto waits = stuck.operations[0].named_waits();
  BOOST_TEST((std::find(waits.begin(), waits.end(), rank{2}) != waits.end() ||
              std::find(waits.begin(), waits.end(), rank{1}) != waits.end()));
  BOOST_TEST(stuck.communicators[0].calls_waiting == 1u);
  const std::vector dumps{stuck, job[1].dump(), job[2].dump()};
  const auto found = diagnose(dumps, {.stuck_after = 1ms});
  BOOST_TEST((found.verdict == verdict_kind::never_joined), found.sentence);
  BOOST_TEST((found.culprits == std::vector{rank{2}}), found.sentence);
  job[0].abort();
  const auto after = job[0].dump();
  BOOST_TEST((after.communicators[0].failed == errc::aborted));
  BOOST_TEST((after.operations[0].failed == errc::aborted));
  BOOST_TEST((after.operations[0].phase == operation_phase::past));
}

BOOST_AUTO_TEST_CASE(dumps_are_whole_while_operations_run_and_threads_ask) {
  auto job = join_locally(2);
  BOOST_REQUIRE(job.ranks[0] && job.ranks[1]);
  std::atomic<bool> stop{false};
  std::thread asker([&] {
    while (!stop.load()) {
      const auto dump = job[0].dump();
      for (std::size_t i = 0; i < dump.operations.size(); ++i) {
        const auto& r = dump.operations[i];
        if (!actors::is_collective(r.number) || r.number.value != r.serial)
          BOOST_ERROR("a record is torn");
        if (i != 0 && r.serial <= dump.operations[i - 1].serial) BOOST_ERROR("twice");
      }
    }
  });
  on_all_ranks(job, [&](std::size_t r) {
    for (int i = 0; i < 2000; ++i) {
      float value = 1;
      const auto work = job[r].all_reduce({.send = &value, .receive = &value, .count = 1});
      if (!work || !(*work)->wait()) BOOST_ERROR("an operation failed");
    }
  });
  stop.store(true);
  asker.join();
  const auto last = job[1].dump();
  BOOST_TEST(last.operations.back().number.value == 2000u);
  BOOST_TEST(last.operations.size() == 512u);  // trace.record_count
}

BOOST_AUTO_TEST_CASE(a_failed_communicator_says_why) {
  auto job = join_locally(2);
  BOOST_REQUIRE(job.ranks[0] && job.ranks[1]);
  on_all_ranks(job, [&](std::size_t r) {
    std::vector<float> data(4, 1.0f);
    const auto work =
        job[r].all_reduce({.send = data.data(), .receive = data.data(), .count = 3 + r});
    if (work) [[maybe_unused]]
      const auto done = (*work)->wait();
  });
  const auto dump =
      dump_when(job[0], [](const rank_dump& d) { return d.communicators[0].failed != errc::ok; });
  BOOST_TEST((dump.communicators[0].failed == errc::mismatch));
  BOOST_TEST(dump.communicators[0].failure.find("count 3") != std::string::npos);
  BOOST_REQUIRE(!dump.incidents.empty());
  BOOST_TEST((dump.incidents[0].kind == incident_kind::operation_failed));
}

}  // namespace
}  // namespace troupe::test
