#define BOOST_TEST_MODULE collectives
#include <boost/test/unit_test.hpp>

#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <string>
#include <vector>

#include "tests/actors/local_job.hpp"

namespace troupe::test {
namespace {

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

bool good(outcome<work_handle> started) {
  return outcome_of(std::move(started)).code() == errc::ok;
}

/// Differs by rank, place and round: nothing taken from elsewhere passes.
float value(std::size_t rank, std::size_t i, std::size_t round = 0) {
  return static_cast<float>((rank * 31 + i * 7 + round * 3) % 101);
}

std::vector<float> values(std::size_t rank, std::size_t n, std::size_t round = 0) {
  std::vector<float> out(n);
  for (std::size_t i = 0; i < n; ++i)
    out[i] = value(rank, i, round);
  return out;
}

std::vector<float> sums(std::size_t ranks, std::size_t n) {
  std::vector<float> out(n, 0.0f);
  for (std::size_t r = 0; r < ranks; ++r)
    for (std::size_t i = 0; i < n; ++i)
      out[i] += value(r, i);
  return out;
}

constexpr std::size_t counts[] = {1, 5, 1000, 4097, 70'000, 300'000};

BOOST_AUTO_TEST_CASE(a_reduce_reaches_its_root_alone_by_every_algorithm) {
  auto job = join_locally(3);
  require_joined(job);
  std::atomic<int> wrong{0};
  on_all_ranks(job, [&](std::size_t r) {
    for (const auto n : counts) {
      for (const auto which : {algorithm::binomial_tree, algorithm::chain}) {
        for (std::uint32_t root = 0; root < 3; ++root) {
          const auto in = values(r, n);
          std::vector<float> out(n, -1.0f);
          wrong += !good(job[r].reduce({.send = in.data(),
                                        .receive = out.data(),
                                        .count = n,
                                        .root = rank{root},
                                        .options = {.algorithm = which}}));
          wrong += out != (r == root ? sums(3, n) : std::vector<float>(n, -1.0f));
          auto both = in;
          wrong += !good(job[r].reduce({.send = both.data(),
                                        .receive = r == root ? both.data() : nullptr,
                                        .count = n,
                                        .root = rank{root}}));
          wrong += both != (r == root ? sums(3, n) : in);
        }
      }
    }
  });
  BOOST_TEST(wrong.load() == 0);
}

BOOST_AUTO_TEST_CASE(gather_and_scatter_undo_each_other_in_place_and_out_of_place) {
  auto job = join_locally(3);
  require_joined(job);
  std::atomic<int> wrong{0};
  on_all_ranks(job, [&](std::size_t r) {
    auto& c = job[r];
    for (const auto n : counts) {
      for (std::uint32_t root = 0; root < 3; ++root) {
        const bool mine = r == root;
        const auto in = values(r, n);
        std::vector<float> all(mine ? 3 * n : 0), expected, out(n);
        for (std::size_t m = 0; m < 3; ++m)
          for (const float v : values(m, n))
            expected.push_back(v);
        wrong += !good(
            c.gather({.send = in.data(), .receive = all.data(), .count = n, .root = rank{root}}));
        wrong += mine && all != expected;
        wrong += !good(
            c.scatter({.send = all.data(), .receive = out.data(), .count = n, .root = rank{root}}));
        wrong += out != in;
        // In place: the root's block lies where it belongs.
        if (mine) std::copy(in.begin(), in.end(), all.begin() + static_cast<long>(r * n));
        float* const own = mine ? all.data() + r * n : out.data();
        wrong += !good(c.gather({.send = mine ? own : in.data(),
                                 .receive = all.data(),
                                 .count = n,
                                 .root = rank{root}}));
        wrong += mine && all != expected;
        wrong +=
            !good(c.scatter({.send = all.data(), .receive = own, .count = n, .root = rank{root}}));
        wrong += mine && all != expected;
      }
    }
  });
  BOOST_TEST(wrong.load() == 0);
}

BOOST_AUTO_TEST_CASE(an_all_to_all_transposes) {
  auto job = join_locally(3);
  require_joined(job);
  std::atomic<int> wrong{0};
  on_all_ranks(job, [&](std::size_t r) {
    for (const auto n : counts) {
      std::vector<float> in, out(3 * n), expected;
      for (std::size_t p = 0; p < 3; ++p) {
        for (const float v : values(r, n, p))
          in.push_back(v);
        for (const float v : values(p, n, r))
          expected.push_back(v);
      }
      wrong += !good(job[r].all_to_all({.send = in.data(), .receive = out.data(), .count = n}));
      wrong += out != expected;
    }
  });
  BOOST_TEST(wrong.load() == 0);
}

/// Rank r sends (r * 5 + p * 3 + turn) mod 7 * scale elements to rank p, some of them none.
std::uint64_t pair_count(std::size_t from, std::size_t to, std::size_t turn, std::uint64_t scale) {
  return (from * 5 + to * 3 + turn) % 7 * scale;
}

BOOST_AUTO_TEST_CASE(an_all_to_all_v_moves_blocks_of_any_size_to_any_place) {
  auto job = join_locally(3);
  require_joined(job);
  std::atomic<int> wrong{0};
  on_all_ranks(job, [&](std::size_t r) {
    for (const std::uint64_t scale : {1ull, 100ull, 4096ull, 90'000ull}) {
      for (std::size_t turn = 0; turn < 7; ++turn) {
        all_to_all_v_arguments a;
        std::uint64_t sent = 1, received = 2;  // gaps of one before each block
        for (std::size_t p = 0; p < 3; ++p) {
          a.send_counts.push_back(pair_count(r, p, turn, scale));
          a.receive_counts.push_back(pair_count(p, r, turn, scale));
          a.send_offsets.push_back(sent);
          sent += a.send_counts.back() + 1;
        }
        a.receive_offsets.assign(3, 0);
        for (std::size_t p = 3; p-- > 0;) {  // the last rank's block comes first
          a.receive_offsets[p] = received;
          received += a.receive_counts[p] + 1;
        }
        std::vector<float> in(sent, -2.0f), out(received, -1.0f), expected(received, -1.0f);
        for (std::size_t p = 0; p < 3; ++p) {
          for (std::uint64_t i = 0; i < a.send_counts[p]; ++i)
            in[a.send_offsets[p] + i] = value(r, i, p);
          for (std::uint64_t i = 0; i < a.receive_counts[p]; ++i)
            expected[a.receive_offsets[p] + i] = value(p, i, r);
        }
        a.send = in.data();
        a.receive = out.data();
        wrong += !good(job[r].all_to_all_v(a));
        wrong += out != expected;
      }
    }
  });
  BOOST_TEST(wrong.load() == 0);
}

BOOST_AUTO_TEST_CASE(counts_that_differ_in_a_pair_end_everywhere_with_both_of_them) {
  // Rank 0 sends 0, few, as many or more than rank 1 expects: small, large, and across the limits.
  const std::pair<std::uint64_t, std::uint64_t> cases[] = {{0, 5},       {5, 0},       {0, 100'000},
                                                           {100'000, 0}, {5, 7},       {100'000, 5},
                                                           {5, 100'000}, {99, 300'000}};
  for (const auto& [sends, expects] : cases) {
    auto job = join_locally(3);
    require_joined(job);
    std::vector<failure> ends(3);
    on_all_ranks(job, [&, sends = sends, expects = expects](std::size_t r) {
      all_to_all_v_arguments a;
      a.send_counts = {1, r == 0 ? sends : 1, 1};
      a.receive_counts = {r == 1 ? expects : 1, 1, 1};
      a.send_counts[r] = a.receive_counts[r] = 1;
      a.send_offsets = {0, 1, 1 + a.send_counts[1]};
      a.receive_offsets = {0, a.receive_counts[0], a.receive_counts[0] + 1};
      std::vector<float> in(a.send_offsets[2] + 1, 1.0f), out(a.receive_offsets[2] + 2, -1.0f);
      a.send = in.data();
      a.receive = out.data();
      a.options.timeout = seconds(10);
      ends[r] = outcome_of(job[r].all_to_all_v(a));
      // Small blocks are sent on trust: a rank may be done before its peer sees the difference. It
      // learns of it with its next call.
      if (ends[r].code() == errc::ok) ends[r] = outcome_of(job[r].barrier());
      if (out.back() != -1.0f) ends[r] = {errc::internal_failure, "wrote beyond a block"};
    });
    const std::string text = "rank 0 sends " + std::to_string(sends) +
                             " elements of float32 to rank 1, which expects " +
                             std::to_string(expects);
    for (std::size_t r = 0; r < 3; ++r) {
      BOOST_TEST((ends[r].code() == errc::mismatch), "rank " << r << ": " << to_string(ends[r]));
      BOOST_TEST(ends[r].message.find(text) != std::string::npos, ends[r].message);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_late_all_to_all_v_is_not_taken_for_a_different_one) {
  auto job = join_locally(2, {{"watchdog.mismatch_after", "5ms"}});
  require_joined(job);
  std::atomic<int> wrong{0};
  on_all_ranks(job, [&](std::size_t r) {
    std::vector<float> in(8, 1.0f), out(8);
    if (r == 1) std::this_thread::sleep_for(milliseconds(300));
    wrong += !good(job[r].all_to_all_v({.send = in.data(),
                                        .receive = out.data(),
                                        .send_counts = {3, 3},
                                        .send_offsets = {0, 3},
                                        .receive_counts = {3, 3},
                                        .receive_offsets = {0, 3}}));
  });
  BOOST_TEST(wrong.load() == 0);
}

BOOST_AUTO_TEST_CASE(what_a_rank_sends_to_itself_arrives_in_the_order_of_the_calls) {
  for (const std::uint32_t ranks : {1u, 2u}) {
    auto job = join_locally(ranks);
    require_joined(job);
    auto& c = job[0];
    for (const std::uint64_t n : {1ull, 1000ull, 300'000ull}) {
      const auto first = values(1, n), second = values(2, n);
      std::vector<float> a(n), b(n);
      auto sent = c.send({.buffer = first.data(), .count = n, .peer = rank{0}});
      auto received_b = c.receive({.buffer = a.data(), .count = n, .peer = rank{0}});
      auto received_c = c.receive({.buffer = b.data(), .count = n, .peer = rank{0}});
      auto sent_again = c.send({.buffer = second.data(), .count = n, .peer = rank{0}});
      BOOST_TEST(good(sent));
      BOOST_TEST(good(received_b));
      BOOST_TEST(good(received_c));
      BOOST_TEST(good(sent_again));
      BOOST_TEST((a == first));
      BOOST_TEST((b == second));
      BOOST_TEST(((*sent)->path().lanes == lane_kind::none));
    }
  }
}

BOOST_AUTO_TEST_CASE(
    a_send_to_oneself_that_nobody_receives_times_out_and_a_wrong_one_is_a_mismatch) {
  auto job = join_locally(1);
  require_joined(job);
  std::vector<float> data(100'000), other(100'000);
  auto alone = job[0].send({.buffer = data.data(),
                            .count = 10,
                            .peer = rank{0},
                            .options = {.timeout = milliseconds(200)}});
  BOOST_TEST((outcome_of(alone).code() == errc::timed_out));
  auto next = join_locally(1);
  require_joined(next);
  auto sent = next[0].send({.buffer = data.data(), .count = 10, .peer = rank{0}});
  auto received = next[0].receive({.buffer = other.data(), .count = 11, .peer = rank{0}});
  const auto ended = outcome_of(received);
  BOOST_TEST((ended.code() == errc::mismatch));
  BOOST_TEST(ended.message.find("count 10,") != std::string::npos, ended.message);
  BOOST_TEST(ended.message.find("count 11,") != std::string::npos, ended.message);
  BOOST_TEST((outcome_of(sent).code() == errc::mismatch));
}

BOOST_AUTO_TEST_CASE(an_abort_ends_a_copy_to_oneself_in_the_middle) {
  auto job = join_locally(1);
  require_joined(job);
  std::vector<float> data(32 << 20, 1.0f), other(32 << 20);
  auto sent = job[0].send({.buffer = data.data(), .count = data.size(), .peer = rank{0}});
  auto received = job[0].receive({.buffer = other.data(), .count = data.size(), .peer = rank{0}});
  job[0].abort();
  for (const auto& one : {sent, received}) {
    const auto ended = outcome_of(one, seconds(2));
    BOOST_TEST((ended.code() == errc::ok || ended.code() == errc::aborted));
  }
}

BOOST_AUTO_TEST_CASE(as_many_collectives_as_may_be_outstanding_find_room_in_a_link) {
  // 16 chunks to and 16 from one peer each: all at once they would be twice what a link holds.
  // Ranks call the two communicators in opposite orders.
  auto job = join_locally(2, {{"collective.chunk_bytes", "4096"}});
  require_joined(job);
  constexpr std::size_t n = 16 * 1024, calls = 200;
  std::atomic<int> wrong{0};
  on_all_ranks(job, [&](std::size_t r) {
    auto other = job[r].split({.colour = 0, .key = 0});
    if (!other) {
      ++wrong;
      return;
    }
    std::vector<float> in(2 * n, static_cast<float>(r + 1));
    std::vector<std::vector<float>> out(2 * calls, std::vector<float>(2 * n));
    std::vector<work_handle> works;
    for (std::size_t turn = 0; turn < 2; ++turn) {
      auto& c = turn == r ? job[r] : **other;
      for (std::size_t i = 0; i < calls; ++i) {
        auto work =
            c.all_to_all({.send = in.data(), .receive = out[turn * calls + i].data(), .count = n});
        wrong += !work;
        if (work) works.push_back(*work);
      }
    }
    for (const auto& work : works) {
      const auto done = work->wait(seconds(60));
      if (!done && wrong++ == 0) BOOST_TEST(false, to_string(done.error()));
    }
    for (const auto& one : out)
      wrong += one.front() != 1.0f || one.back() != 2.0f;
  });
  BOOST_TEST(wrong.load() == 0);
}

BOOST_AUTO_TEST_CASE(one_rank_alone_computes_every_collective_without_a_lane) {
  auto job = join_locally(1);
  require_joined(job);
  auto& c = job[0];
  const auto in = values(0, 1000);
  auto check = [&](auto call, bool in_place_too) {
    std::vector<float> out(1000);
    outcome<work_handle> work = call(in.data(), out.data());
    BOOST_TEST(good(work));
    BOOST_TEST((out == in));
    BOOST_TEST(((*work)->path().lanes == lane_kind::none));
    BOOST_TEST(((*work)->path().algorithm == algorithm::local_copy));
    if (!in_place_too) return;
    out = in;
    work = call(out.data(), out.data());
    BOOST_TEST(good(work));
    BOOST_TEST((out == in));
    BOOST_TEST(((*work)->path().algorithm == algorithm::none));
  };
  check([&](const float* s, float* r) { return c.all_reduce({s, r, 1000}); }, true);
  check([&](const float* s, float* r) { return c.all_gather({s, r, 1000}); }, true);
  check([&](const float* s, float* r) { return c.reduce_scatter({s, r, 1000}); }, true);
  check([&](const float* s, float* r) { return c.reduce({s, r, 1000}); }, true);
  check([&](const float* s, float* r) { return c.gather({s, r, 1000}); }, true);
  check([&](const float* s, float* r) { return c.scatter({s, r, 1000}); }, true);
  check([&](const float* s, float* r) { return c.all_to_all({s, r, 1000}); }, false);
  check(
      [&](const float* s, float* r) {
        return c.all_to_all_v({s, r, {1000}, {0}, {1000}, {0}});
      },
      false);
}

BOOST_AUTO_TEST_CASE(zero_elements_need_no_buffer) {
  auto job = join_locally(2);
  require_joined(job);
  std::atomic<int> wrong{0};
  on_all_ranks(job, [&](std::size_t r) {
    auto& c = job[r];
    wrong += !good(c.reduce({}));
    wrong += !good(c.gather({}));
    wrong += !good(c.scatter({}));
    wrong += !good(c.all_to_all({}));
    wrong += !good(c.all_to_all_v({.send_counts = {0, 0},
                                   .send_offsets = {~0ull, 7},
                                   .receive_counts = {0, 0},
                                   .receive_offsets = {0, ~0ull}}));
    const rank self{static_cast<std::uint32_t>(r)};
    const auto received = c.receive({.peer = self});
    wrong += !good(c.send({.peer = self}));
    wrong += !good(received);
  });
  BOOST_TEST(wrong.load() == 0);
}

/// Address space without memory: pages are there once they are touched.
class sparse_floats {
 public:
  explicit sparse_floats(std::uint64_t count) : bytes_(count * sizeof(float)) {
    at_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  ~sparse_floats() { ::munmap(at_, bytes_); }
  sparse_floats(const sparse_floats&) = delete;
  sparse_floats& operator=(const sparse_floats&) = delete;

  bool mapped() const { return at_ != MAP_FAILED; }
  float* data() { return static_cast<float*>(at_); }

 private:
  std::uint64_t bytes_;
  void* at_;
};

BOOST_AUTO_TEST_CASE(blocks_beyond_two_to_the_31_elements_and_32_bytes_are_reached) {
  auto job = join_locally(2);
  require_joined(job);
  constexpr std::uint64_t far = (1ull << 32) + 5;  // elements: 16 GiB from the start
  std::atomic<int> wrong{0};
  on_all_ranks(job, [&](std::size_t r) {
    sparse_floats in(far + 10), out(far + 10);
    if (!in.mapped() || !out.mapped()) {
      ++wrong;
      return;
    }
    const auto mine = static_cast<float>(r + 1);
    for (std::uint64_t i = 0; i < 5; ++i)
      in.data()[i] = in.data()[far + i] = mine * 10 + static_cast<float>(i);
    // Rank 0's block lies at the start, rank 1's far behind, on both sides.
    wrong += !good(job[r].all_to_all_v({.send = in.data(),
                                        .receive = out.data(),
                                        .send_counts = {5, 5},
                                        .send_offsets = {0, far},
                                        .receive_counts = {5, 5},
                                        .receive_offsets = {far, 1ull << 31}}));
    for (std::uint64_t i = 0; i < 5; ++i) {
      wrong += out.data()[far + i] != 10 + static_cast<float>(i);
      wrong += out.data()[(1ull << 31) + i] != 20 + static_cast<float>(i);
    }
  });
  BOOST_TEST(wrong.load() == 0);
}

BOOST_AUTO_TEST_CASE(bad_arguments_of_the_rooted_and_exchanging_calls_are_named) {
  auto job = join_locally(2);
  require_joined(job);
  auto& c = job[0];
  std::vector<float> d(64);
  auto expect = [](const outcome<work_handle>& result, const std::string& part) {
    BOOST_REQUIRE(!result.has_value());
    BOOST_TEST((result.error().code() == errc::bad_argument));
    BOOST_TEST(result.error().message.find(part) != std::string::npos, result.error().message);
  };
  expect(c.reduce({.send = d.data(), .receive = d.data(), .count = 1, .root = rank{2}}),
         "`root` is rank 2, the communicator has ranks 0 to 1");
  expect(c.reduce({.send = d.data(), .receive = nullptr, .count = 1}), "`receive` is null");
  expect(c.reduce({.send = d.data(), .receive = d.data() + 1, .count = 2}), "overlap");
  expect(c.gather({.send = d.data() + 1, .receive = d.data(), .count = 4}), "overlap");
  expect(c.scatter({.send = d.data(), .receive = d.data() + 1, .count = 4}), "overlap");
  expect(c.scatter({.send = nullptr, .receive = d.data(), .count = 4}), "`send` is null");
  expect(c.gather({.send = d.data(), .receive = d.data(), .count = 1ull << 45}), "count");
  expect(c.all_to_all({.send = d.data(), .receive = d.data(), .count = 1}), "no in-place form");
  all_to_all_v_arguments v{.send = d.data(),
                           .receive = d.data() + 32,
                           .send_counts = {1, 2},
                           .send_offsets = {0, 1},
                           .receive_counts = {1, 2},
                           .receive_offsets = {0, 1}};
  auto with = [&](auto change) {
    auto changed = v;
    change(changed);
    return c.all_to_all_v(changed);
  };
  expect(with([](auto& a) { a.send_counts.pop_back(); }),
         "`send_counts` has 1 entries; it must have one for each of the 2 ranks");
  expect(with([](auto& a) { a.receive_counts[0] = 3; }), "sends 1 elements to itself");
  expect(with([](auto& a) { a.send_offsets[1] = ~0ull; }), "send_offsets[1]");
  expect(with([](auto& a) { a.receive_counts[1] = ~0ull; }), "receive_counts[1]");
  expect(with([](auto& a) { a.receive_offsets[1] = 0; }), "ranks 0 and 1 send would land");
  expect(with([&](auto& a) { a.receive = d.data(); }), "overlap");
  expect(with([](auto& a) { a.send = nullptr; }), "`send` is null");
  expect(with([](auto& a) { a.type = static_cast<data_type>(77); }), "77");
  // Interleaved blocks of one buffer are apart.
  std::atomic<int> wrong{0};
  on_all_ranks(job, [&](std::size_t r) {
    std::vector<float> both{1, -1, 2, -1};
    wrong += !good(job[r].all_to_all_v({.send = both.data(),
                                        .receive = both.data(),
                                        .send_counts = {1, 1},
                                        .send_offsets = {0, 2},
                                        .receive_counts = {1, 1},
                                        .receive_offsets = {1, 3}}));
    const auto got = static_cast<float>(r + 1);
    wrong += both != std::vector<float>{1, got, 2, got};
  });
  BOOST_TEST(wrong.load() == 0);
}

}  // namespace
}  // namespace troupe::test
