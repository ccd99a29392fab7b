#include "runtime/scenario/judge_run.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "config/quantity.hpp"
#include "runtime/scenario/explain_scenario.hpp"
#include "runtime/scenario/scenario_names.hpp"

namespace troupe::scenario {
namespace {

std::string time_text(duration d) {
  return config::format_time_length(d.count());
}

std::string number_text(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g", value);
  return text.data();
}

std::string rank_text(std::uint32_t r) {
  return "rank " + std::to_string(r);
}

std::string list_text(const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (const std::uint32_t number : numbers)
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text.empty() ? "none" : text;
}

bool is_fine(const rank_outcome& outcome) {
  return outcome == rank_outcome{};
}

double median(std::vector<duration> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return static_cast<double>(middle->count());
}

class judge {
 public:
  judge(const script& of, const fault_plan& plan, const run_record& record, world_kind where)
      : of_(of), plan_(plan), record_(record), where_(where) {
    plan_.victims.assign(record.ranks.size(), false);
    for (std::size_t i = 0; i < plan.strikes.size(); ++i)
      if (record.strikes[i].struck && ends_ranks(of.faults[plan.strikes[i].fault]))
        for (const std::uint32_t r : plan.strikes[i].targets)
          plan_.victims[r] = plan_.victims[r] || was_hit(r, *record.strikes[i].struck);
  }

  std::vector<finding> all() {
    judge_strikes();
    judge_always();
    for (const expectation& each : of_.expectations)
      if (is_for_here(each)) judge_expectation(each);
    return std::move(found_);
  }

 private:
  void note(judgement how, std::uint32_t line, std::string text) {
    found_.push_back({how, line, std::move(text)});
  }

  /// A strike that came when the rank had ended already found no victim.
  bool was_hit(std::uint32_t r, instant struck) const {
    const rank_record& each = record_.ranks[r];
    const bool ended_itself = each.outcome && each.outcome->what == rank_outcome::kind::failed;
    return !ended_itself || each.ended > struck;
  }

  bool is_for_here(const expectation& each) const {
    return each.worlds.empty() ||
           std::find(each.worlds.begin(), each.worlds.end(), where_) != each.worlds.end();
  }

  /// How the rank ended, in words.
  std::string end_of(std::uint32_t r) const {
    const rank_record& each = record_.ranks[r];
    if (!each.crash.empty()) return "its process ended: " + each.crash;
    if (!each.outcome)
      return "it had not ended after " + time_text(of_.limit) + ", in step " +
             std::to_string(each.steps_done + 1);
    std::string text = "it ended in " + to_string(*each.outcome);
    if (each.why.code() != errc::ok) text += " (" + each.why.message + ')';
    return text;
  }

  void judge_strikes() {
    for (std::size_t i = 0; i < plan_.strikes.size(); ++i) {
      const fault& what = of_.faults[plan_.strikes[i].fault];
      const strike_record& each = record_.strikes[i];
      if (!each.refused.empty())
        note(judgement::wrong_result, what.line,
             describe(what) + ": the world could not do it: " + each.refused);
      else if (!each.struck && plan_.strikes[i].certain)
        note(judgement::wrong_result, what.line,
             describe(what) + ": never struck, the work was over before");
    }
  }

  /// Ranks of which the script says how they end, and whether their data may be wrong.
  void judge_always() {
    std::vector<bool> spoken_of(record_.ranks.size(), false), any_data(record_.ranks.size(), false);
    bool throws = false;
    for (const fault& each : of_.faults)
      throws = throws || each.kind == fault_kind::throwing_actor;
    for (const expectation& each : of_.expectations) {
      if (!is_for_here(each)) continue;
      for (const std::uint32_t r : expected_ranks(each.whom, of_, plan_)) {
        if (!each.outcomes.empty()) spoken_of[r] = true;
        if (each.data_exact && !*each.data_exact) any_data[r] = true;
      }
    }
    for (std::uint32_t r = 0; r < record_.ranks.size(); ++r) {
      const rank_record& each = record_.ranks[r];
      const bool broke =
          each.outcome == rank_outcome{rank_outcome::kind::failed, errc::internal_failure};
      if (!each.crash.empty() || (broke && !throws)) {
        note(judgement::crash, 0, rank_text(r) + ": " + end_of(r));
        continue;
      }
      const bool fine = each.outcome && (is_fine(*each.outcome) ||
                                         each.outcome->what != rank_outcome::kind::failed);
      if (!spoken_of[r] && !fine)
        note(each.outcome ? judgement::wrong_result : judgement::missed_deadline, 0,
             rank_text(r) + " has to end in ok, but " + end_of(r));
      if (!any_data[r] && each.wrong_elements != 0)
        note(judgement::wrong_result, 0,
             rank_text(r) + " holds " + std::to_string(each.wrong_elements) +
                 " wrong elements in results that ended in ok");
    }
  }

