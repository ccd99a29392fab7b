#define BOOST_TEST_MODULE buffer_table
#include "runtime/buffer_table.hpp"

#include <array>
#include <boost/test/unit_test.hpp>
#include <limits>
#include <set>
#include <string>
#include <vector>

using troupe::buffer_table;
using troupe::buffer_view;
using troupe::errc;
using troupe::remote_region;

namespace {

constexpr std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();

struct memory {
  std::array<std::byte, 64> bytes{};
  std::byte* base() { return bytes.data(); }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_view_resolves_to_its_first_byte, memory) {
  buffer_table table(4);
  const auto whole = table.add(base(), 64);
  BOOST_REQUIRE(whole.has_value());
  BOOST_TEST(table.resolve(*whole) == base());
  BOOST_TEST(table.resolve(whole->part(10, 54)) == base() + 10);
  BOOST_TEST(table.live_buffers() == 1u);
}

BOOST_FIXTURE_TEST_CASE(a_view_that_leaves_its_buffer_does_not_resolve, memory) {
  buffer_table table(4);
  const auto whole = table.add(base(), 64);
  BOOST_TEST(table.resolve(whole->part(10, 55)) == nullptr);
  BOOST_TEST(table.resolve(whole->part(65, 0)) == nullptr);
  BOOST_TEST(table.resolve(whole->part(1, huge)) == nullptr);
  BOOST_TEST(table.resolve(whole->part(huge, 1)) == nullptr);
}

BOOST_FIXTURE_TEST_CASE(an_empty_view_at_the_end_of_its_buffer_resolves, memory) {
  buffer_table table(4);
  const auto whole = table.add(base(), 64);
  BOOST_TEST(table.resolve(whole->part(64, 0)) == base() + 64);
}

BOOST_FIXTURE_TEST_CASE(a_released_buffer_does_not_resolve_even_when_its_slot_is_taken_again,
                        memory) {
  buffer_table table(1);
  const auto first = table.add(base(), 64);
  table.release(first->id);
  BOOST_TEST(table.resolve(*first) == nullptr);
  const auto second = table.add(base(), 64);
  BOOST_REQUIRE(second.has_value());
  BOOST_TEST(second->id.slot == first->id.slot);
  BOOST_TEST(table.resolve(*first) == nullptr);
  BOOST_TEST(table.resolve(*second) == base());
}

BOOST_FIXTURE_TEST_CASE(a_full_table_refuses_and_has_room_again_after_a_release, memory) {
  buffer_table table(2);
  const auto first = table.add(base(), 8);
  BOOST_REQUIRE(table.add(base(), 8).has_value());
  const auto refused = table.add(base(), 8);
  BOOST_REQUIRE(!refused.has_value());
  BOOST_TEST((refused.error().code == errc::resource_exhausted));
  table.release(first->id);
  BOOST_TEST(table.add(base(), 8).has_value());
}

BOOST_FIXTURE_TEST_CASE(a_peer_writes_inside_the_exposed_view_only, memory) {
  buffer_table table(4);
  const auto whole = table.add(base(), 64);
  const auto key = table.expose(whole->part(16, 32));
  BOOST_REQUIRE(key.has_value());
  BOOST_TEST(table.resolve(remote_region{*key, 0}, 32) == base() + 16);
  BOOST_TEST(table.resolve(remote_region{*key, 31}, 1) == base() + 47);
  BOOST_TEST(table.resolve(remote_region{*key, 0}, 33) == nullptr);
  BOOST_TEST(table.resolve(remote_region{*key, 32}, 1) == nullptr);
  BOOST_TEST(table.resolve(remote_region{*key, huge}, 2) == nullptr);
  BOOST_TEST(table.resolve(remote_region{*key, 1}, huge) == nullptr);
}

BOOST_FIXTURE_TEST_CASE(a_withdrawn_key_is_dead_for_good, memory) {
  buffer_table table(2);
  const auto whole = table.add(base(), 64);
  const auto key = table.expose(*whole);
  table.withdraw(*key);
  BOOST_TEST(table.live_exposures() == 0u);
  BOOST_TEST(table.resolve(remote_region{*key, 0}, 1) == nullptr);
  const auto next = table.expose(*whole);
  BOOST_REQUIRE(next.has_value());
  BOOST_TEST(*next != *key);
  BOOST_TEST(table.resolve(remote_region{*key, 0}, 1) == nullptr);
  table.withdraw(*key);
  BOOST_TEST(table.live_exposures() == 1u);
}

BOOST_FIXTURE_TEST_CASE(keys_are_never_zero_and_never_come_back, memory) {
  buffer_table table(2);
  const auto whole = table.add(base(), 64);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    const auto key = table.expose(*whole);
    BOOST_REQUIRE(key.has_value());
    BOOST_REQUIRE(*key != 0);
    BOOST_REQUIRE(seen.insert(*key).second);
    table.withdraw(*key);
  }
}

