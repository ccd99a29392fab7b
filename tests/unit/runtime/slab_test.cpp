#define BOOST_TEST_MODULE slab
#include "runtime/slab.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/memory_ledger.hpp"
#include "runtime/random.hpp"

namespace troupe {
namespace {

constexpr std::uint64_t plenty = 1ull << 30;

std::uint64_t page_bytes(const memory_ledger& ledger) {
  return ledger.usage()[memory_purpose::messages];
}

BOOST_AUTO_TEST_CASE(a_block_comes_back_and_no_page_is_taken_for_the_next) {
  memory_ledger ledger;
  slab blocks(ledger.of(memory_purpose::messages), plenty);
  void* const first = blocks.allocate(100, 16);
  const auto pages = page_bytes(ledger);
  BOOST_TEST(pages > 0u);
  blocks.deallocate(first, 100, 16);
  for (int i = 0; i < 10'000; ++i) {
    void* const again = blocks.allocate(128, 16);
    BOOST_TEST(again == first);
    blocks.deallocate(again, 128, 16);
  }
  BOOST_TEST(page_bytes(ledger) == pages);
  BOOST_TEST(blocks.used_bytes() == 0u);
}

BOOST_AUTO_TEST_CASE(blocks_of_random_sizes_never_overlap) {
  memory_ledger ledger;
  slab blocks(ledger.of(memory_purpose::messages), plenty);
  random_stream draw(7);
  struct block {
    std::size_t size;
    std::uint8_t mark;
  };
  std::map<std::uint8_t*, block> live;
  for (int i = 0; i < 20'000; ++i) {
    if (live.size() < 200 && draw.one_in(2)) {
      const auto size = static_cast<std::size_t>(draw.between(1, 3000));
      auto* const memory = static_cast<std::uint8_t*>(blocks.allocate(size, 16));
      const auto mark = static_cast<std::uint8_t>(draw.below(256));
      std::memset(memory, mark, size);
      BOOST_TEST(reinterpret_cast<std::uintptr_t>(memory) % 16 == 0u);
      BOOST_REQUIRE(live.emplace(memory, block{size, mark}).second);
    } else if (!live.empty()) {
      auto at = live.begin();
      std::advance(at, static_cast<std::ptrdiff_t>(draw.below(live.size())));
      const auto [memory, what] = *at;
      BOOST_REQUIRE(std::all_of(memory, memory + what.size,
                                [&](std::uint8_t byte) { return byte == what.mark; }));
      blocks.deallocate(memory, what.size, 16);
      live.erase(at);
    }
  }
  for (const auto& [memory, what] : live)
    blocks.deallocate(memory, what.size, 16);
  BOOST_TEST(blocks.used_bytes() == 0u);
}

BOOST_AUTO_TEST_CASE(past_its_limit_it_says_full_and_serves_what_was_admitted) {
  memory_ledger ledger;
  slab blocks(ledger.of(memory_purpose::messages), 1000);
  std::vector<void*> taken;
  while (!blocks.is_full())
    taken.push_back(blocks.allocate(100, 16));
  BOOST_TEST(taken.size() == 10u);
  taken.push_back(blocks.allocate(100, 16));
  BOOST_TEST(taken.back() != nullptr);
  BOOST_TEST(blocks.peak_bytes() == 1100u);
  for (void* const memory : taken)
    blocks.deallocate(memory, 100, 16);
  BOOST_TEST(!blocks.is_full());
  BOOST_TEST(blocks.peak_bytes() == 1100u);
}

BOOST_AUTO_TEST_CASE(its_end_gives_every_page_back) {
  memory_ledger ledger;
  {
    slab blocks(ledger.of(memory_purpose::messages), plenty);
    std::vector<void*> taken;
    for (const std::size_t size : {1u, 64u, 65u, 500u, 2048u, 2049u, 100'000u})
      for (int i = 0; i < 100; ++i)
        taken.push_back(blocks.allocate(size, 8));
    std::size_t i = 0;
    for (const std::size_t size : {1u, 64u, 65u, 500u, 2048u, 2049u, 100'000u})
      for (int n = 0; n < 100; ++n)
        blocks.deallocate(taken[i++], size, 8);
  }
  BOOST_TEST(ledger.usage().total() == 0u);
}

BOOST_AUTO_TEST_CASE(an_object_keeps_the_slab_it_lives_in) {
  const auto ledger = std::make_shared<memory_ledger>();
  auto works = std::make_shared<shared_slab>(ledger, memory_purpose::works, plenty);
  auto held = std::allocate_shared<int>(slab_allocator<int>(works), 42);
  works.reset();
  BOOST_TEST(*held == 42);
  BOOST_TEST(ledger->usage()[memory_purpose::works] > 0u);
  held.reset();
  BOOST_TEST(ledger->usage().total() == 0u);
}

BOOST_AUTO_TEST_CASE(threads_take_and_give_back_what_others_took) {
  const auto ledger = std::make_shared<memory_ledger>();
  const auto works = std::make_shared<shared_slab>(ledger, memory_purpose::works, plenty);
  std::vector<std::shared_ptr<std::uint64_t>> made(4000);
  const auto on_four_threads = [](auto what) {
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 4; ++t)
      threads.emplace_back([&what, t] { what(t); });
    for (auto& thread : threads)
      thread.join();
  };
  on_four_threads([&](std::size_t t) {
    for (std::size_t i = t; i < made.size(); i += 4)
      made[i] = std::allocate_shared<std::uint64_t>(slab_allocator<std::uint64_t>(works), i);
  });
  for (std::size_t i = 0; i < made.size(); ++i)
    BOOST_TEST(*made[i] == i);
  on_four_threads([&](std::size_t t) {
    for (std::size_t i = (t + 1) % 4; i < made.size(); i += 4)
      made[i].reset();
  });
  BOOST_TEST(works->used_bytes() == 0u);
}

}  // namespace
}  // namespace troupe
