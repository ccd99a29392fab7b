#include "runtime/scenario/explain_scenario.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "config/quantity.hpp"
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

std::string share_text(double ratio) {
  return number_text(ratio * 100) + '%';
}

std::string list(const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (const std::uint32_t number : numbers)
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text;
}

std::string count_of(std::uint64_t count, const char* what) {
  return std::to_string(count) + ' ' + what + (count == 1 ? "" : "s");
}

std::string effect_of(const fault& what) {
  const std::string by = time_text(what.by);
  const std::string share = share_text(what.share);
  switch (what.kind) {
    case fault_kind::kill: return "killed";
    case fault_kind::power_off: return "powered off with the host, which falls silent";
    case fault_kind::stop: return "stopped";
    case fault_kind::slow: return "slow: each step begins " + by + " late";
    case fault_kind::lane_down:
      return what.lanes == 0 ? "cut" : "cut in " + count_of(what.lanes, "lane");
    case fault_kind::nic_down: return "without card " + std::to_string(what.nic);
    case fault_kind::loss: return "losing " + share + " of frames, sent again after " + by;
    case fault_kind::delay: return "delayed: frames take " + by + " longer";
    case fault_kind::reorder: return "jittery: frames take up to " + by + " longer";
    case fault_kind::duplicate: return "sending " + share + " of frames twice";
    case fault_kind::corrupt: return "flipping a bit in " + share + " of frames";
    case fault_kind::partition: return "cut off from the others";
    case fault_kind::lost_completion:
      return "never told of the next " + count_of(what.next, "completion");
    case fault_kind::failed_registration:
      return "refused the next " + count_of(what.next, "registration") + " of memory";
    case fault_kind::failed_allocation: return "out of memory for control objects";
    case fault_kind::no_descriptors: return "out of file descriptors";
    case fault_kind::throwing_actor: return "broken: its " + what.actor + " actor throws";
    case fault_kind::garbage: return "visited by a stranger who talks garbage";
    case fault_kind::refused_dials: return "refusing connections";
  }
  return "struck";
}

bool is_singular(const selector& whom) {
  const bool numbers = whom.what != selector::kind::all && whom.numbers.size() == 1;
  return numbers || whom.what == selector::kind::root || whom.what == selector::kind::rendezvous ||
         whom.what == selector::kind::link ||
         (whom.what == selector::kind::random && whom.count == 1);
}

std::string machines_text(const topology& machines) {
  const std::uint32_t last = machines.ranks - 1;
  std::string text = count_of(machines.ranks, "rank") + " on " +
                     count_of(machines.host_of(last) + 1, "host") + " in " +
                     count_of(machines.rack_of(last) + 1, "rack");
  if (machines.zone_of(last) > 0) text += ", " + count_of(machines.zone_of(last) + 1, "zone");
  if (machines.data_center_of(last) > 0)
    text += ", " + count_of(machines.data_center_of(last) + 1, "data centre");
  if (machines.nics_per_host > 1)
    text += ", " + std::to_string(machines.nics_per_host) + " cards a host";
  return text;
}

std::string work_text(const workload& work) {
  std::string text = count_of(work.steps, "step") + " of ";
  std::string operations;
  for (const workload_operation& each : work.operations) {
    operations += operations.empty() ? "" : ", then ";
    operations += std::string(to_string(each.kind));
    if (each.kind != operation_kind::barrier)
      operations += " of " + std::to_string(each.count) + ' ' + std::string(to_string(each.type));
    if (each.algorithm) operations += " by " + std::string(to_string(*each.algorithm));
  }
  text += operations;
  if (work.compute > duration::zero()) text += ", " + time_text(work.compute) + " apart";
  return text;
}

/// Faults in the order in which they are likely to strike: the join, then steps and times as
/// written.
std::vector<const fault*> in_order(const script& of) {
  std::vector<const fault*> out;
  for (const fault& each : of.faults)
    out.push_back(&each);
  const auto key = [](const fault* each) {
    const trigger& when = each->when;
    if (when.what == trigger_kind::phase && when.phase == phase_kind::join) return 0;
    const bool certain = when.what != trigger_kind::probability && when.what != trigger_kind::mtbf;
    return certain ? 1 : 2;
  };
  std::stable_sort(out.begin(), out.end(), [&](const fault* a, const fault* b) {
    if (key(a) != key(b)) return key(a) < key(b);
    const bool times = a->when.what == trigger_kind::time && b->when.what == trigger_kind::time;
    if (times) return a->when.at < b->when.at;
    return a->when.step != 0 && b->when.step != 0 && a->when.step < b->when.step;
  });
  return out;
}

