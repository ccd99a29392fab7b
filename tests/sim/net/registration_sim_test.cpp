#define BOOST_TEST_MODULE registration_sim
#include <boost/test/unit_test.hpp>
#include <map>
#include <set>
#include <vector>

#include "net/registration/registration_machine.hpp"
#include "runtime/random.hpp"

// Segments come and go, ranges are wanted and done, devices answer in any order and refuse at
// times.

namespace troupe::net {
namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t slot_count = 12;

struct world {
  explicit world(std::uint64_t seed) : random(seed), state(options(random)) {}

  static registration_options options(random_stream& r) {
    return {.mode = static_cast<registration_mode>(r.below(4)),
            .bytes_max = r.one_in(3) ? 6 * page : 1ull << 40,
            .at_once = static_cast<std::uint32_t>(1 + r.below(3)),
            .waiting_max = static_cast<std::uint32_t>(1 + r.below(8))};
  }

  void drive(const registration_event& event) {
    registration_effects out;
    step(state, event, out);
    BOOST_REQUIRE(state.counters.registered_bytes <= state.options.bytes_max);
    BOOST_REQUIRE(state.waiting.size() <= state.options.waiting_max);
    for (const auto& effect : out)
      std::visit([this](const auto& e) { on(e); }, effect);
  }

  void on(const register_segment& e) {
    BOOST_REQUIRE(device.insert({e.segment.generation, {e.segment, e.bytes}}).second);
    BOOST_REQUIRE(device.size() <= state.options.at_once);
  }
  void on(const forget_segment& e) {
    const auto at = keys.find(e.key);
    BOOST_REQUIRE(at != keys.end());
    BOOST_REQUIRE((at->second == e.segment));
    for (const auto& [token, pieces] : in_use)
      for (const auto& piece : pieces)
        BOOST_REQUIRE(!(piece.segment == e.segment));  // never under somebody's feet
    keys.erase(at);
    forgetting.push_back(e.segment);
  }
  void on(const use_registered& e) {
    answered(e.token);
    auto at = wanted[e.token].base;
    for (const auto& piece : e.pieces) {
      BOOST_REQUIRE(piece.segment.base + piece.offset == at);
      BOOST_REQUIRE((keys.at(piece.key) == piece.segment));  // of this life, and known to devices
      at += piece.bytes;
    }
    BOOST_REQUIRE(at == wanted[e.token].base + wanted[e.token].bytes);
    in_use[e.token] = e.pieces;
  }
  void on(const use_bounce& e) { answered(e.token); }
  void on(const report_unusable& e) { answered(e.token); }
  void on(const report_withdrawn& e) {
    BOOST_REQUIRE(ending.erase(e.base) == 1u);
    live.erase(e.base);
  }

  void answered(std::uint64_t token) { BOOST_REQUIRE(open.erase(token) == 1u); }

  void want() {
    const auto base = page * (1 + random.below(slot_count)) + random.below(page);
    const range_wanted range{next_token++, base, 1 + random.below(3 * page)};
    wanted[range.token] = range;
    open.insert(range.token);
    drive(range);
  }

  void device_answers() {
    std::vector<register_segment> under_way;
    for (const auto& [generation, e] : device)
      under_way.push_back(e);
    const auto chosen = under_way[random.below(under_way.size())];
    device.erase(chosen.segment.generation);
    if (random.one_in(8)) {
      drive(segment_refused{chosen.segment, {errc::resource_exhausted}});
      return;
    }
    const auto key = next_key++;
    keys[key] = chosen.segment;
    drive(segment_registered{chosen.segment, key});
  }

  void device_forgets() {
    const auto chosen = random.below(forgetting.size());
    const auto name = forgetting[chosen];
    forgetting.erase(forgetting.begin() + static_cast<std::ptrdiff_t>(chosen));
    drive(segment_forgotten{name});
  }

  void one_event() {
    const auto base = page * (1 + random.below(slot_count));
    switch (random.below(6)) {
      case 0:
        if (live.insert(base).second) drive(segment_announced{base, page});
        break;
      case 1:
        if (live.contains(base) && ending.insert(base).second) drive(segment_ending{base});
        break;
      case 2: want(); break;
      case 3:
        if (!in_use.empty()) finish_one();
        break;
      case 4:
        if (!device.empty()) device_answers();
        break;
      default:
        if (!forgetting.empty()) device_forgets();
        break;
    }
  }

  void finish_one() {
    const auto token = in_use.begin()->first;
    in_use.erase(in_use.begin());
    drive(range_done{token});
  }

  // Everything ends: no range and no segment is left over.
  void wind_down() {
    const auto segments = live;
    for (const auto base : segments)
      if (ending.insert(base).second) drive(segment_ending{base});
    while (!in_use.empty() || !device.empty() || !forgetting.empty()) {
      if (!in_use.empty())
        finish_one();
      else if (!device.empty())
        device_answers();
      else
        device_forgets();
    }
    BOOST_REQUIRE(open.empty());
    BOOST_REQUIRE(live.empty());
    BOOST_REQUIRE(ending.empty());
    BOOST_REQUIRE(keys.empty());
    BOOST_REQUIRE(state.segments.empty());
    BOOST_REQUIRE(state.uses.empty());
    BOOST_REQUIRE(state.counters.registered_bytes == 0u);
    BOOST_REQUIRE(state.counters.registered_count == 0u);
  }

  random_stream random;
  registration_state state;
  std::set<std::uint64_t> live, ending;
  std::map<std::uint64_t, range_wanted> wanted;
  std::set<std::uint64_t> open;
  std::map<std::uint64_t, std::vector<registered_piece>> in_use;
  std::map<std::uint64_t, register_segment> device;  ///< asked and not answered
  std::map<std::uint64_t, segment_name> keys;
  std::vector<segment_name> forgetting;
  std::uint64_t next_token = 1, next_key = 100;
};

BOOST_AUTO_TEST_CASE(ten_thousand_histories_keep_every_promise) {
  for (std::uint64_t seed = 1; seed <= 10'000; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      world w(seed);
      const auto events = 20 + w.random.below(120);
      for (std::uint64_t i = 0; i < events; ++i)
        w.one_event();
      w.wind_down();
    }
  }
}

}  // namespace
}  // namespace troupe::net
