#define BOOST_TEST_MODULE bench_shape
#include "runtime/cli/bench_shape.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::cli;

BOOST_AUTO_TEST_CASE(names_are_ours_or_those_of_nccl_tests) {
  BOOST_CHECK(parse_data_type("float32").value() == data_type::float32);
  BOOST_CHECK(parse_data_type("float").value() == data_type::float32);
  BOOST_CHECK(parse_data_type("half").value() == data_type::float16);
  BOOST_CHECK(parse_reduction("average").value() == reduction::average);
  BOOST_CHECK(parse_reduction("prod").value() == reduction::product);
  for (std::size_t i = 0; i < data_type_count; ++i) {
    const auto type = static_cast<data_type>(i);
    BOOST_CHECK(parse_data_type(to_string(type)).value() == type);
    BOOST_CHECK(parse_data_type(table_name(type)).value() == type);
  }
}

BOOST_AUTO_TEST_CASE(what_is_not_built_is_told_from_what_does_not_exist) {
  BOOST_CHECK(parse_bench_kind("sendrecv").value() == bench_kind::sendrecv);
  BOOST_CHECK(parse_bench_kind("alltoall").value() == bench_kind::all_to_all);
  BOOST_CHECK(parse_bench_kind("hypercube").error().code() == errc::not_available);
  BOOST_CHECK(parse_bench_kind("all_reduse").error().code() == errc::bad_argument);
}

BOOST_AUTO_TEST_CASE(the_size_is_the_larger_buffer_as_nccl_tests_has_it) {
  const auto reduce = shape_of(bench_kind::all_reduce, data_type::float32, 4, 1024);
  BOOST_CHECK_EQUAL(reduce.count, 256u);
  BOOST_CHECK_EQUAL(reduce.bytes(), 1024u);
  const auto gather = shape_of(bench_kind::all_gather, data_type::float32, 4, 1024);
  BOOST_CHECK_EQUAL(gather.count, 64u);
  BOOST_CHECK_EQUAL(gather.send_bytes, 256u);
  BOOST_CHECK_EQUAL(gather.receive_bytes, 1024u);
  const auto scatter = shape_of(bench_kind::reduce_scatter, data_type::float64, 4, 1024);
  BOOST_CHECK_EQUAL(scatter.count, 32u);
  BOOST_CHECK_EQUAL(scatter.send_bytes, 1024u);
  BOOST_CHECK_EQUAL(scatter.receive_bytes, 256u);
  const auto exchange = shape_of(bench_kind::all_to_all, data_type::float64, 4, 1024);
  BOOST_CHECK_EQUAL(exchange.count, 32u);
  BOOST_CHECK_EQUAL(exchange.send_bytes, 1024u);
  BOOST_CHECK_EQUAL(exchange.receive_bytes, 1024u);
  const auto rooted = shape_of(bench_kind::gather, data_type::float32, 4, 1024);
  BOOST_CHECK_EQUAL(rooted.send_bytes, 256u);
  BOOST_CHECK_EQUAL(rooted.receive_bytes, 1024u);
}

BOOST_AUTO_TEST_CASE(bus_factors_are_those_of_nccl_tests) {
  BOOST_CHECK_CLOSE(bus_factor(bench_kind::all_reduce, 4), 1.5, 1e-9);
  BOOST_CHECK_CLOSE(bus_factor(bench_kind::all_gather, 4), 0.75, 1e-9);
  BOOST_CHECK_CLOSE(bus_factor(bench_kind::reduce_scatter, 4), 0.75, 1e-9);
  BOOST_CHECK_CLOSE(bus_factor(bench_kind::broadcast, 4), 1, 1e-9);
  BOOST_CHECK_CLOSE(bus_factor(bench_kind::reduce, 4), 1, 1e-9);
  BOOST_CHECK_CLOSE(bus_factor(bench_kind::all_to_all, 4), 0.75, 1e-9);
  BOOST_CHECK_SMALL(bus_factor(bench_kind::all_reduce, 1), 1e-9);
}

BOOST_AUTO_TEST_CASE(sizes_grow_by_factor_or_step_up_to_and_with_the_last) {
  const auto bytes = [](const size_range& range) {
    std::vector<std::uint64_t> all;
    const auto shapes = shapes_of(bench_kind::all_reduce, data_type::float32, 2, range);
    for (const bench_shape& shape : shapes.value())
      all.push_back(shape.bytes());
    return all;
  };
  using sizes = std::vector<std::uint64_t>;
  BOOST_CHECK((bytes({8, 64, 2, 0}) == sizes{8, 16, 32, 64}));
  BOOST_CHECK((bytes({1024, 4096, 2, 1024}) == sizes{1024, 2048, 3072, 4096}));
  BOOST_CHECK((bytes({64, 64, 2, 0}) == sizes{64}));
  BOOST_CHECK_EQUAL(bytes({8, 128u << 20, 2, 0}).size(), 25u);
}

BOOST_AUTO_TEST_CASE(sizes_below_one_element_for_each_rank_make_one_row) {
  const auto shapes =
      shapes_of(bench_kind::all_gather, data_type::float32, 8, {1, 64, 2, 0}).value();
  BOOST_REQUIRE_EQUAL(shapes.size(), 2u);
  BOOST_CHECK_EQUAL(shapes[0].bytes(), 32u);
  BOOST_CHECK_EQUAL(shapes[1].bytes(), 64u);
  BOOST_CHECK_EQUAL(shapes_of(bench_kind::barrier, data_type::int8, 8, {}).value().size(), 1u);
}

BOOST_AUTO_TEST_CASE(a_range_that_is_empty_does_not_grow_or_never_ends_is_refused) {
  BOOST_CHECK(!shapes_of(bench_kind::all_reduce, data_type::int8, 2, {64, 8, 2, 0}));
  BOOST_CHECK(!shapes_of(bench_kind::all_reduce, data_type::int8, 2, {8, 64, 1, 0}));
  BOOST_CHECK(!shapes_of(bench_kind::all_reduce, data_type::int8, 2, {8, 1u << 30, 2, 1}));
}
