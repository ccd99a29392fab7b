#define BOOST_TEST_MODULE memory_sim
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "actors/simulation/simulated_stage.hpp"
#include "net/bootstrap/address_book.hpp"
#include "net/bootstrap/bootstrap_state.hpp"
#include "runtime/simulation.hpp"

namespace troupe::actors {
namespace {

stage_options small_stage(std::uint32_t ranks) {
  stage_options out;
  out.rank_count = ranks;
  out.options.transport.eager_bytes = 1024;
  out.options.transport.eager_slot_count = 4;
  out.options.transport.window_segment_count = 64;
  out.options.transport.transfer_count = 256;
  out.options.transport.parked_bytes = 16 * 1024;
  out.options.trace.record_count = 16;  // full after the first operations
  return out;
}

constexpr duration patience = std::chrono::seconds(600);

/// Every rank sends to the one after it and receives from the one before it.
void exchange_along_the_ring(simulated_stage& stage, std::uint64_t count, int repetitions) {
  const auto size = stage.size();
  std::vector<std::vector<float>> out(size, std::vector<float>(count, 1.0f));
  std::vector<std::vector<float>> in(size, std::vector<float>(count));
  for (int i = 0; i < repetitions; ++i) {
    std::vector<work_handle> works;
    for (std::uint32_t r = 0; r < size; ++r) {
      auto& world = stage.world(rank{r});
      auto sent =
          world.send({.buffer = out[r].data(), .count = count, .peer = rank{(r + 1) % size}});
      auto got = world.receive(
          {.buffer = in[r].data(), .count = count, .peer = rank{(r + size - 1) % size}});
      BOOST_REQUIRE(sent.has_value());
      BOOST_REQUIRE(got.has_value());
      works.push_back(*sent);
      works.push_back(*got);
    }
    std::size_t done = 0;
    BOOST_REQUIRE(stage.run_until(
        [&] {
          while (done < works.size() && works[done]->test())
            ++done;
          return done == works.size();
        },
        patience));
    for (const auto& work : works)
      BOOST_REQUIRE(work->error().code() == errc::ok);
  }
  // The last messages of an operation are handled after its work is done.
  stage.run_until([] { return false; }, std::chrono::milliseconds(10));
}

std::string text_of(const memory_usage& usage) {
  std::string text;
  for (std::size_t i = 0; i < memory_purpose_count; ++i)
    text += std::string(to_string(static_cast<memory_purpose>(i))) + " " +
            std::to_string(usage.bytes[i]) + ", ";
  return text;
}

/// A rank in the middle: it serves no rendezvous.
memory_usage used_by_a_rank_of(std::uint32_t ranks) {
  simulated_stage stage(small_stage(ranks));
  BOOST_REQUIRE(stage.join_all(patience).has_value());
  exchange_along_the_ring(stage, 100, 4);
  exchange_along_the_ring(stage, 5000, 4);
  return stage.memory(rank{3});
}

BOOST_AUTO_TEST_CASE(nothing_but_the_address_book_grows_with_the_number_of_ranks) {
  const auto few = used_by_a_rank_of(8);
  const auto many = used_by_a_rank_of(1024);
  BOOST_TEST_MESSAGE("8 ranks: " << text_of(few));
  BOOST_TEST_MESSAGE("1024 ranks: " << text_of(many));
  // docs/protocols/bootstrap.md: 36 bytes a rank, and a bit a page while it is gathered.
  const std::uint64_t book = (1024 - 8) * net::book_entry_bytes + 1024 / 8;
  BOOST_TEST(many[memory_purpose::address_book] > few[memory_purpose::address_book]);
  for (std::size_t i = 0; i < memory_purpose_count; ++i) {
    const auto purpose = static_cast<memory_purpose>(i);
    const std::uint64_t room = purpose == memory_purpose::address_book ? book : 0;
    BOOST_TEST(many[purpose] <= few[purpose] + room,
               to_string(purpose) << ": " << few[purpose] << " bytes of 8 ranks, " << many[purpose]
                                  << " of 1024");
  }
}

BOOST_AUTO_TEST_CASE(repeated_operations_hold_no_more_than_the_first_ones) {
  simulated_stage stage(small_stage(4));
  BOOST_REQUIRE(stage.join_all(patience).has_value());
  exchange_along_the_ring(stage, 5000, 20);
  std::vector<memory_usage> before;
  for (std::uint32_t r = 0; r < 4; ++r)
    before.push_back(stage.memory(rank{r}));
  exchange_along_the_ring(stage, 5000, 500);
  for (std::uint32_t r = 0; r < 4; ++r)
    BOOST_TEST(stage.memory(rank{r}).bytes == before[r].bytes,
               text_of(before[r]) << " became " << text_of(stage.memory(rank{r})));
}

BOOST_AUTO_TEST_CASE(an_endpoint_that_ends_gives_back_all_that_it_held) {
  std::vector<std::shared_ptr<const memory_ledger>> ledgers;
  {
    simulated_stage stage(small_stage(4));
    BOOST_REQUIRE(stage.join_all(patience).has_value());
    exchange_along_the_ring(stage, 5000, 3);
    for (std::uint32_t r = 0; r < 4; ++r)
      ledgers.push_back(stage.ledger(rank{r}));
  }
  for (const auto& ledger : ledgers)
    BOOST_TEST(ledger->usage().total() == 0u, text_of(ledger->usage()));
}

BOOST_AUTO_TEST_CASE(a_full_slab_of_works_refuses_the_call_by_name) {
  auto options = small_stage(2);
  options.options.worker.control_bytes = 16 * 1024;
  simulated_stage stage(options);
  BOOST_REQUIRE(stage.join_all(patience).has_value());
  std::vector<float> data(1);
  std::vector<work_handle> works;
  failure refused;
  for (int i = 0; i < 200 && refused.code() == errc::ok; ++i) {
    auto work = stage.world(rank{0}).receive({.buffer = data.data(), .count = 1, .peer = rank{1}});
    if (work)
      works.push_back(*work);
    else
      refused = work.error();
  }
  BOOST_TEST((refused.code() == errc::queue_full));
  BOOST_TEST(refused.message.find("worker.control_bytes") != std::string::npos, refused.message);
  BOOST_TEST(works.size() > 10u);
}

BOOST_AUTO_TEST_CASE(a_full_slab_of_messages_ends_an_operation_by_name_and_not_the_endpoint) {
  auto options = small_stage(2);
  simulated_stage stage(options);
  BOOST_REQUIRE(stage.join_all(patience).has_value());
  auto& context = stage.context(rank{0});
  const auto filling = context.control.limit_bytes();
  void* const hog = context.control.allocate(filling, 16);
  std::vector<float> data(1);
  auto work = stage.world(rank{0}).barrier();
  BOOST_REQUIRE(work.has_value());
  BOOST_REQUIRE(stage.run_until([&] { return (*work)->test(); }, patience));
  BOOST_TEST(((*work)->error().code() == errc::queue_full));
  BOOST_TEST((*work)->error().message.find("worker.control_bytes") != std::string::npos);
  context.control.deallocate(hog, filling, 16);
  exchange_along_the_ring(stage, 100, 1);
}

}  // namespace
}  // namespace troupe::actors
