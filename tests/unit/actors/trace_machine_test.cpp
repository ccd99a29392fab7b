#define BOOST_TEST_MODULE trace_machine
#include "actors/trace/trace_machine.hpp"

#include <boost/test/unit_test.hpp>

#include <array>

namespace troupe::actors {
namespace {

using namespace std::chrono_literals;

constexpr instant zero{1s};

operation_trace called() {
  operation_trace t;
  t.record.ranks = 4;
  step(t, operation_queued{zero + 10s}, zero);
  return t;
}

BOOST_AUTO_TEST_CASE(the_time_before_the_start_is_queueing_for_resources) {
  auto t = called();
  BOOST_TEST((t.record.phase == operation_phase::pending));
  step(t, operation_began{{.algorithm = algorithm::ring, .bytes = 64, .ranks = 4}}, zero + 5ms);
  BOOST_TEST((t.record.phase == operation_phase::current));
  BOOST_TEST((t.record.waited_for_resources == 5ms));
  BOOST_TEST((t.record.queueing() == 5ms));
  BOOST_TEST((t.record.algorithm == algorithm::ring));
}

BOOST_AUTO_TEST_CASE(waits_are_told_apart_and_add_up) {
  auto t = called();
  step(t, operation_began{{.ranks = 4}}, zero);
  t.record.open_accepts = 1;
  t.record.open_puts = 1;
  step(t, operation_stepped{}, zero);
  step(t, transfer_finished{}, zero + 3ms);
  t.record.open_accepts = 0;
  step(t, operation_stepped{1}, zero + 3ms);  // reduces what came
  step(t, operation_stepped{}, zero + 4ms);   // only the put is left
  step(t, transfer_finished{}, zero + 6ms);
  t.record.open_puts = 0;
  step(t, operation_finished{}, zero + 6ms);
  BOOST_TEST((t.record.waited_for_peers == 3ms));
  BOOST_TEST((t.record.waited_for_sending == 2ms));
  BOOST_TEST((t.record.waited_for_resources == 0ms));
  BOOST_TEST((t.record.first_byte == zero + 3ms));
  BOOST_TEST((t.record.last_byte == zero + 6ms));
  BOOST_TEST((t.record.execution() == 6ms));
  BOOST_TEST(t.record.contributors == 4u);
}

BOOST_AUTO_TEST_CASE(a_look_counts_the_wait_so_far_and_names_each_rank_once) {
  auto t = called();
  step(t, operation_began{}, zero);
  t.record.open_accepts = 3;
  step(t, operation_stepped{}, zero);
  const std::array peers{rank{2}, rank{1}, rank{2}};
  step(t, waits_looked_at{peers}, zero + 1s);
  BOOST_TEST((t.record.waited_for_peers == 1s));
  BOOST_TEST(t.record.waits_for_count == 2u);
  BOOST_TEST((t.record.named_waits()[0] == rank{2}));
  BOOST_TEST((t.record.named_waits()[1] == rank{1}));
}

BOOST_AUTO_TEST_CASE(more_ranks_than_can_be_named_are_counted) {
  auto t = called();
  std::array<rank, 9> peers{};
  for (std::uint32_t i = 0; i < peers.size(); ++i)
    peers[i] = rank{i};
  step(t, waits_looked_at{peers}, zero);
  BOOST_TEST(t.record.waits_for_count == 9u);
  BOOST_TEST(t.record.named_waits().size() == named_wait_count);
}

BOOST_AUTO_TEST_CASE(a_failed_operation_keeps_whom_it_waited_for) {
  auto t = called();
  step(t, operation_began{}, zero);
  const std::array peers{rank{3}};
  step(t, waits_looked_at{peers}, zero + 1s);
  step(t, operation_finished{errc::timed_out, rank{3}}, zero + 1s);
  BOOST_TEST(t.record.waits_for_count == 1u);
  BOOST_TEST(t.record.contributors == 0u);
  BOOST_TEST((t.record.failed == errc::timed_out));
}

}  // namespace
}  // namespace troupe::actors
