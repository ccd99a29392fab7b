#define BOOST_TEST_MODULE launch_environment
#include "config/launch_environment.hpp"

#include <boost/test/unit_test.hpp>

#include <initializer_list>

namespace troupe::config {
namespace {

const environment_variables torchrun{{"RANK", "3"},
                                     {"WORLD_SIZE", "8"},
                                     {"LOCAL_RANK", "1"},
                                     {"LOCAL_WORLD_SIZE", "2"},
                                     {"MASTER_ADDR", "head"},
                                     {"MASTER_PORT", "4711"},
                                     {"TORCHELASTIC_RUN_ID", "job-7"}};
const environment_variables slurm{{"SLURM_PROCID", "5"},
                                  {"SLURM_NTASKS", "7"},
                                  {"SLURM_LOCALID", "1"},
                                  {"SLURM_NODEID", "2"},
                                  {"SLURM_TASKS_PER_NODE", "2(x3),1"},
                                  {"SLURM_JOB_ID", "1234"},
                                  {"SLURM_JOB_NODELIST", "node[003-005,9]"}};
const environment_variables open_mpi{
    {"OMPI_COMM_WORLD_RANK", "1"},       {"OMPI_COMM_WORLD_SIZE", "4"},
    {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
    {"MASTER_ADDR", "10.0.0.1"},         {"MASTER_PORT", "4711"}};

environment_variables with(environment_variables base,
                           std::initializer_list<std::pair<std::string, std::string>> changes) {
  for (const auto& [name, text] : changes)
    base[name] = text;
  return base;
}

environment_variables without(environment_variables base, std::string_view name) {
  base.erase(std::string(name));
  return base;
}

launch_environment found(const environment_variables& variables,
                         const launch_overrides& overrides = {}) {
  auto result = find_launch_environment(overrides, variables);
  BOOST_REQUIRE_MESSAGE(result.has_value(), (result ? "" : result.error().message));
  return *result;
}

std::string problem_of(const environment_variables& variables,
                       const launch_overrides& overrides = {}) {
  const auto result = find_launch_environment(overrides, variables);
  BOOST_REQUIRE(!result.has_value());
  BOOST_TEST((result.error().code() == errc::bad_configuration));
  return result.error().message;
}

void expect(const std::string& message, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts)
    BOOST_TEST(message.find(part) != std::string::npos, '"' << part << "\" in: " << message);
}

BOOST_AUTO_TEST_CASE(torchrun_says_everything) {
  const launch_environment e = found(torchrun);
  BOOST_TEST((e.from == launcher::torchrun));
  BOOST_TEST(to_index(e.rank) == 3u);
  BOOST_TEST(e.world_size == 8u);
  BOOST_TEST(e.local_rank.value() == 1u);
  BOOST_TEST(e.local_size.value() == 2u);
  BOOST_TEST((e.rendezvous == host_port{"head", 4711}));
  BOOST_TEST(e.job_id == "job-7");
}

BOOST_AUTO_TEST_CASE(slurm_names_the_first_host_and_the_documented_port) {
  const launch_environment e = found(slurm);
  BOOST_TEST((e.from == launcher::slurm));
  BOOST_TEST(to_index(e.rank) == 5u);
  BOOST_TEST(e.world_size == 7u);
  BOOST_TEST(e.local_rank.value() == 1u);
  BOOST_TEST(e.local_size.value() == 2u);
  BOOST_TEST((e.rendezvous == host_port{"node003", 29500}));
  BOOST_TEST(e.job_id == "1234");
}

BOOST_AUTO_TEST_CASE(a_slurm_step_goes_before_its_job) {
  const launch_environment e = found(with(slurm, {{"SLURM_STEP_NODELIST", "other7"},
                                                  {"SLURM_STEP_NUM_TASKS", "6"},
                                                  {"SLURM_STEP_TASKS_PER_NODE", "2(x3)"}}));
  BOOST_TEST(e.rendezvous.host == "other7");
  BOOST_TEST(e.world_size == 6u);
}

BOOST_AUTO_TEST_CASE(master_variables_go_before_the_slurm_node_list) {
  const launch_environment e =
      found(with(slurm, {{"MASTER_ADDR", "head"}, {"MASTER_PORT", "4711"}}));
  BOOST_TEST((e.rendezvous == host_port{"head", 4711}));
}

BOOST_AUTO_TEST_CASE(open_mpi_says_who_and_the_master_variables_where) {
  const launch_environment e = found(open_mpi);
  BOOST_TEST((e.from == launcher::open_mpi));
  BOOST_TEST(to_index(e.rank) == 1u);
  BOOST_TEST(e.world_size == 4u);
  BOOST_TEST(e.local_rank.value() == 1u);
  BOOST_TEST(e.local_size.value() == 2u);
  BOOST_TEST((e.rendezvous == host_port{"10.0.0.1", 4711}));
}

BOOST_AUTO_TEST_CASE(the_innermost_launcher_answers) {
  auto nested = slurm;
  nested.insert(open_mpi.begin(), open_mpi.end());
  BOOST_TEST((found(nested).from == launcher::open_mpi));
  nested.insert(torchrun.begin(), torchrun.end());
  BOOST_TEST((found(nested).from == launcher::torchrun));
  BOOST_TEST(found(nested).world_size == 8u);
}

BOOST_AUTO_TEST_CASE(half_a_launcher_is_an_error_and_not_the_next_one) {
  auto nested = slurm;
  nested["WORLD_SIZE"] = "8";
  expect(problem_of(nested), {"WORLD_SIZE=\"8\" is set", "RANK is not", "torchrun", "unset"});
  expect(problem_of(without(torchrun, "WORLD_SIZE")), {"RANK=\"3\" is set", "WORLD_SIZE is not"});
  expect(problem_of(without(slurm, "SLURM_PROCID")),
         {"SLURM_NTASKS=\"7\" is set", "SLURM_PROCID is not", "srun"});
  expect(problem_of(without(open_mpi, "OMPI_COMM_WORLD_RANK")),
         {"OMPI_COMM_WORLD_SIZE=\"4\" is set", "OMPI_COMM_WORLD_RANK is not", "mpirun"});
}

BOOST_AUTO_TEST_CASE(no_launcher_is_an_error_that_says_what_to_set) {
  expect(problem_of({}), {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "troupe launch",
                          "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"});
  expect(problem_of({{"LOCAL_RANK", "0"}, {"MASTER_ADDR", "x"}}), {"no launcher"});
}

BOOST_AUTO_TEST_CASE(a_missing_rendezvous_names_what_to_set) {
  expect(problem_of(without(torchrun, "MASTER_ADDR")),
         {"torchrun", "set MASTER_ADDR", "bootstrap.rendezvous"});
  expect(problem_of(without(torchrun, "MASTER_PORT")), {"MASTER_PORT is not set", "29500"});
  expect(problem_of(without(open_mpi, "MASTER_ADDR")), {"Open MPI", "set MASTER_ADDR"});
  expect(problem_of(without(open_mpi, "MASTER_PORT")), {"MASTER_PORT is not set"});
  expect(problem_of(without(slurm, "SLURM_JOB_NODELIST")),
         {"MASTER_ADDR", "SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"});
}

BOOST_AUTO_TEST_CASE(malformed_values_name_the_variable_and_the_value) {
  expect(problem_of(with(torchrun, {{"RANK", "three"}})), {"RANK=\"three\"", "whole number"});
  expect(problem_of(with(torchrun, {{"RANK", ""}})), {"RANK=\"\"", "whole number"});
  expect(problem_of(with(torchrun, {{"RANK", "-1"}})), {"RANK=\"-1\"", "out of range"});
  expect(problem_of(with(torchrun, {{"WORLD_SIZE", "4294967297"}})),
         {"WORLD_SIZE=\"4294967297\"", "1048576"});
  expect(problem_of(with(torchrun, {{"WORLD_SIZE", "0"}})), {"a world of 0 ranks"});
  expect(problem_of(with(torchrun, {{"MASTER_PORT", "0"}})), {"MASTER_PORT=\"0\""});
  expect(problem_of(with(torchrun, {{"MASTER_PORT", "65536"}})), {"MASTER_PORT", "65535"});
  expect(problem_of(with(torchrun, {{"MASTER_ADDR", "a b"}})), {"MASTER_ADDR=\"a b\""});
  expect(problem_of(with(slurm, {{"SLURM_JOB_NODELIST", "node[3"}})),
         {"SLURM_JOB_NODELIST=\"node[3\"", "set MASTER_ADDR"});
  expect(problem_of(with(slurm, {{"SLURM_TASKS_PER_NODE", "2(x"}})),
         {"SLURM_TASKS_PER_NODE=\"2(x\"", "SLURM_NODEID"});
}

BOOST_AUTO_TEST_CASE(contradictory_values_name_both_variables) {
  expect(problem_of(with(torchrun, {{"RANK", "8"}})),
         {"rank 8 is not in a world of 8", "RANK", "WORLD_SIZE"});
  expect(problem_of(with(torchrun, {{"LOCAL_RANK", "2"}})), {"LOCAL_RANK=\"2\"", "at most 2"});
  expect(problem_of(with(torchrun, {{"LOCAL_WORLD_SIZE", "9"}})), {"9 ranks", "the world has 8"});
  expect(problem_of(with(slurm, {{"SLURM_PROCID", "7"}})), {"rank 7", "SLURM_PROCID"});
}

BOOST_AUTO_TEST_CASE(the_caller_goes_before_every_launcher) {
  const launch_environment e =
      found(torchrun, {.rank = 1, .world_size = 2, .rendezvous = "[::1]:5"});
  BOOST_TEST(to_index(e.rank) == 1u);
  BOOST_TEST(e.world_size == 2u);
  BOOST_TEST((e.rendezvous == host_port{"::1", 5}));
  BOOST_TEST(!e.local_rank);
}

BOOST_AUTO_TEST_CASE(a_caller_who_says_everything_needs_no_launcher) {
  const launch_environment e = found({}, {.rank = 0, .world_size = 1, .rendezvous = "h:5"});
  BOOST_TEST((e.from == launcher::none));
  BOOST_TEST((e.rendezvous == host_port{"h", 5}));
}

BOOST_AUTO_TEST_CASE(what_the_caller_leaves_open_comes_from_the_launcher) {
  const launch_environment e = found(torchrun, {.rank = 6});
  BOOST_TEST(to_index(e.rank) == 6u);
  BOOST_TEST(e.world_size == 8u);
  BOOST_TEST(e.rendezvous.host == "head");
  expect(problem_of(torchrun, {.rank = 8}), {"rank 8", "rank from the caller", "WORLD_SIZE"});
  expect(problem_of({}, {.rank = 0}), {"WORLD_SIZE"});
}

BOOST_AUTO_TEST_CASE(a_rendezvous_of_the_caller_has_the_form_host_port) {
  for (const char* text : {"", "host", "host:0", "::1:5"})
    expect(problem_of(torchrun, {.rendezvous = text}), {"is not host:port"});
}

BOOST_AUTO_TEST_CASE(hostile_values_stay_on_one_short_line) {
  const std::string problem = problem_of(with(torchrun, {{"RANK", "\n" + std::string(9999, 'x')}}));
  BOOST_TEST(problem.size() < 300u);
  BOOST_TEST(problem.find('\n') == std::string::npos);
}

}  // namespace
}  // namespace troupe::config
