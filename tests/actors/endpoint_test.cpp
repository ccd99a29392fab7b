#define BOOST_TEST_MODULE endpoint
#include <boost/test/unit_test.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "tests/actors/local_job.hpp"

namespace troupe::test {
namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

void require_joined(const local_job& job) {
  for (std::size_t r = 0; r < job.size(); ++r)
    BOOST_REQUIRE_MESSAGE(job.ranks[r], "rank " << r << ": " << to_string(job.failures[r]));
}

failure outcome_of(outcome<work_handle> started, duration limit = seconds(20)) {
  if (!started) return started.error();
  const auto done = (*started)->wait(limit);
  return done ? failure{} : done.error();
}

BOOST_AUTO_TEST_CASE(a_world_of_one_needs_no_socket_and_computes) {
  auto job = join_locally(1);
  require_joined(job);
  std::vector<float> in(1000, 3.0f), out(1000);
  auto work = job[0].all_reduce({.send = in.data(), .receive = out.data(), .count = 1000});
  BOOST_REQUIRE(work.has_value());
  BOOST_REQUIRE((*work)->wait(seconds(10)).has_value());
  BOOST_TEST((out == in));
  BOOST_TEST(((*work)->path().reason == choice_reason::single_rank));
  BOOST_TEST(((*work)->path().lanes == lane_kind::none));
  BOOST_TEST((*work)->contributors().size() == 1u);
}

BOOST_AUTO_TEST_CASE(every_collective_of_this_slice_is_right_between_processes_lanes) {
  auto job = join_locally(3);
  require_joined(job);
  std::atomic<int> wrong{0};
  on_all_ranks(job, [&](std::size_t r) {
    auto& c = job[r];
    for (const std::uint64_t n : {1ull, 1000ull, 300'000ull}) {
      const auto mine = static_cast<float>(r + 1);
      std::vector<float> in(n, mine), out(n), wide(3 * n), wide_in(3 * n, mine);
      auto check = [&](outcome<work_handle> w, auto good) {
        const auto f = outcome_of(std::move(w));
        if (f.code() != errc::ok || !good()) wrong.fetch_add(1);
      };
      check(c.all_reduce({.send = in.data(), .receive = out.data(), .count = n}),
            [&] { return out == std::vector<float>(n, 6.0f); });
      check(c.all_gather({.send = in.data(), .receive = wide.data(), .count = n}),
            [&] { return wide[0] == 1.0f && wide[n] == 2.0f && wide[3 * n - 1] == 3.0f; });
      check(c.reduce_scatter({.send = wide_in.data(), .receive = out.data(), .count = n}),
            [&] { return out == std::vector<float>(n, 6.0f); });
      check(c.broadcast({.buffer = in.data(), .count = n, .root = rank{1}}),
            [&] { return in == std::vector<float>(n, 2.0f); });
      check(c.barrier(), [] { return true; });
      if (r == 0) {
        check(c.send({.buffer = out.data(), .count = n, .peer = rank{2}}), [] { return true; });
      } else if (r == 2) {
        check(c.receive({.buffer = in.data(), .count = n, .peer = rank{0}}),
              [&] { return in == std::vector<float>(n, 6.0f); });
      }
    }
    if (!c.finalize(seconds(10))) wrong.fetch_add(1);
  });
  BOOST_TEST(wrong.load() == 0);
}

BOOST_AUTO_TEST_CASE(in_place_is_as_right_as_out_of_place) {
  auto job = join_locally(4);
  require_joined(job);
  std::atomic<int> wrong{0};
  on_all_ranks(job, [&](std::size_t r) {
    auto& c = job[r];
    for (const std::uint64_t n : {5ull, 3000ull, 95'000ull, 300'000ull}) {
      for (int round = 0; round < 4; ++round) {
        // Values differ by place and rank: a chunk taken too early or too late cannot pass.
        std::vector<float> data(4 * n), expected(4 * n, 0.0f);
        auto value = [&](std::size_t rank, std::size_t i) {
          return static_cast<float>((rank * 31 + i * 7 + static_cast<std::size_t>(round)) % 101);
        };
        for (std::size_t i = 0; i < 4 * n; ++i)
          for (std::size_t m = 0; m < 4; ++m)
            expected[i] += value(m, i);
        auto fill = [&] {
          for (std::size_t i = 0; i < 4 * n; ++i)
            data[i] = value(r, i);
        };
        auto good = [](outcome<work_handle> w) {
          return outcome_of(std::move(w)).code() == errc::ok;
        };
        fill();
        if (!good(c.all_reduce({.send = data.data(), .receive = data.data(), .count = 4 * n})) ||
            data != expected)
          ++wrong;
        fill();
        if (!good(c.reduce_scatter(
                {.send = data.data(), .receive = data.data() + r * n, .count = n})) ||
            !std::equal(data.begin() + static_cast<long>(r * n),
                        data.begin() + static_cast<long>((r + 1) * n),
                        expected.begin() + static_cast<long>(r * n)))
          ++wrong;
        fill();
        if (!good(c.all_gather({.send = data.data() + r * n, .receive = data.data(), .count = n})))
          ++wrong;
        for (std::size_t i = 0; i < 4 * n; ++i)
          if (data[i] != value(i / n, i)) {
            ++wrong;
            break;
          }
      }
    }
  });
  BOOST_TEST(wrong.load() == 0);
}

/// Whether an all_reduce of `n` floats in place gives what it should. Values differ by place, rank
/// and round.
bool reduces_in_place(local_job& job, std::size_t r, std::size_t n, std::size_t round) {
  std::vector<float> data(n), expected(n, 0.0f);
  for (std::size_t i = 0; i < n; ++i) {
    const auto value = [&](std::size_t m) {
      return static_cast<float>((m * 31 + i * 7 + round) % 101);
    };
    data[i] = value(r);
    for (std::size_t m = 0; m < job.size(); ++m)
      expected[i] += value(m);
  }
  const auto f =
      outcome_of(job[r].all_reduce({.send = data.data(), .receive = data.data(), .count = n}));
  return f.code() == errc::ok && data == expected;
}

BOOST_AUTO_TEST_CASE(an_all_reduce_in_place_is_right_on_both_sides_of_every_limit_of_size) {
  // Recursive doubling sends partials from where the next arrival lands. Limits: eager_bytes
  // (16 KiB), byte work done on the spot (32 KiB), halving (128 KiB), the ring (1 MiB).
  for (const std::uint32_t ranks : {2u, 3u, 4u}) {
    auto job = join_locally(ranks);
    require_joined(job);
    std::atomic<int> wrong{0};
    on_all_ranks(job, [&](std::size_t r) {
      for (const std::size_t n :
           {4095u, 4096u, 4097u, 5000u, 6144u, 8000u, 8191u, 8192u, 8193u, 16'384u, 16'385u,
            32'768u, 32'769u, 65'536u, 100'001u, 262'144u, 262'145u})
        for (std::size_t round = 0; round < 3; ++round)
          wrong += !reduces_in_place(job, r, n, round);
    });
    BOOST_TEST(wrong.load() == 0, ranks << " ranks");
  }
}

BOOST_AUTO_TEST_CASE(a_split_orders_by_key_and_leaves_out_who_has_no_colour) {
  auto job = join_locally(5);
  require_joined(job);
  std::atomic<int> wrong{0};
  on_all_ranks(job, [&](std::size_t r) {
    split_arguments how;
    if (r != 4) how.colour = static_cast<std::int32_t>(r % 2);
    how.key = -static_cast<std::int32_t>(r);
    auto part = job[r].split(how);
    if (!part) {
      wrong.fetch_add(1);
      return;
    }
    if (r == 4) {
      if (*part) wrong.fetch_add(1);
      return;
    }
    auto& c = **part;
    if (c.size() != 2 || c.rank().value != (r >= 2 ? 0u : 1u)) wrong.fetch_add(1);
    std::int32_t value = static_cast<std::int32_t>(r), sum = 0;
    const auto f = outcome_of(
        c.all_reduce({.send = &value, .receive = &sum, .count = 1, .type = data_type::int32}));
    if (f.code() != errc::ok || sum != (r % 2 == 0 ? 2 : 4)) wrong.fetch_add(1);
  });
  BOOST_TEST(wrong.load() == 0);
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_named_before_anything_starts) {
  auto job = join_locally(1);
  require_joined(job);
  auto& c = job[0];
  std::vector<float> data(16);
  auto text = [](const auto& result) {
    BOOST_REQUIRE(!result.has_value());
    BOOST_TEST((result.error().code() == errc::bad_argument));
    return result.error().message;
  };
  BOOST_TEST(text(c.all_reduce({.send = nullptr, .receive = data.data(), .count = 4}))
                 .find("`send` is null") != std::string::npos);
  BOOST_TEST(text(c.all_reduce({.send = data.data(), .receive = data.data(), .count = 1ull << 62}))
                 .find("count") != std::string::npos);
  BOOST_TEST(text(c.broadcast({.buffer = data.data(), .count = 4, .root = rank{3}}))
                 .find("ranks 0 to 0") != std::string::npos);
  BOOST_TEST(text(c.all_reduce({.send = data.data(), .receive = data.data() + 1, .count = 8}))
                 .find("overlap") != std::string::npos);
  BOOST_TEST(text(c.all_reduce({.send = data.data(),
                                .receive = data.data(),
                                .count = 8,
                                .type = static_cast<data_type>(99)}))
                 .find("99") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(zero_elements_with_null_pointers_complete) {
  auto job = join_locally(2);
  require_joined(job);
  std::atomic<int> wrong{0};
  on_all_ranks(job, [&](std::size_t r) {
    auto& c = job[r];
    wrong += outcome_of(c.all_reduce({})).code() != errc::ok;
    wrong += outcome_of(c.all_gather({})).code() != errc::ok;
    wrong += outcome_of(c.reduce_scatter({})).code() != errc::ok;
    wrong += outcome_of(c.broadcast({})).code() != errc::ok;
  });
  BOOST_TEST(wrong.load() == 0);
}

BOOST_AUTO_TEST_CASE(an_abort_from_another_thread_ends_everything_on_every_rank_within_a_second) {
  auto job = join_locally(3);
  require_joined(job);
  std::vector<std::vector<float>> data(3, std::vector<float>(8 << 20, 1.0f));
  std::vector<work_handle> works;
  for (std::size_t r = 0; r < 3; ++r)
    for (int i = 0; i < (r == 0 ? 1 : 2); ++i)  // rank 0 never calls the second one
      works.push_back(*job[r].all_reduce(
          {.send = data[r].data(), .receive = data[r].data(), .count = data[r].size()}));
  std::this_thread::sleep_for(milliseconds(20));
  const auto begin = clock::now();
  std::thread other([&] {
    job[1].abort();
    job[1].abort();
  });
  other.join();
  BOOST_TEST((clock::now() - begin < seconds(2)));
  for (const auto& work : works) {
    const auto done = work->wait(seconds(2));
    if (!done) BOOST_TEST((done.error().code() == errc::aborted));
  }
  const auto later = job[1].barrier();
  BOOST_REQUIRE(!later.has_value());
  BOOST_TEST((later.error().code() == errc::aborted));
  BOOST_TEST((job[1].finalize(seconds(1)).has_value()));
}

BOOST_AUTO_TEST_CASE(finalize_with_outstanding_operations_keeps_its_deadline) {
  auto job = join_locally(2);
  require_joined(job);
  std::vector<float> data(16, 1.0f);
  const auto stuck = job[0].all_reduce({.send = data.data(), .receive = data.data(), .count = 16});
  BOOST_REQUIRE(stuck.has_value());
  const auto begin = clock::now();
  const auto ended = job[0].finalize(milliseconds(300));
  BOOST_REQUIRE(!ended.has_value());
  BOOST_TEST((ended.error().code() == errc::timed_out));
  BOOST_TEST((clock::now() - begin < seconds(3)));
  BOOST_TEST((*stuck)->test());
  const auto later = job[0].barrier();
  BOOST_REQUIRE(!later.has_value());
}

BOOST_AUTO_TEST_CASE(different_counts_are_an_error_with_both_signatures) {
  auto job = join_locally(2);
  require_joined(job);
  std::vector<std::string> texts(2);
  on_all_ranks(job, [&](std::size_t r) {
    std::vector<float> data(1 << 20, 1.0f);
    texts[r] = outcome_of(job[r].all_reduce({.send = data.data(),
                                             .receive = data.data(),
                                             .count = r == 0 ? 1000u : 900'000u}))
                   .message;
  });
  for (const auto& text : texts) {
    BOOST_TEST(text.find("count 1000,") != std::string::npos, text);
    BOOST_TEST(text.find("count 900000,") != std::string::npos, text);
  }
}

// The rank with nothing to move is done at once; only its link can tell that a peer waits for it.
BOOST_AUTO_TEST_CASE(a_count_of_zero_against_another_is_an_error_long_before_the_timeout) {
  auto job = join_locally(2);
  require_joined(job);
  std::vector<float> data(1000, 1.0f);
  const auto call = [&](std::size_t r, std::uint64_t count) {
    return *job[r].all_reduce({.send = data.data(), .receive = data.data(), .count = count});
  };
  const auto empty = call(0, 0);
  const auto waits = call(1, 1000);
  BOOST_TEST(empty->wait(std::chrono::seconds(5)).has_value());
  const auto ended = waits->wait(std::chrono::seconds(10));
  BOOST_REQUIRE(!ended.has_value());
  BOOST_TEST((ended.error().code() == errc::mismatch));
  BOOST_TEST(ended.error().message.find("count 1000,") != std::string::npos);
  BOOST_TEST(ended.error().message.find("count 0,") != std::string::npos);
  BOOST_TEST((outcome_of(job[0].barrier()).code() == errc::mismatch));
}

BOOST_AUTO_TEST_CASE(a_send_of_none_meets_a_receive_of_none_and_no_other) {
  auto job = join_locally(2);
  require_joined(job);
  std::vector<float> data(1000, 1.0f);
  for (const std::uint64_t expected : {0u, 1000u}) {
    const auto sent = *job[0].send({.buffer = nullptr, .count = 0, .peer = rank{1}});
    const auto received =
        *job[1].receive({.buffer = data.data(), .count = expected, .peer = rank{0}});
    const auto ended = received->wait(std::chrono::seconds(10));
    BOOST_TEST(ended.has_value() == (expected == 0));
    if (expected == 0) continue;
    BOOST_TEST((ended.error().code() == errc::mismatch));
    BOOST_TEST(ended.error().message.find("1000") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(too_many_outstanding_operations_are_refused_and_none_is_lost) {
  auto job = join_locally(2, {{"collective.outstanding_operation_count", "8"}});
  require_joined(job);
  std::vector<float> data(8 * 16, 1.0f);
  std::vector<work_handle> works;
  for (std::size_t i = 0; i < 8; ++i)
    works.push_back(*job[0].all_reduce(
        {.send = data.data() + 16 * i, .receive = data.data() + 16 * i, .count = 16}));
  const auto ninth = job[0].barrier();
  BOOST_REQUIRE(!ninth.has_value());
  BOOST_TEST((ninth.error().code() == errc::queue_full));
  std::vector<float> other(16, 2.0f);
  for (int i = 0; i < 8; ++i)
    BOOST_TEST(
        (outcome_of(job[1].all_reduce({.send = other.data(), .receive = other.data(), .count = 16}))
             .code() == errc::ok));
  for (const auto& work : works)
    BOOST_TEST(work->wait(seconds(10)).has_value());
}

BOOST_AUTO_TEST_CASE(a_forked_child_gets_a_clear_error_and_the_parent_goes_on) {
  auto job = join_locally(2);
  require_joined(job);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto refused = job[0].barrier();
    const bool good = !refused && refused.error().code() == errc::forked;
    job.ranks.clear();  // must neither hang nor close the parent's sockets
    ::_exit(good ? 7 : 8);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  BOOST_TEST(WIFEXITED(status));
  BOOST_TEST(WEXITSTATUS(status) == 7);
  std::atomic<int> wrong{0};
  on_all_ranks(job,
               [&](std::size_t r) { wrong += outcome_of(job[r].barrier()).code() != errc::ok; });
  BOOST_TEST(wrong.load() == 0);
}

BOOST_AUTO_TEST_CASE(sixteen_threads_may_call_into_one_process) {
  auto job = join_locally(2);
  require_joined(job);
  std::atomic<int> wrong{0};
  on_all_ranks(job, [&](std::size_t r) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
      threads.emplace_back([&, r] {
        for (int i = 0; i < 25; ++i)
          wrong += outcome_of(job[r].barrier()).code() != errc::ok;
      });
    for (auto& t : threads)
      t.join();
  });
  BOOST_TEST(wrong.load() == 0);
}

}  // namespace
}  // namespace troupe::test
