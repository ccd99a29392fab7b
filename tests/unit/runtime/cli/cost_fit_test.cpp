#define BOOST_TEST_MODULE cost_fit
#include "runtime/cli/cost_fit.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>

using namespace troupe;
using namespace troupe::cli;

namespace {

/// Samples of the model itself, each off by the next of `errors`.
std::vector<cost_sample> samples_with(const std::string& lanes, double step_us, double bytes_per_us,
                                      const std::vector<double>& errors) {
  std::vector<cost_sample> out;
  std::size_t i = 0;
  for (const double bytes : {8.0, 1024.0, 65536.0, 1048576.0, 33554432.0}) {
    for (const std::uint32_t ranks : {2u, 4u, 8u}) {
      const auto terms = terms_of(bench_kind::all_reduce, algorithm::ring, ranks, bytes).value();
      const double time = step_us * terms.steps + terms.bytes / bytes_per_us;
      out.push_back({lanes, terms, time * (1 + errors[i++ % errors.size()])});
    }
  }
  return out;
}

json_row row_of(const char* operation, const char* which, double ranks, double bytes, double time) {
  json_row row;
  row.set("lanes", std::string("tcp"));
  row.set("operation", std::string(operation));
  row.set("algorithm", std::string(which));
  row.set("ranks", ranks);
  row.set("bytes", bytes);
  row.set("p50_us", time);
  return row;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_model_without_errors_is_found_exactly) {
  const auto fits = fit_costs(samples_with("tcp", 12.5, 1800, {0}));
  BOOST_REQUIRE(fits.has_value());
  BOOST_REQUIRE_EQUAL(fits->size(), 1u);
  BOOST_CHECK_CLOSE(fits->front().step_us, 12.5, 1e-6);
  BOOST_CHECK_CLOSE(fits->front().bytes_per_us, 1800, 1e-6);
  BOOST_CHECK_SMALL(fits->front().rms_error, 1e-9);
  BOOST_TEST(fits->front().sample_count == 15u);
}

BOOST_AUTO_TEST_CASE(small_and_large_calls_weigh_the_same) {
  // 10 % up and down in turn: both numbers stay close, and the residuals say how far off rows are.
  const auto fits = fit_costs(samples_with("tcp", 10, 2000, {0.1, -0.1, 0.1, -0.1}));
  BOOST_REQUIRE(fits.has_value());
  BOOST_CHECK_CLOSE(fits->front().step_us, 10, 5);
  BOOST_CHECK_CLOSE(fits->front().bytes_per_us, 2000, 5);
  BOOST_CHECK_CLOSE(fits->front().rms_error, 0.1, 15);
  BOOST_TEST(std::abs(fits->front().largest_error) < 0.16);
}

BOOST_AUTO_TEST_CASE(lane_kinds_are_fitted_apart) {
  auto samples = samples_with("tcp", 10, 1000, {0});
  const auto others = samples_with("shm", 1, 9000, {0});
  samples.insert(samples.end(), others.begin(), others.end());
  const auto fits = fit_costs(samples).value();
  BOOST_REQUIRE_EQUAL(fits.size(), 2u);
  BOOST_TEST(fits[0].lanes == "shm");
  BOOST_CHECK_CLOSE(fits[0].step_us, 1, 1e-6);
  BOOST_CHECK_CLOSE(fits[1].bytes_per_us, 1000, 1e-6);
  const std::string text = describe_fits(fits);
  BOOST_TEST(text.find("shm             1.000       9.0000     15") != std::string::npos, text);
  BOOST_TEST(fits_json(fits).find("{\"lanes\": \"tcp\", \"step_us\": 10.000000, \"bandwidth_gbs\": "
                                  "1.000000, \"rows\": 15") != std::string::npos,
             fits_json(fits));
  BOOST_TEST(parse_json_rows(fits_json(fits))->size() == 2u);
}

BOOST_AUTO_TEST_CASE(neither_number_falls_below_zero) {
  // Larger is faster: no bandwidth explains it.
  const auto terms = [](double bytes) {
    return terms_of(bench_kind::sendrecv, algorithm::point_to_point, 2, bytes).value();
  };
  const auto flat = fit_costs({{"tcp", terms(8), 20}, {"tcp", terms(1 << 20), 10}}).value();
  BOOST_TEST(flat[0].step_us > 0);
  BOOST_TEST(std::isinf(flat[0].bytes_per_us));
  BOOST_TEST(fits_json(flat).find("\"bandwidth_gbs\": null") != std::string::npos);
  const auto steep = fit_costs({{"tcp", terms(1000), 0.1}, {"tcp", terms(100000), 100}}).value();
  BOOST_TEST(steep[0].step_us == 0);
  BOOST_TEST(steep[0].bytes_per_us > 0);
}

BOOST_AUTO_TEST_CASE(rows_that_cannot_tell_the_two_numbers_apart_are_refused) {
  const auto terms = terms_of(bench_kind::all_reduce, algorithm::ring, 4, 1024).value();
  const auto fits = fit_costs({{"tcp", terms, 10}, {"tcp", terms, 11}});
  BOOST_REQUIRE(!fits.has_value());
  BOOST_TEST(fits.error().message.find("measure at least two sizes") != std::string::npos);
  BOOST_TEST(!fit_costs({}).has_value());
}

BOOST_AUTO_TEST_CASE(terms_are_those_of_the_page_of_algorithms) {
  const auto check = [](bench_kind kind, algorithm which, std::uint32_t ranks, double steps,
                        double bytes) {
    const auto terms = terms_of(kind, which, ranks, 1024).value();
    BOOST_CHECK_CLOSE(terms.steps, steps, 1e-9);
    BOOST_CHECK_CLOSE(terms.bytes + 1, bytes + 1, 1e-9);
  };
  check(bench_kind::all_reduce, algorithm::ring, 4, 6, 1536);
  check(bench_kind::all_reduce, algorithm::recursive_doubling, 8, 3, 3072);
  check(bench_kind::all_reduce, algorithm::recursive_doubling, 5, 4, 4096);
  check(bench_kind::all_reduce, algorithm::recursive_halving, 4, 4, 1536);
  check(bench_kind::all_reduce, algorithm::recursive_halving, 6, 6, 1536 + 2048);
  check(bench_kind::all_gather, algorithm::ring, 4, 3, 768);
  check(bench_kind::all_gather, algorithm::bruck, 6, 3, 1024 * 5 / 6.0);
  check(bench_kind::all_gather, algorithm::binary_tree, 7, 4, 2048);
  check(bench_kind::all_gather, algorithm::binary_tree, 2, 2, 1024);
  check(bench_kind::broadcast, algorithm::binomial_tree, 6, 3, 3072);
  check(bench_kind::reduce, algorithm::chain, 4, 3, 3072);
  check(bench_kind::all_to_all, algorithm::direct, 4, 3, 768);
  check(bench_kind::barrier, algorithm::dissemination, 5, 3, 0);
  BOOST_TEST(!terms_of(bench_kind::gather, algorithm::ring, 4, 1).has_value());
}

BOOST_AUTO_TEST_CASE(rows_become_samples_and_bad_ones_are_named) {
  const auto samples = samples_of({row_of("all_reduce", "ring", 4, 1024, 50),
                                   row_of("all_reduce", "local_copy", 1, 1024, 5),
                                   row_of("barrier", "dissemination", 4, 0, 9)});
  BOOST_REQUIRE(samples.has_value());
  BOOST_REQUIRE_EQUAL(samples->size(), 2u);
  BOOST_TEST(samples->front().terms.steps == 6);
  BOOST_TEST(samples->front().time_us == 50);
  const auto wrong = samples_of(
      {row_of("all_reduce", "ring", 4, 1024, 50), row_of("all_reduce", "spiral", 4, 1024, 50)});
  BOOST_REQUIRE(!wrong.has_value());
  BOOST_TEST(wrong.error().message.find("row 2: algorithm 'spiral' is unknown") == 0u,
             wrong.error().message);
  const auto unfit = samples_of({row_of("gather", "ring", 4, 1024, 50)});
  BOOST_TEST(unfit.error().message == "row 1: gather has no algorithm ring");
  BOOST_TEST(!samples_of({json_row{}}).has_value());
}
