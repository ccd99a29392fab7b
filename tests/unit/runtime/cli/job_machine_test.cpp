#define BOOST_TEST_MODULE job_machine
#include "runtime/cli/job_machine.hpp"

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <optional>

using namespace troupe;
using namespace troupe::cli;
using namespace std::chrono_literals;

namespace {

/// A job under test, and what it asked for.
struct job_fixture {
  explicit job_fixture(std::uint32_t rank_count, job_limits limits = {})
      : job(make_job(rank_count, limits, now)) {}

  void tell(const job_event& event) {
    std::vector<job_effect> effects;
    step(job, event, now, effects);
    for (const job_effect& effect : effects) {
      if (const auto* s = std::get_if<signal_ranks>(&effect)) signals.push_back(s->number);
      if (const auto* r = std::get_if<report_line>(&effect)) text += r->text + "\n";
      if (const auto* f = std::get_if<finish_job>(&effect)) code = f->exit_code;
    }
  }

  void end(std::uint32_t who, process_end how = {}) {
    tell(rank_ended{rank{who}, static_cast<pid_t>(1000 + who), how});
  }

  void pass(duration d) {
    now += d;
    tell(time_passed{});
  }

  bool said(const std::string& part) const { return text.find(part) != std::string::npos; }

  instant now{10s};
  job_state job;
  std::vector<int> signals;
  std::string text;
  std::optional<int> code;
};

constexpr process_end failed_with(int code) {
  return {process_end::kind::exited, code};
}
constexpr process_end killed_by(int signal) {
  return {process_end::kind::killed, signal};
}

using numbers = std::vector<int>;

}  // namespace

BOOST_AUTO_TEST_CASE(a_job_whose_ranks_all_end_well_ends_well_and_says_nothing) {
  job_fixture job(3);
  for (const std::uint32_t r : {1u, 0u})
    job.end(r);
  BOOST_CHECK(!job.code);
  job.end(2);
  BOOST_CHECK_EQUAL(job.code.value(), 0);
  BOOST_CHECK_EQUAL(job.text, "");
  BOOST_CHECK(job.signals.empty());
}

BOOST_AUTO_TEST_CASE(the_first_failure_gives_the_exit_code_and_is_reported_with_its_time) {
  job_fixture job(3);
  job.now += 1204ms;
  job.end(2, killed_by(SIGSEGV));
  BOOST_CHECK(job.said("rank 2 (pid 1002) failed first: killed by SIGSEGV, 1.204 s after"));
  job.end(0, failed_with(1));
  job.end(1, failed_with(1));
  BOOST_CHECK_EQUAL(job.code.value(), 128 + SIGSEGV);
  BOOST_CHECK(job.said("after that, ranks 0-1 failed too"));
}

BOOST_AUTO_TEST_CASE(after_a_failure_come_grace_SIGTERM_grace_SIGKILL_and_then_no_more_waiting) {
  job_fixture job(2, {.grace = 5s, .reap = 10s});
  job.end(0, failed_with(4));
  job.pass(4999ms);
  BOOST_CHECK(job.signals.empty());
  job.pass(1ms);
  BOOST_CHECK(job.signals == numbers{SIGTERM});
  job.pass(5s);
  BOOST_CHECK(job.signals == (numbers{SIGTERM, SIGKILL}));
  BOOST_CHECK(!job.code);
  job.pass(10s);
  BOOST_CHECK_EQUAL(job.code.value(), 4);
  BOOST_CHECK(job.said("rank 1 did not end 10 s after SIGKILL"));
}

BOOST_AUTO_TEST_CASE(a_timeout_terminates_at_once_and_gives_124_whatever_the_ranks_return) {
  job_fixture job(2, {.timeout = 60s, .grace = 5s});
  job.pass(60s);
  BOOST_CHECK(job.signals == numbers{SIGTERM});
  BOOST_CHECK(job.said("ranks 0-1 still run"));
  job.end(0, failed_with(3));
  job.end(1);
  BOOST_CHECK_EQUAL(job.code.value(), 124);
}

