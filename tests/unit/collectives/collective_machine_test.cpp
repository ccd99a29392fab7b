#define BOOST_TEST_MODULE collective_machine
#include "collectives/collective_machine.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <deque>
#include <set>
#include <utility>
#include <vector>

#include "collectives/transfer_window.hpp"

using namespace troupe;
using namespace troupe::collectives;

namespace {

constexpr std::uint64_t count = 1000;
constexpr std::uint64_t bytes = count * 4;

plan plan_of(operation_kind kind, std::uint32_t ranks, std::optional<algorithm> which = {}) {
  plan_request request{.signature = {.kind = kind, .type = data_type::float32, .count = count}};
  request.size = ranks;
  request.requested = which;
  return make_plan(request, {.chunk_bytes = 64}).value();
}

buffer_view view(std::uint32_t slot, std::uint64_t size) {
  return {{slot, 0}, 0, size};
}

collective_buffers buffers_of(const plan& what) {
  return {
      .send = view(0, bytes), .receive = view(1, bytes), .scratch = view(2, what.scratch_bytes)};
}

collective_state started(const plan& what, collective_effects& out) {
  collective_state state = make_state(what, buffers_of(what)).value();
  step(state, collective_started{}, out);
  return state;
}

template <class Effect>
std::size_t count_of(const collective_effects& effects) {
  std::size_t out = 0;
  for (const collective_effect& effect : effects)
    out += std::holds_alternative<Effect>(effect) ? 1 : 0;
  return out;
}

/// All ranks of one operation and no bytes: views are enough to drive machines, so a buffer may be
/// larger than the memory of any machine.
class byteless_world {
 public:
  explicit byteless_world(plan_request request) {
    const std::uint64_t block = request.signature.count;
    const std::uint64_t all = block * request.size;
    if (request.signature.kind == operation_kind::all_to_all_v) request.signature.count = 0;
    for (std::uint32_t self = 0; self < request.size; ++self)
      blocks_.push_back({self * block, block, self * block, block});
    for (std::uint32_t self = 0; self < request.size; ++self) {
      request.self = rank{self};
      const plan what = make_plan(request, {}).value();
      const operation_kind kind = what.signature.kind;
      const collective_buffers buffers{.send = view(0, sends_blocks(kind) ? all : block),
                                       .receive = view(1, receives_blocks(kind) ? all : block),
                                       .scratch = view(2, what.scratch_bytes),
                                       .blocks = blocks_};
      states_.push_back(make_state(what, buffers).value());
      events_.push_back({rank{self}, collective_started{}});
    }
  }

  /// Ranges of the output that rank 0 wrote, in the order of their offset.
  std::vector<buffer_view> run() {
    for (; !events_.empty(); events_.pop_front()) {
      effects_.clear();
      self_ = events_.front().first;
      step(states_[self_.value], events_.front().second, effects_);
      for (const collective_effect& effect : effects_)
        std::visit([this](const auto& one) { apply(one); }, effect);
    }
    std::sort(written_.begin(), written_.end(),
              [](const auto& l, const auto& r) { return l.offset < r.offset; });
    return written_;
  }

  std::uint32_t finished_count() const { return finished_count_; }

 private:
  static bool exchanges(operation_kind kind) {
    return kind == operation_kind::all_to_all || kind == operation_kind::all_to_all_v;
  }
  static bool sends_blocks(operation_kind kind) {
    return exchanges(kind) || kind == operation_kind::reduce_scatter ||
           kind == operation_kind::scatter;
  }
  static bool receives_blocks(operation_kind kind) {
    return exchanges(kind) || kind == operation_kind::all_gather || kind == operation_kind::gather;
  }

  struct transfer {
    rank from, to;
    std::uint32_t step = 0;
    auto operator<=>(const transfer&) const = default;
  };

  void meet(const transfer& one) {
    if (half_open_.insert(one).second) return;
    half_open_.erase(one);
    events_.push_back({one.from, put_finished{one.to, one.step}});
    events_.push_back({one.to, accept_finished{one.from, one.step}});
  }
  void write(const buffer_view& target) {
    if (self_ == rank{0} && target.id.slot == 1) written_.push_back(target);
  }
  void apply(const put& one) { meet({self_, one.peer, one.step}); }
  void apply(const accept& one) {
    write(one.target);
    meet({one.peer, self_, one.step});
  }
  void apply(const combine& one) {
    write(one.target);
    events_.push_back({self_, bytes_finished{one.token}});
  }
  void apply(const copy& one) {
    write(one.target);
    events_.push_back({self_, bytes_finished{one.token}});
  }
  void apply(const finish&) { ++finished_count_; }

