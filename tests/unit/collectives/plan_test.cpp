#define BOOST_TEST_MODULE plan
#include "collectives/plan.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "collectives/recursive_doubling/recursive_doubling_state.hpp"
#include "collectives/ring/ring_shape.hpp"
#include "config/staging_need.hpp"

using namespace troupe;
using namespace troupe::collectives;

namespace {

/// Thresholds of their own, so that the defaults may move.
constexpr tuning table{.all_reduce_halving_above_bytes = 64 * 1024,
                       .all_reduce_ring_above_bytes = 64 * 1024,
                       .all_gather_ring_above_bytes = 32 * 1024,
                       .reduce_scatter_ring_above_bytes = 32 * 1024,
                       .broadcast_chain_above_bytes = 256 * 1024,
                       .reduce_chain_above_bytes = 128 * 1024};

operation_signature signature_of(operation_kind kind, std::uint64_t count) {
  return {.kind = kind, .type = data_type::float32, .op = reduction::sum, .count = count};
}

/// One row of the choice table in docs/algorithms.md.
struct row {
  operation_kind kind;
  std::uint32_t ranks;
  std::uint64_t count;
  algorithm chosen;
  choice_reason reason;
  std::uint64_t bytes;
  std::uint64_t threshold_bytes;
};

plan_request request_of(operation_kind kind, std::uint32_t ranks, std::uint64_t count) {
  plan_request out{.signature = signature_of(kind, count), .size = ranks};
  out.lanes = lane_kind::tcp;
  if (kind == operation_kind::send || kind == operation_kind::receive) out.peer = rank{1};
  return out;
}

void check(const row& one) {
  const auto what = make_plan(request_of(one.kind, one.ranks, one.count), table);
  BOOST_REQUIRE(what.has_value());
  const operation_path expected{.algorithm = one.chosen,
                                .lanes = what->path.lanes,
                                .reason = one.reason,
                                .bytes = one.bytes,
                                .ranks = one.ranks,
                                .threshold_bytes = one.threshold_bytes};
  BOOST_TEST((what->path == expected), to_string(what->path)
                                           << " instead of " << to_string(expected));
}

errc error_of(const plan_request& request, const tuning& limits = table) {
  const auto what = make_plan(request, limits);
  return what ? errc::ok : what.error().code;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_single_rank_moves_nothing_or_copies) {
  check({operation_kind::all_reduce, 1, 10, algorithm::local_copy, choice_reason::single_rank, 40,
         0});
  check({operation_kind::broadcast, 1, 10, algorithm::none, choice_reason::single_rank, 40, 0});
  for (const operation_kind kind : {operation_kind::reduce, operation_kind::gather,
                                    operation_kind::scatter, operation_kind::all_to_all})
    check({kind, 1, 10, algorithm::local_copy, choice_reason::single_rank, 40, 0});
  check({operation_kind::all_to_all_v, 1, 0, algorithm::local_copy, choice_reason::single_rank, 0,
         0});
  check({operation_kind::barrier, 1, 0, algorithm::none, choice_reason::single_rank, 0, 0});
  for (const operation_kind kind :
       {operation_kind::all_reduce, operation_kind::reduce_scatter, operation_kind::reduce,
        operation_kind::all_to_all, operation_kind::gather})
    BOOST_TEST(make_plan(request_of(kind, 1, 1 << 20), table)->scratch_bytes == 0u, "no staging");
  plan_request in_place = request_of(operation_kind::all_reduce, 1, 10);
  in_place.in_place = true;
  BOOST_TEST((make_plan(in_place, table)->path.algorithm == algorithm::none));
  in_place.signature.op = reduction::premultiplied_sum;
  BOOST_TEST((make_plan(in_place, table)->path.algorithm == algorithm::local_copy));
}

BOOST_AUTO_TEST_CASE(zero_elements_move_nothing) {
  for (const operation_kind kind :
       {operation_kind::all_reduce, operation_kind::all_gather, operation_kind::reduce_scatter,
        operation_kind::broadcast, operation_kind::reduce, operation_kind::gather,
        operation_kind::scatter, operation_kind::all_to_all})
    check({kind, 4, 0, algorithm::none, choice_reason::nothing_to_move, 0, 0});
}

BOOST_AUTO_TEST_CASE(a_send_without_elements_is_a_message_all_the_same) {
  for (const operation_kind kind : {operation_kind::send, operation_kind::receive})
    check({kind, 4, 0, algorithm::point_to_point, choice_reason::only_algorithm, 0, 0});
}

BOOST_AUTO_TEST_CASE(bytes_up_to_the_threshold_take_the_algorithm_of_few_steps) {
  check({operation_kind::all_reduce, 4, 16 * 1024, algorithm::recursive_doubling,
         choice_reason::below_threshold, 64 * 1024, 64 * 1024});
  check({operation_kind::all_gather, 4, 2048, algorithm::direct, choice_reason::below_threshold,
         32 * 1024, 32 * 1024});
  check({operation_kind::reduce_scatter, 4, 2048, algorithm::direct, choice_reason::below_threshold,
         32 * 1024, 32 * 1024});
}

BOOST_AUTO_TEST_CASE(bytes_above_the_threshold_take_the_ring) {
  check({operation_kind::all_reduce, 4, 16 * 1024 + 1, algorithm::ring,
         choice_reason::above_threshold, 64 * 1024 + 4, 64 * 1024});
  check({operation_kind::all_gather, 4, 2049, algorithm::ring, choice_reason::above_threshold,
         32 * 1024 + 16, 32 * 1024});
  check({operation_kind::reduce_scatter, 4, 2049, algorithm::ring, choice_reason::above_threshold,
         32 * 1024 + 16, 32 * 1024});
}

BOOST_AUTO_TEST_CASE(fewer_elements_than_ranks_take_recursive_doubling_above_the_threshold) {
  check({operation_kind::all_reduce, 20'000, 19'999, algorithm::recursive_doubling,
         choice_reason::few_elements, 79'996, 64 * 1024});
  check({operation_kind::all_reduce, 20'000, 20'000, algorithm::ring,
         choice_reason::above_threshold, 80'000, 64 * 1024});
}

BOOST_AUTO_TEST_CASE(kinds_with_one_algorithm_take_it) {
  for (const operation_kind kind :
       {operation_kind::gather, operation_kind::scatter, operation_kind::all_to_all})
    check({kind, 4, 10, algorithm::direct, choice_reason::only_algorithm, 160, 0});
  check(
      {operation_kind::all_to_all_v, 4, 0, algorithm::direct, choice_reason::only_algorithm, 0, 0});
  check({operation_kind::barrier, 4, 0, algorithm::dissemination, choice_reason::only_algorithm, 0,
         0});
  check({operation_kind::send, 4, 10, algorithm::point_to_point, choice_reason::only_algorithm, 40,
         0});
  check({operation_kind::receive, 4, 10, algorithm::point_to_point, choice_reason::only_algorithm,
         40, 0});
}

BOOST_AUTO_TEST_CASE(between_two_thresholds_an_all_reduce_halves) {
  const tuning limits{.all_reduce_halving_above_bytes = 100, .all_reduce_ring_above_bytes = 400};
  const auto taken = [&](std::uint64_t count) {
    return make_plan(request_of(operation_kind::all_reduce, 4, count), limits)->path;
  };
  BOOST_TEST((taken(25).algorithm == algorithm::recursive_doubling));
  BOOST_TEST((taken(26).algorithm == algorithm::recursive_halving));
  BOOST_TEST((taken(26).reason == choice_reason::above_threshold));
  BOOST_TEST(taken(26).threshold_bytes == 100u);
  BOOST_TEST((taken(100).algorithm == algorithm::recursive_halving));
  BOOST_TEST((taken(101).algorithm == algorithm::ring));
  BOOST_TEST(taken(101).threshold_bytes == 400u);
}

BOOST_AUTO_TEST_CASE(trees_turn_into_chains_above_a_threshold_unless_there_are_too_many_ranks) {
  for (const operation_kind kind : {operation_kind::broadcast, operation_kind::reduce}) {
    const std::uint64_t limit = kind == operation_kind::reduce ? table.reduce_chain_above_bytes
                                                               : table.broadcast_chain_above_bytes;
    check({kind, 4, limit / 4, algorithm::binomial_tree, choice_reason::below_threshold, limit,
           limit});
    check({kind, 4, limit / 4 + 1, algorithm::chain, choice_reason::above_threshold, limit + 4,
           limit});
    check({kind, 5000, limit / 4 + 1, algorithm::binomial_tree, choice_reason::many_ranks,
           limit + 4, limit});
    check({kind, 5000, 1ull << 33, algorithm::chain, choice_reason::above_threshold, 1ull << 35,
           limit});
  }
}

BOOST_AUTO_TEST_CASE(a_small_all_gather_among_many_ranks_takes_few_steps) {
  const std::uint32_t limit = table.all_gather_bruck_above_ranks;
  check({operation_kind::all_gather, limit, 1, algorithm::direct, choice_reason::below_threshold,
         4ull * limit, 32 * 1024});
  check({operation_kind::all_gather, limit + 1, 1, algorithm::bruck, choice_reason::many_ranks,
         4ull * limit + 4, 32 * 1024});
}

BOOST_AUTO_TEST_CASE(a_transfer_to_oneself_needs_no_lane_and_no_second_rank) {
  for (const operation_kind kind : {operation_kind::send, operation_kind::receive}) {
    for (const std::uint32_t ranks : {1u, 4u}) {
      plan_request request = request_of(kind, ranks, 10);
      request.peer = request.self;
      const plan what = make_plan(request, table).value();
      BOOST_TEST((what.path.algorithm == algorithm::point_to_point));
      BOOST_TEST((what.path.lanes == lane_kind::none));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_requested_algorithm_is_taken_whatever_the_bytes) {
  plan_request request = request_of(operation_kind::all_reduce, 4, 1);
  request.requested = algorithm::ring;
  const operation_path small = make_plan(request, table)->path;
  BOOST_TEST((small.algorithm == algorithm::ring));
  BOOST_TEST((small.reason == choice_reason::requested_by_call));
  request.signature.count = 1'000'000;
  request.requested = algorithm::recursive_doubling;
  BOOST_TEST((make_plan(request, table)->path.algorithm == algorithm::recursive_doubling));
}

BOOST_AUTO_TEST_CASE(an_algorithm_that_the_kind_does_not_have_is_a_bad_argument) {
  plan_request request = request_of(operation_kind::all_reduce, 4, 100);
  for (const algorithm which : {algorithm::none, algorithm::local_copy, algorithm::direct,
                                algorithm::bruck, algorithm::dissemination}) {
    request.requested = which;
    BOOST_TEST((error_of(request) == errc::bad_argument));
  }
  request.size = 1;
  BOOST_TEST((error_of(request) == errc::bad_argument), "also for one rank");
}

BOOST_AUTO_TEST_CASE(a_split_has_no_plan_of_its_own) {
  BOOST_TEST((error_of(request_of(operation_kind::split, 4, 10)) == errc::not_available));
}

BOOST_AUTO_TEST_CASE(ranks_outside_the_communicator_are_bad_arguments) {
  plan_request request = request_of(operation_kind::send, 4, 10);
  request.peer = rank{4};
  BOOST_TEST((error_of(request) == errc::bad_argument));
  for (const operation_kind kind : {operation_kind::broadcast, operation_kind::reduce,
                                    operation_kind::gather, operation_kind::scatter}) {
    request = request_of(kind, 4, 10);
    request.signature.root = 4;
    BOOST_TEST((error_of(request) == errc::bad_argument));
  }
  request = request_of(operation_kind::barrier, 4, 0);
  request.self = rank{4};
  BOOST_TEST((error_of(request) == errc::bad_argument));
  request.self = rank{0};
  request.size = 0;
  BOOST_TEST((error_of(request) == errc::bad_argument));
  request.size = rank_count_max + 1;
  BOOST_TEST((error_of(request) == errc::bad_argument));
}

BOOST_AUTO_TEST_CASE(limits_and_values_out_of_range_are_bad_arguments) {
  plan_request request = request_of(operation_kind::all_reduce, 4, 100);
  BOOST_TEST((error_of(request, {.chunk_bytes = 0}) == errc::bad_argument));
  BOOST_TEST((error_of(request, {.pipeline_chunk_count = 0}) == errc::bad_argument));
  BOOST_TEST((error_of(request, {.pipeline_chunk_count = 17}) == errc::bad_argument));
  BOOST_TEST((error_of(request, {.pipeline_chunk_count = 16}) == errc::ok));
  request.signature.count = 1ull << 61;
  BOOST_TEST((error_of(request) == errc::bad_argument), "2^63 bytes");
  request = request_of(operation_kind::all_gather, 4, 1ull << 59);
  BOOST_TEST((error_of(request) == errc::bad_argument), "2^63 bytes over all ranks");
  request.signature.type = static_cast<data_type>(99);
  request.signature.count = 1;
  BOOST_TEST((error_of(request) == errc::bad_argument));
  request = request_of(operation_kind::all_reduce, 4, 1);
  request.signature.op = static_cast<reduction>(99);
  BOOST_TEST((error_of(request) == errc::bad_argument));
}

BOOST_AUTO_TEST_CASE(steps_fit_31_bits_however_large_the_buffer_and_small_the_chunk) {
  for (const std::uint32_t ranks : {2u, 3u, 100'000u, rank_count_max}) {
    for (const std::uint64_t count : {1ull << 31, 1ull << 33, (1ull << 40) + 7}) {
      for (const std::uint64_t chunk_bytes : {1ull, 7ull, 4096ull, 1ull << 20}) {
        plan_request request = request_of(operation_kind::all_reduce, ranks, count);
        const tuning limits{.chunk_bytes = chunk_bytes, .pipeline_chunk_count = 16};
        request.requested = algorithm::ring;
        const plan ring = make_plan(request, limits).value();
        BOOST_TEST(ring_shape_of(ring).piece_count() <= 1ull << 31);
        request.requested = algorithm::recursive_doubling;
        const recursive_doubling_shape shape =
            recursive_doubling_shape_of(make_plan(request, limits).value());
        BOOST_TEST(shape.segment_count * shape.phase_count() <= 1ull << 31);
        request.requested.reset();
        request.signature.kind = operation_kind::broadcast;
        const plan tree = make_plan(request, limits).value();
        BOOST_TEST(count * 4 / tree.chunk_bytes <= 1ull << 31);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(chunks_are_whole_elements_and_scratch_is_bounded_by_chunks_in_flight) {
  for (const data_type type : {data_type::int8, data_type::float16, data_type::float64}) {
    for (const std::uint64_t chunk_bytes : {1ull, 13ull, 1000ull, 1ull << 20}) {
      for (const std::uint32_t in_flight : {1u, 4u, 16u}) {
        for (const operation_kind kind : {operation_kind::all_reduce, operation_kind::all_gather,
                                          operation_kind::reduce_scatter}) {
          plan_request request = request_of(kind, 8, 1'000'003);
          request.signature.type = type;
          const plan what =
              make_plan(request, {.chunk_bytes = chunk_bytes, .pipeline_chunk_count = in_flight})
                  .value();
          BOOST_TEST(what.chunk_bytes % size_of(type) == 0u);
          BOOST_TEST(what.chunk_bytes <= std::max<std::uint64_t>(chunk_bytes, size_of(type)));
          // Recursive halving among 8 keeps up to 3 elements beside its chunks.
          const std::uint64_t beside = 2 * 3 * size_of(type);
          BOOST_TEST(2 * what.scratch_bytes <= (3 * in_flight + 1) * what.chunk_bytes + beside);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_ring_cuts_its_blocks_for_overlap_but_not_below_the_smallest_chunk) {
  const std::uint64_t block_count = 128 * 1024;  // 512 KiB in four blocks of one MiB all together
  const plan medium =
      make_plan(request_of(operation_kind::all_reduce, 4, 4 * block_count), table).value();
  BOOST_TEST(medium.chunk_bytes == 4 * block_count / table.pipeline_chunk_count);
  const plan small =
      make_plan(request_of(operation_kind::all_reduce, 4, 4 * 20'000), table).value();
  BOOST_TEST(small.chunk_bytes == ring_chunk_bytes_min);
  const plan large =
      make_plan(request_of(operation_kind::all_reduce, 4, 1ull << 33), table).value();
  BOOST_TEST(large.chunk_bytes == table.chunk_bytes);
}

BOOST_AUTO_TEST_CASE(the_path_does_not_depend_on_the_rank) {
  for (const std::uint64_t count : {1, 1000, 100'000}) {
    plan_request request = request_of(operation_kind::all_reduce, 7, count);
    const operation_path first = make_plan(request, table)->path;
    request.self = rank{6};
    request.in_place = true;
    BOOST_TEST((make_plan(request, table)->path == first));
  }
}

BOOST_AUTO_TEST_CASE(the_staging_that_the_configuration_asks_for_is_what_the_hungriest_plan_takes) {
  struct row {
    operation_kind kind;
    algorithm which;
  };
  constexpr std::array rows{row{operation_kind::all_reduce, algorithm::ring},
                            row{operation_kind::all_reduce, algorithm::recursive_doubling},
                            row{operation_kind::all_reduce, algorithm::recursive_halving},
                            row{operation_kind::all_reduce, algorithm::binomial_tree},
                            row{operation_kind::reduce_scatter, algorithm::ring},
                            row{operation_kind::reduce_scatter, algorithm::direct},
                            row{operation_kind::reduce, algorithm::binomial_tree},
                            row{operation_kind::reduce, algorithm::chain}};
  for (const std::uint64_t chunk_bytes : {64ull, 4096ull, 65536ull, 65600ull, 1ull << 20}) {
    for (std::uint32_t in_flight = 1; in_flight <= 16; ++in_flight) {
      const tuning limits{.chunk_bytes = chunk_bytes, .pipeline_chunk_count = in_flight};
      std::uint64_t most = 0;
      for (const row& one : rows) {
        for (std::uint64_t count = 1000; count < 100'000'000; count *= 4) {
          plan_request request = request_of(one.kind, 8, count);
          request.signature.op = reduction::premultiplied_sum;
          request.requested = one.which;
          most = std::max(most, make_plan(request, limits)->scratch_bytes);
        }
      }
      const std::uint64_t asked = config::staging_bytes_max(
          {.chunk_bytes = chunk_bytes, .pipeline_chunk_count = in_flight});
      BOOST_TEST_CONTEXT(chunk_bytes << " bytes, " << in_flight << " in flight") {
        BOOST_TEST(asked == std::bit_ceil(most));
      }
    }
  }
}
