#define BOOST_TEST_MODULE tiers_sim
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <vector>

#include "actors/simulation/simulated_stage.hpp"

namespace troupe::actors {
namespace {

constexpr duration patience = std::chrono::seconds(60);
constexpr std::uint64_t block_bytes = 3'000'000;

// Rank 0 has one peer in each class.
place find_place(rank r) {
  switch (r.value) {
    case 0: return {"east", "e1", "r1", "a"};
    case 1: return {"east", "e1", "r1", "a"};
    case 2: return {"east", "e1", "r1", "b"};
    case 3: return {"east", "e1", "r2", "c"};
    case 4: return {"east", "e2", "r1", "d"};
    case 5: return {"west", "w1", "r1", "e"};
    default: return {"", "", "", "f"};
  }
}

struct placed_job {
  explicit placed_job(std::string cap, std::uint64_t seed = 1) : stage(options(cap, seed)) {
    BOOST_REQUIRE(stage.join_all(patience).has_value());
  }

  static stage_options options(const std::string& cap, std::uint64_t seed) {
    stage_options out;
    out.rank_count = 7;
    out.seed = seed;
    out.find_place = find_place;
    out.fabric.wire_buffer_bytes = 0;
    for (auto* section : {&out.options.tier_same_host, &out.options.tier_same_rack,
                          &out.options.tier_same_zone, &out.options.tier_cross_zone,
                          &out.options.tier_cross_data_center, &out.options.tier_unknown})
      section->cap = cap;
    return out;
  }

  void exchange() {
    const auto count = block_bytes * stage.size();
    std::vector<std::vector<std::uint8_t>> send(stage.size()), receive(stage.size());
    std::vector<work_handle> works;
    for (std::uint32_t r = 0; r < stage.size(); ++r) {
      send[r].assign(count, static_cast<std::uint8_t>(r + 1));
      receive[r].assign(count, 0);
      auto work = stage.world(rank{r}).all_to_all({.send = send[r].data(),
                                                   .receive = receive[r].data(),
                                                   .count = block_bytes,
                                                   .type = data_type::uint8});
      BOOST_REQUIRE(work.has_value());
      works.push_back(*work);
    }
    const auto done = [&] {
      return std::all_of(works.begin(), works.end(), [](const auto& w) { return w->test(); });
    };
    BOOST_REQUIRE(stage.run_until(done, patience));
    for (std::uint32_t r = 0; r < stage.size(); ++r)
      for (std::uint32_t from = 0; from < stage.size(); ++from)
        BOOST_REQUIRE(receive[r][from * block_bytes + 17] == from + 1);
  }

  simulated_stage stage;
};

BOOST_AUTO_TEST_CASE(a_peer_is_of_the_class_that_both_places_say) {
  placed_job job("fixed");
  const std::array<tier, 7> expected{tier::same_host, tier::same_host,  tier::same_rack,
                                     tier::same_zone, tier::cross_zone, tier::cross_data_center,
                                     tier::unknown};
  for (std::uint32_t r = 1; r < 7; ++r) {
    BOOST_TEST((job.stage.context(rank{0}).tier_of(rank{r}) == expected[r]), r);
    BOOST_TEST((job.stage.context(rank{r}).tier_of(rank{0}) == expected[r]), r);
  }
}

BOOST_AUTO_TEST_CASE(bytes_go_to_each_class_under_its_own_budget) {
  for (const char* cap : {"fixed", "adaptive", "off"}) {
    BOOST_TEST_CONTEXT(cap) {
      placed_job job(cap);
      job.exchange();
      const auto& counters = job.stage.context(rank{0}).counters;
      for (std::size_t i = 0; i < tier_count; ++i)
        BOOST_TEST(counters.segment_bytes_to[i].get() == block_bytes,
                   to_string(static_cast<tier>(i)));
    }
  }
}

BOOST_AUTO_TEST_CASE(leases_come_back_when_nothing_is_in_flight) {
  placed_job job("adaptive");
  job.exchange();
  job.stage.run_until([] { return false; }, std::chrono::milliseconds(50));
  for (std::size_t i = 0; i < tier_count; ++i)
    BOOST_TEST(job.stage.context(rank{0}).counters.leased_bytes[i].get() == 0u,
               to_string(static_cast<tier>(i)));
}

BOOST_AUTO_TEST_CASE(a_small_budget_throttles_its_own_class_alone) {
  auto options = placed_job::options("fixed", 3);
  options.options.tier_cross_zone.bytes = options.options.tier_cross_zone.segment_bytes;
  options.rank_count = 9;
  options.find_place = [](rank r) {
    return r.value >= 7 ? place{"east", "e2", "r1", "d" + std::to_string(r.value)} : find_place(r);
  };
  simulated_stage stage(options);
  BOOST_REQUIRE(stage.join_all(patience).has_value());
  std::vector<std::uint8_t> data(block_bytes * 9);
  std::vector<std::vector<std::uint8_t>> others(9, std::vector<std::uint8_t>(block_bytes * 9));
  std::vector<work_handle> works;
  for (std::uint32_t r = 0; r < 9; ++r)
    works.push_back(*stage.world(rank{r}).all_to_all({.send = data.data(),
                                                      .receive = others[r].data(),
                                                      .count = block_bytes,
                                                      .type = data_type::uint8}));
  BOOST_REQUIRE(stage.run_until(
      [&] {
        return std::all_of(works.begin(), works.end(), [](const auto& w) { return w->test(); });
      },
      patience));
  const auto& throttled = stage.context(rank{0}).counters.throttled_leases;
  BOOST_TEST(throttled[static_cast<std::size_t>(tier::cross_zone)].get() > 0u);
  BOOST_TEST(throttled[static_cast<std::size_t>(tier::same_zone)].get() == 0u);
}

}  // namespace
}  // namespace troupe::actors
