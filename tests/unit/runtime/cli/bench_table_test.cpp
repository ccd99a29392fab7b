#define BOOST_TEST_MODULE bench_table
#include "runtime/cli/bench_table.hpp"

#include <boost/test/unit_test.hpp>
#include <sstream>

using namespace troupe;
using namespace troupe::cli;

namespace {

bench_heading heading_of(bench_kind kind) {
  bench_heading heading;
  heading.kind = kind;
  heading.rank_count = 4;
  heading.lanes = "tcp";
  return heading;
}

bench_row row_of(double time_us, std::uint64_t wrong) {
  const bench_shape shape{256, 1024, 1024};
  bench_row row{shape, measure_of(bench_kind::all_reduce, shape, 4, time_us),
                measure_of(bench_kind::all_reduce, shape, 4, 2 * time_us)};
  row.out_of_place->wrong = wrong;
  row.in_place->wrong = 0;
  return row;
}

}  // namespace

BOOST_AUTO_TEST_CASE(numbers_lose_digits_as_the_width_runs_out) {
  BOOST_CHECK_EQUAL(fit_number(12.345, 7), "  12.35");
  BOOST_CHECK_EQUAL(fit_number(1234.567, 7), "1234.57");
  BOOST_CHECK_EQUAL(fit_number(12345.67, 7), "12345.7");
  BOOST_CHECK_EQUAL(fit_number(123456.7, 7), " 123457");
  BOOST_CHECK_EQUAL(fit_number(1234567.8, 7), "1234568");
  BOOST_CHECK_EQUAL(fit_number(12345678.9, 7), "  1e+07");
  BOOST_CHECK_EQUAL(fit_number(0, 6), "  0.00");
  BOOST_CHECK_EQUAL(fit_number(999.999, 6), "1000.0");
}

BOOST_AUTO_TEST_CASE(a_row_has_the_columns_of_nccl_tests) {
  // 1024 bytes in 12.34 us: 0.083 GB/s, times 1.5 on the bus.
  BOOST_CHECK_EQUAL(table_row(heading_of(bench_kind::all_reduce), row_of(12.34, 0)),
                    "        1024           256     float     sum      -1"
                    "    12.34    0.08    0.12       0    24.68    0.04    0.06       0\n");
}

BOOST_AUTO_TEST_CASE(what_was_not_measured_or_not_checked_is_not_available) {
  bench_row row = row_of(12.34, 0);
  row.in_place.reset();
  row.out_of_place->wrong.reset();
  BOOST_CHECK_EQUAL(table_row(heading_of(bench_kind::broadcast), row),
                    "        1024           256     float    none       0"
                    "    12.34    0.08    0.12     N/A      N/A     N/A     N/A     N/A\n");
}

BOOST_AUTO_TEST_CASE(the_heading_has_the_lines_of_nccl_tests) {
  std::istringstream text(
      table_heading(heading_of(bench_kind::all_reduce), {{1234, "host"}, {1235, "host"}}));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);)
    lines.push_back(line);
  BOOST_REQUIRE_EQUAL(lines.size(), 11u);
  BOOST_CHECK_EQUAL(lines[1], "# Collective test starting: all_reduce_perf");
  BOOST_CHECK_EQUAL(lines[2],
                    "# nThread 1 nGpus 1 minBytes 8 maxBytes 134217728 step: 2(factor) warmup "
                    "iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0 unalign: 0");
  BOOST_CHECK_EQUAL(lines[3], "#");
  BOOST_CHECK_EQUAL(lines[4], "# Using devices");
  BOOST_CHECK_EQUAL(lines[5],
                    "#  Rank  0 Group  0 Pid   1234 on       host device  0 [0000:00:00] CPU");
  BOOST_CHECK_EQUAL(lines[7], "#");
  BOOST_CHECK_EQUAL(lines[8],
                    "#                                                              out-of-place"
                    "                       in-place");
  BOOST_CHECK_EQUAL(lines[9],
                    "#       size         count      type   redop    root     time   algbw   "
                    "busbw  #wrong     time   algbw   busbw  #wrong");
  BOOST_CHECK_EQUAL(lines[10],
                    "#        (B)    (elements)                               (us)  (GB/s)  "
                    "(GB/s)             (us)  (GB/s)  (GB/s)        ");
}

BOOST_AUTO_TEST_CASE(the_end_counts_halves_with_wrong_elements_and_averages_the_bus) {
  const bench_heading heading = heading_of(bench_kind::all_reduce);
  const std::vector<bench_row> good{row_of(1.536, 0), row_of(1.536, 0)};
  BOOST_CHECK_EQUAL(out_of_bounds_count(good), 0u);
  BOOST_CHECK_EQUAL(table_end(heading, good),
                    "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 0.75\n#\n"
                    "# Collective test concluded: all_reduce_perf\n");
  const std::vector<bench_row> bad{row_of(1.536, 3), row_of(1.536, 1)};
  BOOST_CHECK_EQUAL(out_of_bounds_count(bad), 2u);
  BOOST_CHECK(table_end(heading, bad).starts_with("# Out of bounds values : 2 FAILED\n"));
}

BOOST_AUTO_TEST_CASE(json_has_an_object_for_every_half) {
  bench_row row = row_of(10, 0);
  row.out_of_place->p50_us = 9.5;
  row.in_place.reset();
  BOOST_CHECK_EQUAL(
      table_json(heading_of(bench_kind::all_reduce), {row}),
      "[\n  {\"library\": \"troupe\", \"lanes\": \"tcp\", \"operation\": \"all_reduce\", \"type\": "
      "\"float32\", \"algorithm\": \"none\", \"op\": \"sum\", \"ranks\": 4, \"bytes\": 1024, "
      "\"count\": 256, \"in_place\": "
      "false, \"time_us\": 10.000, \"p50_us\": 9.500, \"algbw_gbs\": 0.102400, \"busbw_gbs\": "
      "0.153600, \"wrong\": 0}\n]\n");
}