  void judge_expectation(const expectation& each) {
    const auto ranks = expected_ranks(each.whom, of_, plan_);
    for (const std::uint32_t r : ranks) {
      judge_outcome(each, r);
      judge_steps(each, r);
      judge_leaks(each, r);
      judge_membership(each, r);
      if (each.throughput) judge_throughput(each, r);
    }
    if (!each.metric.empty()) judge_metric(each);
    judge_verdict(each);
  }

  void judge_membership(const expectation& each, std::uint32_t r) {
    const rank_record& record = record_.ranks[r];
    if (each.epoch && record.epoch != each.epoch)
      note(judgement::wrong_result, each.line,
           rank_text(r) +
               (record.epoch ? " is in epoch " + std::to_string(*record.epoch)
                             : std::string(" knows no epoch")) +
               ", expected is " + std::to_string(*each.epoch));
    if (!each.members.empty() && record.members != each.members)
      note(judgement::wrong_result, each.line,
           rank_text(r) + " has the members " + list_text(record.members) + ", expected are " +
               list_text(each.members));
    if (!each.contributors.empty() && record.contributors != each.contributors)
      note(judgement::wrong_result, each.line,
           rank_text(r) + " holds a result of " + list_text(record.contributors) +
               ", expected are " + list_text(each.contributors));
  }

  void judge_verdict(const expectation& each) {
    if (!each.verdict.empty() && record_.verdict != each.verdict)
      note(judgement::wrong_result, each.line,
           "the verdict is " + record_.verdict + ", expected is " + each.verdict);
    if (each.culprit && record_.culprits != std::vector{*each.culprit})
      note(judgement::wrong_result, each.line,
           "the culprits are " + list_text(record_.culprits) + ", expected is " +
               std::to_string(*each.culprit));
  }

  void judge_outcome(const expectation& each, std::uint32_t r) {
    const rank_record& record = record_.ranks[r];
    const bool allowed = each.outcomes.empty() ||
                         (record.outcome && std::find(each.outcomes.begin(), each.outcomes.end(),
                                                      *record.outcome) != each.outcomes.end());
    if (!allowed) {
      const judgement how = record.outcome ? judgement::wrong_result : judgement::missed_deadline;
      return note(how, each.line, describe(each) + ": " + rank_text(r) + " did not: " + end_of(r));
    }
    const bool failed = record.outcome && record.outcome->what == rank_outcome::kind::failed &&
                        !is_fine(*record.outcome);
    if (each.names && failed && record.why.what.peer.value != *each.names)
      note(
          judgement::wrong_result, each.line,
          rank_text(r) + " has to name rank " + std::to_string(*each.names) + ", but " + end_of(r));
    if (each.within) judge_time(each, r);
  }

  void judge_time(const expectation& each, std::uint32_t r) {
    const rank_record& record = record_.ranks[r];
    const instant from = first_strike();
    const instant until = record.outcome ? record.ended : record_.ended;
    if (until - from <= *each.within) return;
    note(judgement::missed_deadline, each.line,
         rank_text(r) + " took " + time_text(until - from) + ", allowed are " +
             time_text(*each.within) + (record.outcome ? "" : "; " + end_of(r)));
  }

  instant first_strike() const {
    instant first = never;
    for (const strike_record& each : record_.strikes)
      if (each.struck) first = std::min(first, *each.struck);
    return first == never ? record_.work_began.value_or(instant{}) : first;
  }

  /// When the last fault was over; `never` if one goes on to the end.
  instant last_lift() const {
    instant last{};
    for (std::size_t i = 0; i < record_.strikes.size(); ++i) {
      const strike_record& each = record_.strikes[i];
      if (!each.struck) continue;
      const bool lasts = of_.faults[plan_.strikes[i].fault].lasts.has_value();
      last = std::max(last, lasts ? each.lifted.value_or(never) : *each.struck);
    }
    return last;
  }

