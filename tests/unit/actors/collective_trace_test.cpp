#define BOOST_TEST_MODULE collective_trace
#include "actors/trace/collective_trace.hpp"

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <thread>

#include "runtime/memory_ledger.hpp"

namespace troupe::actors {
namespace {

operation_record numbered(std::uint64_t serial, operation_phase phase) {
  operation_record r;
  r.serial = serial;
  r.phase = phase;
  // The same number at both ends of the record: a torn one differs.
  r.number.value = serial;
  r.waits_for_count = static_cast<std::uint32_t>(serial);
  return r;
}

BOOST_AUTO_TEST_CASE(running_operations_are_never_pushed_out_by_ended_ones) {
  memory_ledger ledger;
  collective_trace trace(64, 16, ledger.of(memory_purpose::traces));
  trace.publish(0, numbered(trace.next_serial(), operation_phase::current));
  for (int i = 0; i < 100; ++i) {
    const auto serial = trace.next_serial();
    trace.publish(1, numbered(serial, operation_phase::current));
    trace.retire(1, numbered(serial, operation_phase::past));
  }
  std::vector<operation_record> all;
  BOOST_TEST(trace.read(all));
  BOOST_TEST(all.size() == 17u);
  BOOST_TEST(all.front().serial == 1u);
  BOOST_TEST((all.front().phase == operation_phase::current));
  BOOST_TEST(all[1].serial == 86u);
  BOOST_TEST(all.back().serial == 101u);
}

BOOST_AUTO_TEST_CASE(memory_comes_with_use_and_no_more_in_the_steady_state) {
  memory_ledger ledger;
  collective_trace trace(4096, 64, ledger.of(memory_purpose::traces));
  BOOST_TEST(ledger.usage()[memory_purpose::traces] == 0u);
  const auto round = [&] {
    for (int i = 0; i < 64; ++i) {
      const auto serial = trace.next_serial();
      trace.publish(0, numbered(serial, operation_phase::current));
      trace.retire(0, numbered(serial, operation_phase::past));
    }
  };
  round();
  const auto warm = ledger.usage()[memory_purpose::traces];
  BOOST_TEST(warm > 0u);
  for (int i = 0; i < 10; ++i)
    round();
  BOOST_TEST(ledger.usage()[memory_purpose::traces] == warm);
}

BOOST_AUTO_TEST_CASE(readers_see_whole_records_and_every_operation_once_while_it_is_written) {
  memory_ledger ledger;
  collective_trace trace(8, 256, ledger.of(memory_purpose::traces));
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    // A window of operations that overlap: each slot's ends before its next begins.
    std::array<std::uint64_t, 8> running{};
    for (std::size_t i = 0; !stop.load(); i = (i + 1) % running.size()) {
      const auto slot = static_cast<std::uint16_t>(i);
      if (running[i] != 0) trace.retire(slot, numbered(running[i], operation_phase::past));
      running[i] = trace.next_serial();
      trace.publish(slot, numbered(running[i], operation_phase::current));
    }
  });
  std::size_t torn = 0, twice = 0, reads = 0;
  for (; reads < 2000; ++reads) {
    std::vector<operation_record> all;
    if (!trace.read(all)) continue;
    for (std::size_t i = 0; i < all.size(); ++i) {
      torn += all[i].number.value != all[i].serial ||
              all[i].waits_for_count != static_cast<std::uint32_t>(all[i].serial);
      twice += i != 0 && all[i].serial == all[i - 1].serial;
    }
  }
  stop.store(true);
  writer.join();
  BOOST_TEST(torn == 0u);
  BOOST_TEST(twice == 0u);
}

BOOST_AUTO_TEST_CASE(a_cell_is_empty_before_and_after_its_operation) {
  record_cell cell;
  bool torn = false;
  BOOST_TEST(!cell.read(torn).has_value());
  BOOST_TEST(!torn);
  cell.write(numbered(7, operation_phase::current));
  BOOST_TEST(cell.read(torn)->serial == 7u);
  cell.clear();
  BOOST_TEST(!cell.read(torn).has_value());
  BOOST_TEST(!torn);
}

}  // namespace
}  // namespace troupe::actors
