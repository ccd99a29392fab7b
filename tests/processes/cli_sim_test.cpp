#define BOOST_TEST_MODULE cli_sim
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <iterator>

#include "tests/processes/cli_process.hpp"

using namespace troupe::tests;

namespace {

using words = std::vector<std::string>;

/// The value of a line "name   value".
std::string fact(const std::string& name, const std::string& text) {
  for (const std::string& line : sorted_lines(text))
    if (line.starts_with(name + " ")) return line.substr(line.find_first_not_of(' ', name.size()));
  return "no line '" + name + "' in: " + text;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_simulated_all_reduce_says_what_it_did_and_repeats_itself) {
  const auto run = run_cli(words{"sim", "all_reduce", "-n", "32", "--count", "1024", "--twice"});
  BOOST_CHECK_MESSAGE(run.exit_code == 0, run.out << run.error);
  BOOST_CHECK_EQUAL(fact("wrong elements", run.out), "0");
  BOOST_CHECK_EQUAL(fact("second trace hash", run.out), fact("trace hash", run.out) + ", the same");
  BOOST_CHECK_EQUAL(fact("trace hash", run.out).size(), 16u);
  BOOST_CHECK(fact("largest fan-in", run.out).ends_with(" connections"));
  BOOST_CHECK_EQUAL(run.error, "");
}

BOOST_AUTO_TEST_CASE(another_seed_gives_another_trace) {
  const auto hash_of_seed = [](const char* seed) {
    return fact("trace hash", run_cli(words{"sim", "all_reduce", "-n", "16", "--seed", seed}).out);
  };
  BOOST_CHECK_NE(hash_of_seed("1"), hash_of_seed("2"));
  BOOST_CHECK_EQUAL(hash_of_seed("1"), hash_of_seed("1"));
}

BOOST_AUTO_TEST_CASE(virtual_time_grows_with_latency) {
  const auto run = [](const char* latency) {
    const std::string path = "cli_sim_test." + std::to_string(::getpid()) + ".json";
    run_cli(words{"sim", "all_reduce", "-n", "8", "--count", "1", "--latency", latency, "--json",
                  path});
    std::ifstream file(path);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    ::unlink(path.c_str());
    const std::string name = "\"operations_us\": ";
    BOOST_REQUIRE_MESSAGE(text.find(name) != std::string::npos, text);
    return std::stod(text.substr(text.find(name) + name.size()));
  };
  // Recursive doubling among eight ranks: three messages one after the other.
  BOOST_CHECK_GE(run("1ms"), 3000);
  BOOST_CHECK_LT(run("1us"), 1000);
}

BOOST_AUTO_TEST_CASE(the_wanted_algorithm_is_the_path) {
  const auto run =
      run_cli(words{"sim", "all_reduce", "-n", "8", "--bytes", "4K", "--algorithm", "ring"});
  BOOST_CHECK_EQUAL(run.exit_code, 0);
  BOOST_CHECK(fact("path", run.out).starts_with("ring over fabric: requested_by_call"));
}