std::string outcomes_text(const expectation& what) {
  std::string text;
  for (const rank_outcome& each : what.outcomes)
    text += (text.empty() ? "end in " : " or ") + to_string(each);
  if (what.names)
    text +=
        (text.empty() ? "name" : ", naming") + std::string(" rank ") + std::to_string(*what.names);
  return text;
}

void append(std::string& text, const std::string& clause) {
  if (!clause.empty()) text += (text.empty() ? "" : "; ") + clause;
}

std::string membership_text(const expectation& what) {
  std::string text;
  if (what.epoch) append(text, "are in epoch " + std::to_string(*what.epoch));
  if (!what.members.empty()) append(text, "have the members " + list(what.members));
  if (!what.contributors.empty())
    append(text, "hold what ranks " + list(what.contributors) + " contributed");
  if (!what.verdict.empty()) append(text, "get the verdict " + what.verdict);
  if (what.culprit) append(text, "learn that rank " + std::to_string(*what.culprit) + " did it");
  return text;
}

}  // namespace

std::string describe(const fault& what) {
  std::string text = describe(what.whom);
  if (what.kind == fault_kind::stop && what.lasts)
    text += is_singular(what.whom) ? " is paused" : " are paused";
  else
    text += (is_singular(what.whom) ? " is " : " are ") + effect_of(what);
  if (what.lasts) text += ", for " + time_text(*what.lasts);
  if (what.repeat > 1) {
    text += what.when.what == trigger_kind::mtbf ? ", at most " : ", ";
    text += std::to_string(what.repeat) + " times";
    if (what.every > duration::zero()) text += ", every " + time_text(what.every);
  }
  return text;
}

std::string describe(const expectation& what) {
  std::string text = outcomes_text(what);
  if (what.within) append(text, "end within " + time_text(*what.within) + " of the first fault");
  if (what.steps) append(text, "finish " + count_of(*what.steps, "step"));
  if (what.steps_at_least)
    append(text, "finish at least " + count_of(*what.steps_at_least, "step"));
  if (what.data_exact) append(text, *what.data_exact ? "hold exact data" : "may hold any data");
  if (what.throughput)
    append(text, "are, once the faults are over, at least " + share_text(*what.throughput) +
                     " as fast as before");
  for (const leak_kind each : what.no_leak)
    append(text, "leak no " + std::string(to_string(each)));
  if (!what.metric.empty()) {
    std::string bounds = "have a sum of " + what.metric;
    if (what.at_least) bounds += " of at least " + number_text(*what.at_least);
    if (what.at_most)
      bounds +=
          std::string(what.at_least ? " and" : " of") + " at most " + number_text(*what.at_most);
    append(text, bounds);
  }
  append(text, membership_text(what));
  std::string worlds;
  for (const world_kind each : what.worlds)
    worlds += (worlds.empty() ? " (world " : ", ") + std::string(to_string(each));
  return describe(what.whom) + ": " + text + (worlds.empty() ? "" : worlds + ')');
}

std::string explain_scenario(const script& of) {
  std::string text = of.story + "\n\n";
  text += machines_text(of.machines) + "; plays in";
  for (std::size_t i = 0; i < of.worlds.size(); ++i)
    text += (i == 0 ? " " : ", ") + std::string(to_string(of.worlds[i]));
  text += "\neach does " + work_text(of.work) + "\n\nWhat happens\n";
  for (const fault* each : in_order(of))
    text += "  " + describe(each->when) + ": " + describe(*each) + '\n';
  if (of.faults.empty()) text += "  nothing bad\n";
  text += "  the run is over when every rank has ended, at the latest after " +
          time_text(of.limit) + "\n\nWhat must hold\n";
  for (const expectation& each : of.expectations)
    text += "  " + describe(each) + '\n';
  text += "  every other rank: ends in ok, unless a fault ends it\n";
  text += "  every operation that succeeds: the exact result\n";
  return text;
}

}  // namespace troupe::scenario
