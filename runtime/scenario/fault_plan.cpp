#include "runtime/scenario/fault_plan.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::scenario {
namespace {

/// Draws of one fault.
class fault_draw {
 public:
  fault_draw(const script& of, std::uint32_t index, std::uint64_t seed)
      : of_(of),
        index_(index),
        fault_(of.faults[index]),
        draw_(random_stream(seed).fork(0xfa017 + index)),
        gone_(of.machines.ranks, false) {}

  void append(std::vector<strike>& out) {
    switch (fault_.when.what) {
      case trigger_kind::probability: return append_per_step(out);
      case trigger_kind::mtbf: return append_intervals(out);
      default: break;
    }
    for (std::uint32_t i = 0; i < fault_.repeat; ++i) {
      trigger when = fault_.when;
      const duration later = fault_.every * i;
      (when.what == trigger_kind::time ? when.at : when.after) += later;
      add(when, true, out);
    }
  }

 private:
  void append_per_step(std::vector<strike>& out) {
    constexpr double parts = 1e9;
    const auto limit = static_cast<std::uint64_t>(fault_.when.probability * parts);
    for (std::uint32_t step = 1; step <= of_.work.steps; ++step) {
      if (draw_.below(static_cast<std::uint64_t>(parts)) >= limit) continue;
      trigger when = fault_.when;
      when.what = trigger_kind::step;
      when.step = step;
      add(when, false, out);
    }
  }

  // Intervals of a Poisson process: -ln(u) times the mean.
  void append_intervals(std::vector<strike>& out) {
    duration at{};
    for (std::uint32_t i = 0; i < fault_.repeat; ++i) {
      const double u = (static_cast<double>(draw_.next() >> 11) + 0.5) * 0x1p-53;
      const double interval = -std::log(u) * static_cast<double>(fault_.when.at.count());
      at += duration(static_cast<duration::rep>(interval));
      if (at >= of_.limit) return;
      trigger when = fault_.when;
      when.what = trigger_kind::time;
      when.at = at;
      add(when, false, out);
    }
  }

  void add(const trigger& when, bool certain, std::vector<strike>& out) {
    auto targets = draw_targets();
    if (targets.empty()) return;  // nobody is left to strike
    if (ends_ranks(fault_))
      for (const std::uint32_t r : targets)
        gone_[r] = true;
    const std::uint32_t watched = targets.front();
    out.push_back({index_, std::move(targets), when, watched, certain});
  }

  std::vector<std::uint32_t> draw_targets() {
    const bool drawn =
        fault_.whom.what == selector::kind::random || fault_.whom.what == selector::kind::percent;
    if (!drawn) return named_ranks(fault_.whom, of_);
    std::vector<std::uint32_t> left;
    for (std::uint32_t r = 0; r < of_.machines.ranks; ++r)
      if (!gone_[r]) left.push_back(r);
    std::size_t count = fault_.whom.count;
    if (fault_.whom.what == selector::kind::percent)
      count = std::max<std::size_t>(
          1, static_cast<std::size_t>(std::lround(fault_.whom.ratio * of_.machines.ranks)));
    count = std::min(count, left.size());
    for (std::size_t i = 0; i < count; ++i)
      std::swap(left[i], left[i + draw_.below(left.size() - i)]);
    left.resize(count);
    std::sort(left.begin(), left.end());
    return left;
  }

  const script& of_;
  std::uint32_t index_;
  const fault& fault_;
  random_stream draw_;
  std::vector<bool> gone_;
};

std::uint32_t place_of(const selector& whom, const topology& machines, std::uint32_t r) {
  switch (whom.what) {
    case selector::kind::host: return machines.host_of(r);
    case selector::kind::rack: return machines.rack_of(r);
    case selector::kind::zone: return machines.zone_of(r);
    case selector::kind::data_center: return machines.data_center_of(r);
    default: return r;
  }
}

}  // namespace

bool has_root(operation_kind kind) {
  return kind == operation_kind::broadcast || kind == operation_kind::reduce ||
         kind == operation_kind::gather || kind == operation_kind::scatter;
}

std::uint32_t root_rank(const script& of) {
  for (const workload_operation& operation : of.work.operations)
    if (has_root(operation.kind)) return operation.root;
  return 0;
}

bool ends_ranks(const fault& what) {
  const bool stops_for_good = what.kind == fault_kind::stop && !what.lasts;
  return what.kind == fault_kind::kill || what.kind == fault_kind::power_off || stops_for_good;
}

std::vector<std::uint32_t> named_ranks(const selector& whom, const script& of) {
  std::vector<std::uint32_t> out;
  switch (whom.what) {
    case selector::kind::link: return whom.numbers;
    case selector::kind::root: return {root_rank(of)};
    case selector::kind::rendezvous: return {0};
    case selector::kind::random:
    case selector::kind::percent:
    case selector::kind::victims:
    case selector::kind::survivors: return out;
    default: break;
  }
  for (std::uint32_t r = 0; r < of.machines.ranks; ++r) {
    const std::uint32_t place = place_of(whom, of.machines, r);
    const bool named =
        std::find(whom.numbers.begin(), whom.numbers.end(), place) != whom.numbers.end();
    if (whom.what == selector::kind::all || named) out.push_back(r);
  }
  return out;
}

fault_plan make_fault_plan(const script& of, std::uint64_t seed) {
  fault_plan plan;
  plan.victims.resize(of.machines.ranks, false);
  for (std::uint32_t i = 0; i < of.faults.size(); ++i)
    fault_draw(of, i, seed).append(plan.strikes);
  for (const strike& each : plan.strikes)
    if (ends_ranks(of.faults[each.fault]))
      for (const std::uint32_t r : each.targets)
        plan.victims[r] = true;
  return plan;
}

std::vector<std::uint32_t> expected_ranks(const selector& whom, const script& of,
                                          const fault_plan& plan) {
  const bool victims = whom.what == selector::kind::victims;
  if (!victims && whom.what != selector::kind::survivors) return named_ranks(whom, of);
  std::vector<std::uint32_t> out;
  for (std::uint32_t r = 0; r < of.machines.ranks; ++r)
    if (plan.victims[r] == victims) out.push_back(r);
  return out;
}

}  // namespace troupe::scenario