  void judge_steps(const expectation& each, std::uint32_t r) {
    const std::uint32_t done = record_.ranks[r].steps_done;
    const bool wrong =
        (each.steps && done != *each.steps) || (each.steps_at_least && done < *each.steps_at_least);
    if (!wrong) return;
    note(judgement::wrong_result, each.line,
         rank_text(r) + " finished " + std::to_string(done) + " steps, expected are " +
             (each.steps ? "" : "at least ") +
             std::to_string(each.steps ? *each.steps : *each.steps_at_least));
  }

  void judge_throughput(const expectation& each, std::uint32_t r) {
    const rank_record& record = record_.ranks[r];
    const instant from = first_strike(), until = last_lift();
    std::vector<duration> before, after;
    for (std::size_t i = 1; i < record.step_times.size(); ++i) {
      const instant began = record.step_begins[i];
      if (began + record.step_times[i] <= from) before.push_back(record.step_times[i]);
      if (began >= until) after.push_back(record.step_times[i]);
    }
    if (before.empty() || after.empty())
      return note(judgement::wrong_result, each.line,
                  rank_text(r) + " has " + std::to_string(before.size()) +
                      " steps before the first fault and " + std::to_string(after.size()) +
                      " after the last, both are needed to compare");
    const double ratio = median(before) / std::max(1.0, median(after));
    if (ratio >= *each.throughput) return;
    note(judgement::wrong_result, each.line,
         rank_text(r) + " is " + number_text(ratio * 100) + "% as fast as before, expected are " +
             number_text(*each.throughput * 100) + '%');
  }

  void judge_leaks(const expectation& each, std::uint32_t r) {
    const rank_record& record = record_.ranks[r];
    if (each.no_leak.empty() || record.killed || !record.outcome ||
        record.outcome->what == rank_outcome::kind::stopped)
      return;
    if (!record.before || !record.after)
      return note(judgement::wrong_result, each.line,
                  rank_text(r) + " ended before anybody could look for leaks");
    for (const leak_kind what : each.no_leak) {
      std::uint64_t before = record.before->memory, after = record.after->memory;
      // Chosen: what links that were made meanwhile may take; a leak grows past it with the steps.
      std::uint64_t allowed = before / 4;
      if (what != leak_kind::memory) {
        const bool threads = what == leak_kind::threads;
        before = threads ? record.before->threads : record.before->descriptors;
        after = threads ? record.after->threads : record.after->descriptors;
        allowed = 0;
      }
      if (after <= before + allowed) continue;
      note(judgement::wrong_result, each.line,
           rank_text(r) + " leaks " + std::string(to_string(what)) + ": " + std::to_string(before) +
               " before, " + std::to_string(after) + " after");
    }
  }

  void judge_metric(const expectation& each) {
    const auto found =
        std::find_if(record_.metrics.begin(), record_.metrics.end(),
                     [&](const auto& metric) { return metric.first == each.metric; });
    if (found == record_.metrics.end())
      return note(judgement::wrong_result, each.line, "there is no metric " + each.metric);
    const bool low = each.at_least && found->second < *each.at_least;
    const bool high = each.at_most && found->second > *each.at_most;
    if (low || high)
      note(judgement::wrong_result, each.line,
           describe(each) + ": it is " + number_text(found->second));
  }

  const script& of_;
  fault_plan plan_;
  const run_record& record_;
  world_kind where_;
  std::vector<finding> found_;
};

}  // namespace

std::string_view to_string(judgement value) {
  switch (value) {
    case judgement::good: return "ok";
    case judgement::missed_deadline: return "missed deadline";
    case judgement::wrong_result: return "wrong result";
    case judgement::crash: return "crash";
  }
  return "unknown";
}

std::vector<finding> judge_run(const script& of, const fault_plan& plan, const run_record& record,
                               world_kind where) {
  return judge(of, plan, record, where).all();
}

judgement worst_of(const std::vector<finding>& findings) {
  judgement worst = judgement::good;
  for (const finding& each : findings)
    worst = std::max(worst, each.how);
  return worst;
}

}  // namespace troupe::scenario