BOOST_AUTO_TEST_CASE(a_timeout_after_a_failure_does_not_hide_it) {
  job_fixture job(2, {.timeout = 60s, .grace = 100s});
  job.end(0, failed_with(3));
  job.pass(60s);
  job.end(1);
  BOOST_CHECK_EQUAL(job.code.value(), 3);
}

BOOST_AUTO_TEST_CASE(a_terminating_signal_is_passed_on_and_starts_the_grace) {
  job_fixture job(2, {.grace = 5s});
  job.tell(signal_received{SIGINT});
  BOOST_CHECK(job.signals == numbers{SIGINT});
  job.end(0, killed_by(SIGINT));
  BOOST_CHECK(!job.said("failed first"));
  job.pass(5s);
  BOOST_CHECK(job.signals == (numbers{SIGINT, SIGTERM}));
  job.end(1, killed_by(SIGTERM));
  BOOST_CHECK_EQUAL(job.code.value(), 128 + SIGINT);
}

BOOST_AUTO_TEST_CASE(a_second_terminating_signal_kills_once) {
  job_fixture job(2);
  for (const int number : {SIGTERM, SIGINT, SIGINT})
    job.tell(signal_received{number});
  BOOST_CHECK(job.signals == (numbers{SIGTERM, SIGKILL}));
}

BOOST_AUTO_TEST_CASE(a_user_signal_changes_nothing_else) {
  job_fixture job(2);
  job.tell(signal_received{SIGUSR1});
  job.pass(3600s);
  BOOST_CHECK(job.signals == numbers{SIGUSR1});
  BOOST_CHECK_EQUAL(job.text, "");
}

BOOST_AUTO_TEST_CASE(a_signal_during_the_grace_of_a_failure_hurries_it_on) {
  job_fixture job(2);
  job.end(0, failed_with(1));
  job.tell(signal_received{SIGINT});
  job.tell(signal_received{SIGINT});
  BOOST_CHECK(job.signals == (numbers{SIGTERM, SIGKILL}));
  job.end(1, killed_by(SIGKILL));
  BOOST_CHECK_EQUAL(job.code.value(), 1);
}

BOOST_AUTO_TEST_CASE(a_program_that_cannot_start_is_reported_once_for_all_ranks) {
  job_fixture job(2);
  for (const std::uint32_t r : {0u, 1u}) {
    job.tell(program_refused{rank{r}, "nosuch", ENOENT});
    job.end(r, failed_with(127));
  }
  BOOST_CHECK_EQUAL(job.code.value(), 127);
  BOOST_CHECK_EQUAL(job.text,
                    "error: cannot run 'nosuch': No such file or directory; give a path to an "
                    "executable file, or a program on PATH\n");
}

BOOST_AUTO_TEST_CASE(an_end_that_is_told_twice_counts_once_and_nothing_follows_the_end) {
  job_fixture job(2);
  job.end(0);
  job.end(0, failed_with(1));
  BOOST_CHECK(!job.code);
  job.end(1);
  BOOST_CHECK_EQUAL(job.code.value(), 0);
  job.code.reset();
  job.end(1, failed_with(1));
  job.tell(signal_received{SIGINT});
  job.pass(3600s);
  BOOST_CHECK(!job.code);
  BOOST_CHECK(job.signals.empty());
}

BOOST_AUTO_TEST_CASE(a_job_that_keeps_going_ends_well_if_one_rank_does) {
  job_fixture job(3, {.keep_going = true});
  job.end(1, killed_by(SIGKILL));
  BOOST_TEST(job.signals.empty());
  BOOST_TEST(job.said("2 ranks go on"));
  job.pass(1min);
  BOOST_TEST(job.signals.empty());
  job.end(0);
  job.end(2);
  BOOST_TEST((job.code == 0));
}

BOOST_AUTO_TEST_CASE(a_job_that_keeps_going_and_loses_every_rank_has_the_first_failure) {
  job_fixture job(2, {.keep_going = true});
  job.end(1, failed_with(7));
  job.end(0, failed_with(9));
  BOOST_TEST((job.code == 7));
}
