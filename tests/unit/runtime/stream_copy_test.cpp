#define BOOST_TEST_MODULE stream_copy
#include "runtime/stream_copy.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstring>
#include <vector>

#include "runtime/instruction_set.hpp"
#include "runtime/random.hpp"

using namespace troupe;

namespace {

constexpr std::byte untouched{0xa5};

std::vector<loop_choice> all_choices() {
  std::vector<loop_choice> out;
  for (const instruction_set set : instruction_sets)
    for (const store_path path : {store_path::by_size, store_path::cached, store_path::streaming})
      if (has_instruction_set(set)) out.push_back({path, set});
  return out;
}

std::vector<std::byte> random_bytes(std::size_t bytes, random_stream& random) {
  std::vector<std::byte> out(bytes);
  for (auto& b : out)
    b = static_cast<std::byte>(random.next());
  return out;
}

/// Copies `bytes` from and to these distances from a line, and looks at everything around.
void check_copy(const std::vector<std::byte>& source, std::size_t from, std::size_t to,
                std::size_t bytes, const loop_choice& choice) {
  std::vector<std::byte> target(to + bytes + 128, untouched);
  copy_memory(target.data() + to, source.data() + from, bytes, choice);
  const bool same = bytes == 0 || std::memcmp(target.data() + to, source.data() + from, bytes) == 0;
  const auto is_untouched = [](std::byte b) { return b == untouched; };
  const auto begin = target.begin();
  const auto at = [&](std::size_t place) { return begin + static_cast<std::ptrdiff_t>(place); };
  const bool around = std::all_of(begin, at(to), is_untouched) &&
                      std::all_of(at(to + bytes), target.end(), is_untouched);
  if (!same || !around)
    BOOST_ERROR(to_string(choice.instructions)
                << " path " << static_cast<int>(choice.path) << ": " << bytes << " bytes from +"
                << from << " to +" << to << (same ? " touched more" : " differ"));
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_variant_copies_every_small_size) {
  random_stream random(1);
  const auto source = random_bytes(2048, random);
  for (const loop_choice& choice : all_choices())
    for (std::size_t bytes = 0; bytes <= 1100; ++bytes)
      check_copy(source, random.below(64), random.below(64), bytes, choice);
}

BOOST_AUTO_TEST_CASE(every_variant_copies_from_and_to_every_alignment) {
  random_stream random(2);
  const auto source = random_bytes(9000, random);
  for (const loop_choice& choice : all_choices())
    for (std::size_t from = 0; from < 64; ++from)
      for (std::size_t to = 0; to < 64; ++to)
        check_copy(source, from, to, 256 + random.below(900), choice);
}

BOOST_AUTO_TEST_CASE(what_is_large_enough_to_stream_by_size_is_copied_whole) {
  random_stream random(3);
  std::vector<std::byte> source(streaming_bytes + 4096);
  for (std::size_t at = 0; at + 8 <= source.size(); at += 8) {
    const std::uint64_t word = random.next();
    std::memcpy(source.data() + at, &word, 8);
  }
  for (const loop_choice& choice : all_choices())
    for (const std::size_t bytes : {streaming_bytes - 1, streaming_bytes + 77})
      check_copy(source, random.below(64), random.below(64), bytes, choice);
}

BOOST_AUTO_TEST_CASE(a_copy_onto_itself_changes_nothing) {
  random_stream random(4);
  auto bytes = random_bytes(5000, random);
  const auto before = bytes;
  copy_memory(bytes.data(), bytes.data(), bytes.size());
  BOOST_TEST((bytes == before));
}

BOOST_AUTO_TEST_CASE(pieces_are_there_after_the_closing_fence) {
  random_stream random(5);
  const auto source = random_bytes(10'000, random);
  for (const instruction_set set : instruction_sets) {
    if (!has_instruction_set(set)) continue;
    std::vector<std::byte> target(source.size());
    for (std::size_t at = 0; at < source.size(); at += 1000)
      stream_piece(target.data() + at, source.data() + at, 1000, set);
    finish_streaming();
    BOOST_TEST((target == source), to_string(set));
  }
}

BOOST_AUTO_TEST_CASE(the_size_decides_unless_somebody_asks) {
  BOOST_TEST((store_path_for(store_path::by_size, streaming_bytes - 1) == store_path::cached));
  BOOST_TEST((store_path_for(store_path::by_size, streaming_bytes) == store_path::streaming));
  BOOST_TEST((store_path_for(store_path::cached, 2 * streaming_bytes) == store_path::cached));
  BOOST_TEST((store_path_for(store_path::streaming, 1) == store_path::streaming));
}

BOOST_AUTO_TEST_CASE(a_machine_has_the_baseline_and_all_up_to_its_best) {
  BOOST_TEST(has_instruction_set(instruction_set::baseline));
  BOOST_TEST(has_instruction_set(best_instruction_set()));
  bool more = true;
  for (const instruction_set set : instruction_sets) {
    BOOST_TEST((more || !has_instruction_set(set)), to_string(set));
    more = has_instruction_set(set);
  }
  BOOST_TEST(to_string(instruction_set::avx512) == "avx512");
}
