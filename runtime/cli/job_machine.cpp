#include "runtime/cli/job_machine.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>

namespace troupe::cli {
namespace {

using effects = std::vector<job_effect>;

void report(effects& out, std::string text) {
  out.emplace_back(report_line{std::move(text)});
}

std::vector<std::uint32_t> running_ranks(const job_state& job) {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t r = 0; r < job.running.size(); ++r)
    if (job.running[r]) ranks.push_back(r);
  return ranks;
}

/// "rank 3" or "ranks 0-2".
std::string name_ranks(std::vector<std::uint32_t> ranks) {
  std::sort(ranks.begin(), ranks.end());
  return (ranks.size() == 1 ? "rank " : "ranks ") + describe_ranks(ranks);
}

void enter_grace(job_state& job, instant now) {
  job.phase = job_phase::grace;
  job.deadline = saturating_add(now, job.limits.grace);
}

void terminate(job_state& job, instant now, effects& out) {
  job.phase = job_phase::terminating;
  job.deadline = saturating_add(now, job.limits.grace);
  report(out, "launch: sending SIGTERM to " + name_ranks(running_ranks(job)));
  out.emplace_back(signal_ranks{SIGTERM});
}

void kill_all(job_state& job, instant now, effects& out) {
  job.phase = job_phase::killing;
  job.deadline = saturating_add(now, job.limits.reap);
  report(out, "launch: sending SIGKILL to " + name_ranks(running_ranks(job)));
  out.emplace_back(signal_ranks{SIGKILL});
}

int exit_code_of(const job_state& job) {
  if (job.timed_out) return static_cast<int>(exit_code::timed_out);
  if (job.ending_signal != 0 && !job.all_good) return 128 + job.ending_signal;
  if (job.limits.keep_going && job.any_good) return 0;
  return job.has_failure ? shell_code(job.first_failure) : 0;
}

void finish(job_state& job, effects& out) {
  job.phase = job_phase::over;
  job.deadline = never;
  std::string after;
  if (!job.later_failures.empty()) after += name_ranks(job.later_failures) + " failed too";
  if (!job.ended_by_us.empty()) {
    if (!after.empty()) after += "; ";
    after += name_ranks(job.ended_by_us) + " had to be ended";
  }
  if (!after.empty() && !job.refused) report(out, "launch: after that, " + after);
  out.emplace_back(finish_job{exit_code_of(job)});
}

void on_first_failure(job_state& job, const rank_ended& e, instant now, effects& out) {
  job.has_failure = true;
  job.first_failure = e.end;
  if (!job.refused) {
    report(out, "error: rank " + std::to_string(e.who.value) + " (pid " + std::to_string(e.pid) +
                    ") failed first: " + describe(e.end) + ", " +
                    describe_seconds(now - job.start) + " after the start");
    if (job.running_count > 0)
      report(out, "launch: " + count_ranks(job.running_count) +
                      (job.running_count == 1 ? " still runs" : " still run") + " and may take " +
                      describe_seconds(job.limits.grace) + " to end (--grace)");
  }
  enter_grace(job, now);
}

void on_failure_of_one(job_state& job, const rank_ended& e, instant now, effects& out) {
  if (!job.has_failure) job.first_failure = e.end;
  job.has_failure = true;
  report(out, "launch: rank " + std::to_string(e.who.value) + " (pid " + std::to_string(e.pid) +
                  ") ended: " + describe(e.end) + ", " + describe_seconds(now - job.start) +
                  " after the start; " + count_ranks(job.running_count) +
                  (job.running_count == 1 ? " goes on" : " go on"));
}

void on_event(job_state& job, const rank_ended& e, instant now, effects& out) {
  const std::uint32_t r = to_index(e.who);
  if (r >= job.running.size() || !job.running[r]) return;
  job.running[r] = false;
  --job.running_count;
  job.any_good = job.any_good || e.end.good();
  if (!e.end.good()) {
    job.all_good = false;
    if (job.phase == job_phase::running && job.limits.keep_going && !job.refused)
      on_failure_of_one(job, e, now, out);
    else if (job.phase == job_phase::running)
      on_first_failure(job, e, now, out);
    else if (job.phase == job_phase::grace && job.ending_signal == 0)
      job.later_failures.push_back(r);
    else if (job.phase != job_phase::grace)
      job.ended_by_us.push_back(r);
  }
  if (job.running_count == 0) finish(job, out);
}

void on_event(job_state& job, const program_refused& e, instant, effects& out) {
  if (job.refused) return;
  job.refused = true;
  report(out, "error: cannot run '" + e.program + "': " + std::strerror(e.cause) +
                  "; give a path to an executable file, or a program on PATH");
}

bool ends_the_job(int signal) {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

void on_event(job_state& job, const signal_received& e, instant now, effects& out) {
  if (!ends_the_job(e.number)) {
    out.emplace_back(signal_ranks{e.number});
    return;
  }
  if (job.ending_signal != 0) {
    if (job.phase != job_phase::killing) kill_all(job, now, out);
    return;
  }
  if (job.phase == job_phase::running) {
    enter_grace(job, now);
    report(out, "launch: got " + signal_name(e.number) + ", passed on to " +
                    name_ranks(running_ranks(job)) + "; once more to kill them");
    job.ending_signal = e.number;
    out.emplace_back(signal_ranks{e.number});
    return;
  }
  // The job is ending for another reason already: the user does not want to wait for the grace.
  if (job.phase == job_phase::grace)
    terminate(job, now, out);
  else if (job.phase == job_phase::terminating)
    kill_all(job, now, out);
}

void on_event(job_state&, const time_passed&, instant, effects&) {}

void on_job_timeout(job_state& job, instant now, effects& out) {
  job.timed_out = true;
  report(out, "error: the job did not end within " + describe_seconds(job.limits.timeout) +
                  " (--timeout): " + name_ranks(running_ranks(job)) +
                  (job.running_count == 1 ? " still runs" : " still run"));
  terminate(job, now, out);
}

void on_deadline(job_state& job, instant now, effects& out) {
  switch (job.phase) {
    case job_phase::running: on_job_timeout(job, now, out); break;
    case job_phase::grace: terminate(job, now, out); break;
    case job_phase::terminating: kill_all(job, now, out); break;
    case job_phase::killing:
      report(out, "error: " + name_ranks(running_ranks(job)) + " did not end " +
                      describe_seconds(job.limits.reap) +
                      " after SIGKILL (a system call that cannot be interrupted?); left behind");
      job.all_good = false;
      finish(job, out);
      break;
    case job_phase::over: break;
  }
}

}  // namespace

job_state make_job(std::uint32_t rank_count, const job_limits& limits, instant now) {
  job_state job;
  job.limits = limits;
  job.start = now;
  job.running.assign(rank_count, true);
  job.running_count = rank_count;
  if (limits.timeout > duration::zero()) job.deadline = saturating_add(now, limits.timeout);
  return job;
}

void step(job_state& job, const job_event& event, instant now, std::vector<job_effect>& out) {
  if (job.phase == job_phase::over) return;
  std::visit([&](const auto& e) { on_event(job, e, now, out); }, event);
  if (now >= job.deadline) on_deadline(job, now, out);
}

}  // namespace troupe::cli
