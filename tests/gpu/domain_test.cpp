#define BOOST_TEST_MODULE domain
#include "kernels/domain/domain.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <string>
#include <thread>

#include "tests/gpu/domain_fixture.hpp"
#include "tests/gpu/gpu_fixture.hpp"
#include "tests/unit/collectives/reduction_cases.hpp"

namespace troupe::test {

namespace {

using namespace std::chrono_literals;
using kernels::all_reduce_call;
using kernels::all_reduce_path;

constexpr std::uint64_t buffer_bytes = 4 << 20;

constexpr std::array all_ops{reduction::sum,     reduction::product, reduction::minimum,
                             reduction::maximum, reduction::average, reduction::premultiplied_sum};

constexpr std::array all_paths{all_reduce_path::small, all_reduce_path::two_shot,
                               all_reduce_path::pipelined};

const char* name_of(all_reduce_path path) {
  if (path == all_reduce_path::small) return ", small";
  return path == all_reduce_path::two_shot ? ", two_shot" : ", pipelined";
}

std::string describe(const all_reduce_call& call) {
  return std::string(to_string(call.type)) + " " + std::string(to_string(call.op)) + " of " +
         std::to_string(call.count) + name_of(call.path) +
         (call.send == call.receive ? ", in place" : "");
}

/// One all-reduce at offsets of the two buffers, checked bit by bit with fresh random data and a
/// poisoned outcome.
std::string check_all_reduce(domain_seat& seat, all_reduce_call call, std::uint64_t offset,
                             bool in_place, std::uint64_t seed) {
  const auto size = size_of(call.type);
  auto& target = in_place ? seat.send : seat.receive;
  seat.poison(target);
  seat.fill(seat.send, offset, contribution(call.type, call.count, seed, seat.who.rank));
  got(seat.who.gather());
  call.send = seat.send.data() + offset;
  call.receive = target.data() + offset;
  got(seat.group->all_reduce(seat.in.ref(), call));
  got(seat.in.wait());
  const auto expected = expected_reduction(call, seed, seat.who.size);
  const auto out = seat.contents(target, offset, call.count * size);
  auto wrong = first_difference(expected, out, size);
  const auto behind = seat.contents(target, offset + call.count * size, 64);
  if (wrong.empty() && behind != std::vector<std::byte>(64, std::byte{0xa5}))
    wrong = "bytes behind the outcome were written";
  return wrong.empty() ? "" : describe(call) + ": " + wrong;
}

std::string every_type_and_operator(member& who) {
  domain_seat seat(who, buffer_bytes);
  std::uint64_t seed = 1;
  for (const auto type : all_types())
    for (const auto op : all_ops)
      for (const auto path : all_paths) {
        const all_reduce_call call{
            .count = 10'007, .type = type, .op = op, .scalar = 0.75, .path = path};
        const bool in_place = seed % 2 == 0;
        auto wrong = check_all_reduce(seat, call, 64 * size_of(type), in_place, ++seed);
        if (!wrong.empty()) return wrong;
      }
  return "";
}

std::string every_size_and_place(member& who) {
  domain_seat seat(who, buffer_bytes);
  std::uint64_t seed = 100;
  for (const std::uint64_t count : {1, 2, 3, 5, 31, 64, 1'000, 4'096, 65'537, 500'001})
    for (const std::uint64_t offset : {0, 4, 12, 16})
      for (const auto path : all_paths)
        for (const bool in_place : {false, true}) {
          all_reduce_call call{.count = count, .path = path};
          if (path == all_reduce_path::small && count * 4 > 256 * 1024) continue;
          if (path == all_reduce_path::pipelined && (offset % 16 != 0 || who.size > 2)) continue;
          if (path == all_reduce_path::pipelined && seed % 3 == 0) call.blocks = 2;
          auto wrong = check_all_reduce(seat, call, offset, in_place, ++seed);
          if (!wrong.empty()) return wrong + " at offset " + std::to_string(offset);
        }
  return "";
}

std::string copies_arrive(member& who) {
  domain_seat seat(who, buffer_bytes);
  std::uint64_t seed = 7;
  for (const std::uint64_t bytes : {1, 4'096, 100'003}) {
    const auto data = [&](std::uint32_t rank) {
      return contribution(data_type::uint8, bytes * who.size, seed, rank);
    };
    const auto block = [&](std::uint32_t rank, std::uint32_t part) {
      const auto all = data(rank);
      const auto first = all.begin() + static_cast<std::ptrdiff_t>(part * bytes);
      return std::vector<std::byte>(first, first + static_cast<std::ptrdiff_t>(bytes));
    };
    const kernels::copy_call call{seat.send.data(), seat.receive.data(), bytes};
    const std::uint32_t after = (who.rank + 1) % who.size;
    const std::uint32_t before = (who.rank + who.size - 1) % who.size;
    const auto run = [&](const char* name, auto&& start, auto&& expected_block,
                         std::uint32_t blocks) -> std::string {
      seat.poison(seat.receive);
      seat.fill(seat.send, 0, data(who.rank));
      got(who.gather());
      got(start());
      got(seat.in.wait());
      for (std::uint32_t i = 0; i < blocks; ++i)
        if (seat.contents(seat.receive, i * bytes, bytes) != expected_block(i))
          return std::string(name) + ": block " + std::to_string(i) + " is wrong";
      got(who.gather());
      return "";
    };
    for (int again = 0; again < 3; ++again, ++seed) {
      auto wrong = run(
          "all_gather", [&] { return seat.group->all_gather(seat.in.ref(), call); },
          [&](std::uint32_t i) { return block(i, 0); }, who.size);
      if (wrong.empty())
        wrong = run(
            "all_to_all", [&] { return seat.group->all_to_all(seat.in.ref(), call); },
            [&](std::uint32_t i) { return block(i, who.rank); }, who.size);
      if (wrong.empty())
        wrong = run(
            "broadcast", [&] { return seat.group->broadcast(seat.in.ref(), call, 1); },
            [&](std::uint32_t) { return block(1, 0); }, 1);
      if (wrong.empty())
        wrong = run(
            "send_receive",
            [&] { return seat.group->send_receive(seat.in.ref(), call, after, before); },
            [&](std::uint32_t) { return block(before, 0); }, 1);
      if (!wrong.empty()) return wrong;
    }
  }
  return "";
}

/// A graph of the caller with every kind of operation, replayed with other data.
std::string graphs_are_replayed(member& who) {
  domain_seat seat(who, buffer_bytes);
  constexpr std::uint64_t count = 100'000;
  all_reduce_call small{.send = seat.send.data(), .receive = seat.receive.data(), .count = 1'000};
  all_reduce_call large{
      .send = seat.send.data() + 65'536, .receive = seat.receive.data() + 65'536, .count = count};
  const std::uint64_t third = 1 << 20;
  const std::uint64_t fourth = 2 << 20;
  auto piped = large;
  piped.receive = seat.receive.data() + fourth;
  piped.path = all_reduce_path::pipelined;
  piped.blocks = 2;
  const kernels::copy_call gathered{seat.send.data(), seat.receive.data() + third, 4'096};
  auto captured = got(kernels::graph::capture(seat.in, [&]() -> outcome<void> {
    auto done = seat.group->all_reduce(seat.in.ref(), small);
    if (done) done = seat.group->all_reduce(seat.in.ref(), large);
    if (done) done = seat.group->all_gather(seat.in.ref(), gathered);
    if (done) done = seat.group->all_reduce(seat.in.ref(), piped);
    return done;
  }));
  for (std::uint64_t seed = 500; seed < 520; ++seed) {
    seat.poison(seat.receive);
    seat.fill(seat.send, 0, contribution(data_type::float32, 1'024, seed, who.rank));
    seat.fill(seat.send, 65'536, contribution(data_type::float32, count, seed + 50, who.rank));
    got(who.gather());
    check(captured.launch(seat.in.ref()));
    // An operation that is not in the graph, right behind it.
    got(seat.group->all_reduce(seat.in.ref(), small));
    got(seat.in.wait());
    auto expected = expected_reduction({.count = 1'024}, seed, who.size);
    expected.resize(4'000);
    auto wrong = first_difference(expected, seat.contents(seat.receive, 0, 4'000), 4);
    if (wrong.empty())
      wrong = first_difference(expected_reduction(large, seed + 50, who.size),
                               seat.contents(seat.receive, 65'536, count * 4), 4);
    if (wrong.empty())
      wrong = first_difference(expected_reduction(large, seed + 50, who.size),
                               seat.contents(seat.receive, fourth, count * 4), 4);
    for (std::uint32_t rank = 0; rank < who.size && wrong.empty(); ++rank)
      wrong = first_difference(contribution(data_type::float32, 1'024, seed, rank),
                               seat.contents(seat.receive, third + rank * 4'096, 4'096), 4);
    if (!wrong.empty()) return "replay " + std::to_string(seed - 500) + ": " + wrong;
    got(who.gather());
  }
  return "";
}

/// The last member never comes; another one aborts.
std::string abort_frees(member& who) {
  domain_seat seat(who, buffer_bytes);
  if (who.rank + 1 == who.size) {
    while (!seat.group->aborted())
      std::this_thread::sleep_for(1ms);
    got(who.gather());
    return "";
  }
  got(seat.group->all_reduce(
      seat.in.ref(),
      {.send = seat.send.data(), .receive = seat.receive.data(), .count = 1'000'000}));
  got(seat.group->all_reduce(seat.in.ref(), {.send = seat.send.data(),
                                             .receive = seat.receive.data(),
                                             .count = 1'000'000,
                                             .path = all_reduce_path::pipelined}));
  got(seat.group->all_gather(seat.in.ref(), {seat.send.data(), seat.receive.data(), 4'096}));
  std::this_thread::sleep_for(50ms);
  if (got(seat.in.idle())) return "did not wait for the member that is missing";
  const auto begin = std::chrono::steady_clock::now();
  while (!got(seat.in.idle())) {
    seat.group->abort();
    if (std::chrono::steady_clock::now() - begin > 1s) return "not free within a second";
  }
  got(who.gather());  // nobody goes while the other's kernel may still write to it
  const auto refused = seat.group->all_reduce(
      seat.in.ref(), {.send = seat.send.data(), .receive = seat.receive.data(), .count = 1});
  if (refused || refused.error().code() != errc::aborted) return "goes on after the abort";
  return "";
}

std::string bad_calls_are_told(member& who) {
  domain_seat seat(who, buffer_bytes);
  auto stranger = got(kernels::device_memory::allocate(who.device, buffer_bytes));
  const auto call = [&](const all_reduce_call& wrong) {
    const auto done = seat.group->all_reduce(seat.in.ref(), wrong);
    return done ? errc::ok : done.error().code();
  };
  auto* const send = seat.send.data();
  if (call({.send = send, .receive = stranger.data(), .count = 1 << 18}) != errc::not_available)
    return "took memory that is not shared";
  if (call({.send = send, .receive = send + 8, .count = buffer_bytes}) != errc::not_available)
    return "took a buffer that reaches beyond what is shared";
  if (call({.send = send, .receive = send, .count = 1, .type = static_cast<data_type>(99)}) !=
      errc::bad_argument)
    return "took a type that is none";
  if (call({.send = send, .receive = send, .count = 1 << 20, .path = all_reduce_path::small}) !=
      errc::bad_argument)
    return "took too much for the small path";
  const auto host = kernels::export_memory(&call, 8);
  if (host || host.error().code() != errc::bad_argument) return "exported memory of the host";
  return "";
}

void run(living how, std::uint32_t size, const member_body& body) {
  BOOST_TEST_CONTEXT(size << " members in " << to_string(how))
  BOOST_TEST(run_members(how, size, 120s, body) == "");
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_type_and_operator_has_the_bits_of_the_host, *on_gpus(2)) {
  run(living::in_processes, 2, every_type_and_operator);
}

BOOST_AUTO_TEST_CASE(every_size_and_place_is_reduced, *on_gpus(2)) {
  run(living::in_processes, 2, every_size_and_place);
  run(living::in_one_process, 2, every_size_and_place);
}

BOOST_AUTO_TEST_CASE(three_members_on_one_gpu_reduce, *on_a_gpu()) {
  run(living::in_one_process, 3, every_size_and_place);
}

BOOST_AUTO_TEST_CASE(copies_arrive_where_they_belong, *on_gpus(2)) {
  run(living::in_processes, 2, copies_arrive);
  run(living::in_one_process, 2, copies_arrive);
}

BOOST_AUTO_TEST_CASE(a_graph_of_operations_is_replayed_with_other_data, *on_gpus(2)) {
  run(living::in_processes, 2, graphs_are_replayed);
  run(living::in_one_process, 2, graphs_are_replayed);
}

BOOST_AUTO_TEST_CASE(an_abort_frees_all_that_wait_within_a_second, *on_gpus(2)) {
  run(living::in_processes, 2, abort_frees);
  run(living::in_one_process, 2, abort_frees);
}

BOOST_AUTO_TEST_CASE(bad_calls_are_told_apart_before_anything_starts, *on_gpus(2)) {
  run(living::in_processes, 2, bad_calls_are_told);
}

}  // namespace troupe::test