BOOST_FIXTURE_TEST_CASE(unknown_keys_are_ignored, memory) {
  buffer_table table(2);
  table.withdraw(0);
  table.withdraw(huge);
  BOOST_TEST(table.resolve(remote_region{0, 0}, 0) == nullptr);
  BOOST_TEST(table.resolve(remote_region{huge, 0}, 0) == nullptr);
}

BOOST_FIXTURE_TEST_CASE(a_view_that_does_not_resolve_cannot_be_exposed, memory) {
  buffer_table table(2);
  const auto whole = table.add(base(), 64);
  const auto refused = table.expose(whole->part(60, 5));
  BOOST_REQUIRE(!refused.has_value());
  BOOST_TEST((refused.error().code == errc::bad_argument));
}

namespace {

struct heard final : troupe::memory_watcher {
  std::vector<std::string> what;
  void on_buffer_released(troupe::buffer_id id) override {
    what.push_back("released " + std::to_string(id.slot));
  }
  void on_key_revoked(troupe::buffer_id id, std::uint64_t key) override {
    what.push_back("revoked " + std::to_string(id.slot) + " " + std::to_string(key));
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_watcher_hears_of_revoked_keys_and_released_buffers_only) {
  troupe::buffer_table table(4);
  heard listener;
  table.set_watcher(&listener);
  std::array<std::byte, 64> memory{};
  const auto view = *table.add(memory.data(), memory.size());
  const auto finished = *table.expose(view);
  const auto revoked = *table.expose(view.part(8, 16));
  table.withdraw(finished, troupe::exposure_end::finished);
  BOOST_TEST(listener.what.empty());
  table.withdraw(revoked);
  table.withdraw(revoked);  // dead already
  table.release(view.id);
  const std::vector<std::string> expected{"revoked 0 " + std::to_string(revoked), "released 0"};
  BOOST_TEST(listener.what == expected, boost::test_tools::per_element());
  table.set_watcher(nullptr);
  table.release(table.add(memory.data(), 8)->id);
  BOOST_TEST(listener.what.size() == 2u);
}

BOOST_AUTO_TEST_CASE(what_a_key_exposes_is_known_while_it_lives) {
  troupe::buffer_table table(4);
  std::array<std::byte, 64> memory{};
  const auto view = *table.add(memory.data(), memory.size());
  const auto key = *table.expose(view.part(8, 16));
  BOOST_TEST(table.exposed(key).base == memory.data() + 8);
  BOOST_TEST(table.exposed(key).bytes == 16u);
  BOOST_TEST((table.exposed(key).buffer == view.id));
  BOOST_TEST(table.memory_of(view.id).data() == memory.data());
  BOOST_TEST(table.memory_of(view.id).size() == 64u);
  table.withdraw(key);
  BOOST_TEST(table.exposed(key).base == nullptr);
  table.release(view.id);
  BOOST_TEST(table.memory_of(view.id).empty());
}
