#define BOOST_TEST_MODULE cli_bench
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <iterator>
#include <sstream>

#include "tests/processes/cli_process.hpp"

using namespace troupe::tests;

namespace {

using words = std::vector<std::string>;

/// A short run of `troupe bench`.
cli_result bench(const std::string& collective, words more) {
  words arguments{"bench", collective, "--iterations", "2", "--warmup", "1", "--timeout", "60"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_cli(arguments);
}

/// The columns of every row of the table.
std::vector<words> rows_of(const std::string& table) {
  std::vector<words> rows;
  std::istringstream text(table);
  for (std::string line; std::getline(text, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream columns(line);
    rows.emplace_back(std::istream_iterator<std::string>(columns),
                      std::istream_iterator<std::string>());
  }
  return rows;
}

/// A run that went well, whose table has `row_count` rows and no wrong element.
std::vector<words> check_good(const cli_result& run, std::size_t row_count) {
  BOOST_CHECK_MESSAGE(run.exit_code == 0, run.out << run.error);
  BOOST_CHECK_EQUAL(count_of("# Out of bounds values : 0 OK\n", run.out), 1);
  const auto rows = rows_of(run.out);
  BOOST_REQUIRE_EQUAL(rows.size(), row_count);
  for (const words& row : rows) {
    BOOST_REQUIRE_EQUAL(row.size(), 13u);
    for (const std::size_t column : {8u, 12u})
      BOOST_CHECK_MESSAGE(row[column] == "0" || row[column] == "N/A", run.out);
  }
  return rows;
}

}  // namespace

BOOST_AUTO_TEST_CASE(all_reduce_prints_a_checked_row_for_every_size) {
  const auto run = bench("all_reduce", {"-n", "2", "-b", "8", "-e", "512K", "-f", "16"});
  const auto rows = check_good(run, 5);
  const words sizes{"8", "128", "2048", "32768", "524288"};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    BOOST_CHECK_EQUAL(rows[i][0], sizes[i]);
    BOOST_CHECK_EQUAL(rows[i][2] + rows[i][3] + rows[i][4], "floatsum-1");
  }
  BOOST_CHECK_EQUAL(count_of("#  Rank ", run.out), 2);
  BOOST_CHECK_EQUAL(run.error, "");
}

BOOST_AUTO_TEST_CASE(every_collective_is_checked) {
  for (const char* collective : {"all_gather", "reduce_scatter", "broadcast", "reduce", "gather",
                                 "scatter", "all_to_all", "all_to_all_v", "sendrecv"})
    check_good(bench(collective, {"-n", "3", "-b", "3K", "-e", "192K", "-f", "64"}), 2);
  const auto rows = check_good(bench("barrier", {"-n", "3"}), 1);
  BOOST_CHECK_EQUAL(rows[0][8], "N/A");
}

BOOST_AUTO_TEST_CASE(every_operator_is_exact) {
  for (const char* op : {"product", "minimum", "maximum", "average", "premultiplied_sum"})
    check_good(bench("all_reduce", {"-n", "3", "-b", "4K", "-e", "4K", "--op", op}), 1);
}

BOOST_AUTO_TEST_CASE(every_width_of_type_is_exact) {
  for (const char* type : {"int8", "bfloat16", "float16", "float64", "float8_e4m3", "uint64"})
    check_good(bench("all_reduce", {"-n", "2", "-b", "4K", "-e", "4K", "--type", type}), 1);
}

BOOST_AUTO_TEST_CASE(one_half_can_be_left_out_and_so_can_the_check) {
  const auto rows = check_good(
      bench("all_reduce", {"-n", "2", "-b", "1K", "-e", "1K", "--in-place", "out", "--no-check"}),
      1);
  BOOST_CHECK_EQUAL(rows[0][8], "N/A");
  BOOST_CHECK_NE(rows[0][5], "N/A");
  BOOST_CHECK_EQUAL(rows[0][9], "N/A");
}

BOOST_AUTO_TEST_CASE(json_has_the_rows_of_the_table) {
  const std::string path = "cli_bench_test." + std::to_string(::getpid()) + ".json";
  check_good(bench("all_reduce",
                   {"-n", "2", "-b", "8", "-e", "64", "-f", "8", "--lanes", "tcp", "--json", path}),
             2);
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  ::unlink(path.c_str());
  BOOST_CHECK_EQUAL(count_of("\"library\": \"troupe\", \"lanes\": \"tcp\"", text), 4);
  BOOST_CHECK_EQUAL(count_of("\"in_place\": true", text), 2);
  BOOST_CHECK_EQUAL(count_of("\"wrong\": 0}", text), 4);
}

BOOST_AUTO_TEST_CASE(the_table_says_which_lanes_were_used) {
  const auto heading_of = [](const words& options) {
    words all{"-n", "2", "-b", "1M", "-e", "1M"};
    all.insert(all.end(), options.begin(), options.end());
    const auto run = bench("all_reduce", all);
    check_good(run, 1);
    BOOST_CHECK_EQUAL(run.error, "");
    const auto first = run.out.substr(0, run.out.find('\n'));
    return first.substr(first.find("lanes="));
  };
  BOOST_CHECK_EQUAL(heading_of({}), "lanes=shm");
  BOOST_CHECK_EQUAL(heading_of({"--lanes", "auto"}), "lanes=shm");
  BOOST_CHECK_EQUAL(heading_of({"--lanes", "shm"}), "lanes=shm");
  BOOST_CHECK_EQUAL(heading_of({"--lanes", "tcp"}), "lanes=tcp");
}

BOOST_AUTO_TEST_CASE(inside_a_job_it_is_a_rank_of_it) {
  const auto run = run_cli(words{"launch", "-n", "2", "--no-tag", "--", TROUPE_PROGRAM, "bench",
                                 "all_reduce", "-b", "1K", "-e", "1K", "--iterations", "2"});
  check_good(run, 1);
}

BOOST_AUTO_TEST_CASE(a_root_that_is_no_rank_is_refused_by_every_rank) {
  const auto run = bench("broadcast", {"-n", "2", "-b", "1K", "-e", "1K", "--root", "2"});
  BOOST_CHECK_EQUAL(run.exit_code, 2);
  BOOST_CHECK_EQUAL(count_of("--root 2 is no rank; there are 0 to 1", run.error), 2);
}