  std::vector<peer_block> blocks_;
  std::vector<collective_state> states_;
  std::deque<std::pair<rank, collective_event>> events_;
  std::set<transfer> half_open_;
  collective_effects effects_;
  rank self_{};
  std::vector<buffer_view> written_;
  std::uint32_t finished_count_ = 0;
};

}  // namespace

BOOST_AUTO_TEST_CASE(nothing_happens_before_the_start_and_nothing_after_the_end) {
  const plan what = plan_of(operation_kind::broadcast, 1);
  collective_state state = make_state(what, buffers_of(what)).value();
  collective_effects out;
  step(state, put_finished{rank{0}, 0}, out);
  BOOST_TEST(out.empty());
  BOOST_TEST(state.ignored == 1u);
  step(state, collective_started{}, out);
  BOOST_TEST(count_of<finish>(out) == 1u);
  BOOST_TEST((state.phase == collective_phase::finished));
  out.clear();
  step(state, collective_started{}, out);
  step(state, bytes_finished{0}, out);
  BOOST_TEST(out.empty());
  BOOST_TEST(state.ignored == 3u);
}

BOOST_AUTO_TEST_CASE(events_that_fit_no_state_are_counted_and_change_nothing) {
  for (const auto& [kind, which] :
       {std::pair{operation_kind::all_reduce, algorithm::ring},
        std::pair{operation_kind::all_reduce, algorithm::recursive_doubling},
        std::pair{operation_kind::broadcast, algorithm::binomial_tree},
        std::pair{operation_kind::barrier, algorithm::dissemination}}) {
    collective_effects out;
    collective_state state = started(plan_of(kind, 5, which), out);
    out.clear();
    std::uint64_t expected = 0;
    for (const std::uint32_t step_number : {3'000'000'000u, 0xffff'ffffu, 77'777u}) {
      step(state, put_finished{rank{1}, step_number}, out);
      step(state, put_finished{no_rank, 0}, out);
      step(state, accept_finished{rank{4}, step_number}, out);
      step(state, accept_finished{no_rank, 0}, out);
      step(state, bytes_finished{step_number}, out);
      step(state, collective_started{}, out);
      expected += 6;
    }
    BOOST_TEST(out.empty());
    BOOST_TEST(state.ignored == expected);
  }
}

BOOST_AUTO_TEST_CASE(an_event_that_comes_twice_counts_once) {
  collective_effects out;
  collective_state state = started(plan_of(operation_kind::all_reduce, 3, algorithm::ring), out);
  out.clear();
  step(state, accept_finished{rank{2}, 0}, out);
  BOOST_TEST(count_of<combine>(out) == 1u);
  out.clear();
  step(state, accept_finished{rank{2}, 0}, out);
  BOOST_TEST(out.empty());
  BOOST_TEST(state.ignored == 1u);
}

BOOST_AUTO_TEST_CASE(a_chunk_is_sent_on_in_the_step_that_ends_its_combine) {
  const plan what = plan_of(operation_kind::all_reduce, 3, algorithm::ring);
  collective_effects out;
  collective_state state = started(what, out);
  BOOST_TEST(count_of<put>(out) == what.pipeline_chunk_count);
  BOOST_TEST(count_of<accept>(out) == what.pipeline_chunk_count);
  for (std::uint32_t i = 0; i < what.pipeline_chunk_count; ++i)
    step(state, put_finished{rank{1}, i}, out);
  out.clear();
  step(state, accept_finished{rank{2}, 0}, out);
  const std::uint32_t token = std::get<combine>(out[0]).token;
  out.clear();
  step(state, bytes_finished{token}, out);
  BOOST_TEST(count_of<put>(out) == 1u);
  BOOST_TEST(count_of<accept>(out) == 1u, "and the next accept takes the free slot");
}

BOOST_AUTO_TEST_CASE(buffers_that_do_not_fit_the_plan_are_refused) {
  const plan what = plan_of(operation_kind::all_reduce, 3, algorithm::ring);
  const auto error_with = [&](auto change) {
    collective_buffers buffers = buffers_of(what);
    change(buffers);
    const auto state = make_state(what, buffers);
    return state ? errc::ok : state.error().code;
  };
  BOOST_TEST((error_with([](auto&) {}) == errc::ok));
  BOOST_TEST((error_with([](auto& b) { b.send.bytes -= 1; }) == errc::bad_argument));
  BOOST_TEST((error_with([](auto& b) { b.receive.bytes += 4; }) == errc::bad_argument));
  BOOST_TEST((error_with([](auto& b) { b.scratch.bytes -= 1; }) == errc::bad_argument));
  BOOST_TEST((error_with([](auto& b) { b.receive = b.send; }) == errc::ok), "in place");
  BOOST_TEST((error_with([](auto& b) {
                b.receive = b.send;
                b.receive.offset += 4;
              }) == errc::bad_argument),
             "an overlap in part");
}

BOOST_AUTO_TEST_CASE(a_state_is_assigned_anew_for_the_next_operation) {
  collective_effects out;
  collective_state state = started(plan_of(operation_kind::all_reduce, 3, algorithm::ring), out);
  const plan next = plan_of(operation_kind::barrier, 3);
  state = make_state(next, {}).value();
  out.clear();
  step(state, collective_started{}, out);
  BOOST_TEST(count_of<put>(out) == 1u);
  BOOST_TEST(count_of<accept>(out) == 2u);
}

BOOST_AUTO_TEST_CASE(the_widest_windows_stay_within_the_bound_of_effects) {
  plan_request request{.signature = {.kind = operation_kind::reduce_scatter,
                                     .op = reduction::premultiplied_sum,
                                     .count = count}};
  request.size = 40;
  for (const algorithm which : {algorithm::ring, algorithm::direct}) {
    request.requested = which;
    const plan what = make_plan(request, {.chunk_bytes = 16, .pipeline_chunk_count = 16}).value();
    collective_state state = make_state(what, {.send = view(0, count * 40),
                                               .receive = view(1, count),
                                               .scratch = view(2, what.scratch_bytes)})
                                 .value();
    collective_effects out;
    step(state, collective_started{}, out);
    BOOST_TEST(count_of<copy>(out) == window_width_max);
    BOOST_TEST(count_of<accept>(out) == window_width_max);
  }
}

BOOST_AUTO_TEST_CASE(an_event_of_another_peer_step_or_token_fits_no_new_machine) {
  for (const auto& [kind, which] :
       {std::pair{operation_kind::reduce, algorithm::binomial_tree},
        std::pair{operation_kind::reduce, algorithm::chain},
        std::pair{operation_kind::all_reduce, algorithm::recursive_halving},
        std::pair{operation_kind::all_reduce, algorithm::binomial_tree},
        std::pair{operation_kind::all_gather, algorithm::bruck},
        std::pair{operation_kind::all_gather, algorithm::binary_tree}}) {
    for (const std::uint32_t self : {0u, 1u, 4u}) {
      plan_request request{.signature = {.kind = kind, .type = data_type::uint8, .count = bytes}};
      request.size = 5;
      request.self = rank{self};
      request.requested = which;
      const plan what = make_plan(request, {.chunk_bytes = 64}).value();
      const bool gathers = kind == operation_kind::all_gather;
      const bool no_output = kind == operation_kind::reduce && self != 0;
      collective_state state =
          make_state(what, {.send = view(0, bytes),
                            .receive = view(1, no_output ? 0 : bytes * (gathers ? 5 : 1)),
                            .scratch = view(2, what.scratch_bytes)})
              .value();
      collective_effects out;
      step(state, collective_started{}, out);
      out.clear();
      const rank nobody{self == 2 ? 3u : 2u};
      for (const std::uint32_t number : {3'000'000'000u, 0xffff'ffffu, 77'777u}) {
        step(state, put_finished{nobody, number}, out);
        step(state, put_finished{no_rank, 0}, out);
        step(state, accept_finished{rank{self}, number}, out);
        step(state, accept_finished{no_rank, 0}, out);
        step(state, bytes_finished{number & ~1u}, out);
      }
      BOOST_TEST(out.empty());
      BOOST_TEST(state.ignored == 15u, to_string(which) << " at " << self);
    }
  }
}

BOOST_AUTO_TEST_CASE(counts_above_two_and_four_gibibytes_are_covered_without_a_gap) {
  struct row {
    operation_kind kind;
    algorithm which;
    std::uint32_t output_blocks;  ///< of rank 0, the root
  };
  constexpr std::array rows{row{operation_kind::all_reduce, algorithm::ring, 1},
                            row{operation_kind::all_reduce, algorithm::recursive_doubling, 1},
                            row{operation_kind::all_reduce, algorithm::recursive_halving, 1},
                            row{operation_kind::all_gather, algorithm::ring, 3},
                            row{operation_kind::all_gather, algorithm::direct, 3},
                            row{operation_kind::all_reduce, algorithm::binomial_tree, 1},
                            row{operation_kind::all_gather, algorithm::bruck, 3},
                            row{operation_kind::all_gather, algorithm::binary_tree, 3},
                            row{operation_kind::reduce_scatter, algorithm::ring, 1},
                            row{operation_kind::reduce_scatter, algorithm::direct, 1},
                            row{operation_kind::reduce, algorithm::binomial_tree, 1},
                            row{operation_kind::reduce, algorithm::chain, 1},
                            row{operation_kind::gather, algorithm::direct, 3},
                            row{operation_kind::scatter, algorithm::direct, 1},
                            row{operation_kind::all_to_all, algorithm::direct, 3},
                            row{operation_kind::all_to_all_v, algorithm::direct, 3}};
  for (const std::uint64_t size : {(1ull << 31) - 1, (1ull << 32) + 1}) {
    for (const row& one : rows) {
      plan_request request{
          .signature = {.kind = one.kind, .type = data_type::uint8, .count = size}};
      request.size = 3;
      request.requested = one.which;
      byteless_world world(request);
      std::uint64_t covered = 0;
      for (const buffer_view& range : world.run()) {
        BOOST_REQUIRE(range.offset <= covered);
        covered = std::max(covered, range.offset + range.bytes);
      }
      BOOST_TEST_CONTEXT(to_string(one.kind) << " by " << to_string(one.which)) {
        BOOST_TEST(covered == size * one.output_blocks);
        BOOST_TEST(world.finished_count() == 3u);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_pair_of_an_exchange_cuts_what_step_numbers_cannot_count) {
  // 2^47 bytes, the most that a call may move, in chunks of 64 bytes would be 2^41 steps.
  plan_request request{.signature = {.kind = operation_kind::all_to_all_v}};
  request.size = 2;
  const plan what = make_plan(request, {.chunk_bytes = 64}).value();
  const std::uint64_t bytes_of_pair = 1ull << 47;
  const std::vector<peer_block> blocks{{}, {0, bytes_of_pair, 0, bytes_of_pair}};
  collective_state state = make_state(what, {.send = view(0, bytes_of_pair),
                                             .receive = view(1, bytes_of_pair),
                                             .scratch = {},
                                             .blocks = blocks})
                               .value();
  collective_effects out;
  step(state, collective_started{}, out);
  BOOST_TEST(count_of<put>(out) == window_width_max);
  const auto& first = std::get<accept>(out[0]);
  BOOST_TEST(first.target.bytes == bytes_of_pair >> 31);
}

BOOST_AUTO_TEST_CASE(blocks_that_do_not_fit_are_refused) {
  plan_request request{.signature = {.kind = operation_kind::all_to_all_v}};
  request.size = 2;
  const plan what = make_plan(request, {}).value();
  const auto error_with = [&](std::vector<peer_block> blocks) {
    const auto state = make_state(
        what, {.send = view(0, 100), .receive = view(1, 100), .scratch = {}, .blocks = blocks});
    return state ? errc::ok : state.error().code;
  };
  BOOST_TEST((error_with({{0, 50, 0, 50}, {50, 50, 50, 50}}) == errc::ok));
  BOOST_TEST((error_with({{0, 50, 0, 50}}) == errc::bad_argument), "one for each rank");
  BOOST_TEST((error_with({{0, 50, 0, 49}, {}}) == errc::bad_argument), "to itself");
  BOOST_TEST((error_with({{}, {51, 50, 0, 0}}) == errc::bad_argument));
  BOOST_TEST((error_with({{}, {0, 0, ~0ull, 2}}) == errc::bad_argument));
  BOOST_TEST((error_with({{}, {~0ull, 0, ~0ull, 0}}) == errc::ok), "nothing lies nowhere");
}

BOOST_AUTO_TEST_CASE(a_window_moves_over_what_finished_early) {
  transfer_window window{.width = 3};
  window.posted = 3;
  BOOST_TEST(!window.has_room());
  BOOST_TEST(window.finish(2));
  BOOST_TEST(window.finish(1));
  BOOST_TEST(!window.finish(1), "twice");
  BOOST_TEST(!window.finish(3), "not posted");
  BOOST_TEST(!window.has_room(), "the first is still open");
  BOOST_TEST(window.finish(0));
  BOOST_TEST(window.finished == 3u);
  BOOST_TEST(window.early == 0u);
}
