#include "runtime/scenario/scenario_names.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "config/quantity.hpp"
#include "runtime/errc.hpp"

namespace troupe::scenario {
namespace {

constexpr std::array<std::string_view, 3> worlds{"sim", "process", "gpu"};
constexpr std::array<std::string_view, distance_count> distances{
    "same_host", "same_rack", "same_zone", "cross_zone", "cross_data_center"};
constexpr std::array<std::string_view, fault_kind_count> faults{"kill",
                                                                "power_off",
                                                                "stop",
                                                                "slow",
                                                                "lane_down",
                                                                "nic_down",
                                                                "loss",
                                                                "delay",
                                                                "reorder",
                                                                "duplicate",
                                                                "corrupt",
                                                                "partition",
                                                                "lost_completion",
                                                                "failed_registration",
                                                                "failed_allocation",
                                                                "no_descriptors",
                                                                "throwing_actor",
                                                                "garbage",
                                                                "refused_dials"};
constexpr std::array<std::string_view, 3> events{"operation_started", "operation_ended",
                                                 "segment_sent"};
constexpr std::array<std::string_view, 3> phases{"join", "reduce_scatter",
                                                 "between_reduce_scatter_and_all_gather"};
constexpr std::array<std::string_view, 3> leaks{"descriptors", "threads", "memory"};
constexpr std::array<std::string_view, 4> lanes{"auto", "tcp", "shm", "verbs"};

constexpr errc codes[]{
#define TROUPE_SCENARIO_CODE(number, name, sentence) errc::name,
    TROUPE_ERROR_CODES(TROUPE_SCENARIO_CODE)
#undef TROUPE_SCENARIO_CODE
};

template <class Enum, std::size_t Count>
std::string_view name_in(const std::array<std::string_view, Count>& names, Enum value) {
  return names[static_cast<std::size_t>(value)];
}

std::string list(const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (const std::uint32_t number : numbers)
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text;
}

std::string places(const char* one, const std::vector<std::uint32_t>& numbers) {
  return std::string(one) + (numbers.size() == 1 ? " " : "s ") + list(numbers);
}

std::string percent(double ratio) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g%%", ratio * 100);
  return text.data();
}

std::string time_text(duration d) {
  return config::format_time_length(d.count());
}

}  // namespace

std::string_view to_string(world_kind value) {
  return name_in(worlds, value);
}
std::string_view to_string(distance value) {
  return name_in(distances, value);
}
std::string_view to_string(fault_kind value) {
  return name_in(faults, value);
}
std::string_view to_string(event_kind value) {
  return name_in(events, value);
}
std::string_view to_string(phase_kind value) {
  return name_in(phases, value);
}
std::string_view to_string(leak_kind value) {
  return name_in(leaks, value);
}
std::string_view to_string(process_lanes value) {
  return name_in(lanes, value);
}

std::string to_string(const rank_outcome& value) {
  switch (value.what) {
    case rank_outcome::kind::failed: return std::string(troupe::to_string(value.code));
    case rank_outcome::kind::killed: return "killed";
    case rank_outcome::kind::stopped: return "stopped";
  }
  return "unknown";
}

std::span<const std::string_view> world_names() {
  return worlds;
}
std::span<const std::string_view> distance_names() {
  return distances;
}
std::span<const std::string_view> fault_names() {
  return faults;
}
std::span<const std::string_view> event_names() {
  return events;
}
std::span<const std::string_view> phase_names() {
  return phases;
}
std::span<const std::string_view> leak_names() {
  return leaks;
}
std::span<const std::string_view> lanes_names() {
  return lanes;
}

std::vector<std::string_view> outcome_names() {
  std::vector<std::string_view> names;
  for (const errc code : codes)
    names.push_back(troupe::to_string(code));
  names.push_back("killed");
  names.push_back("stopped");
  return names;
}

std::optional<rank_outcome> parse_outcome(std::string_view name) {
  if (name == "killed") return rank_outcome{rank_outcome::kind::killed, errc::ok};
  if (name == "stopped") return rank_outcome{rank_outcome::kind::stopped, errc::ok};
  for (const errc code : codes)
    if (name == troupe::to_string(code)) return rank_outcome{rank_outcome::kind::failed, code};
  return std::nullopt;
}

std::string describe(const selector& whom) {
  switch (whom.what) {
    case selector::kind::all: return "all ranks";
    case selector::kind::ranks: return places("rank", whom.numbers);
    case selector::kind::random:
      return std::to_string(whom.count) + " random rank" + (whom.count == 1 ? "" : "s");
    case selector::kind::percent: return percent(whom.ratio) + " of the ranks";
    case selector::kind::host: return places("host", whom.numbers);
    case selector::kind::rack: return places("rack", whom.numbers);
    case selector::kind::zone: return places("zone", whom.numbers);
    case selector::kind::data_center: return places("data centre", whom.numbers);
    case selector::kind::root: return "the root";
    case selector::kind::rendezvous: return "the rank of the rendezvous";
    case selector::kind::link:
      return "the link between ranks " + std::to_string(whom.numbers.front()) + " and " +
             std::to_string(whom.numbers.back());
    case selector::kind::victims: return "the victims";
    case selector::kind::survivors: return "the survivors";
  }
  return "nobody";
}

std::string describe(const trigger& when) {
  const std::string later =
      when.after == duration::zero() ? std::string() : time_text(when.after) + " after ";
  switch (when.what) {
    case trigger_kind::time: return "at " + time_text(when.at);
    case trigger_kind::step:
      return (later.empty() ? "when " : later) + "step " + std::to_string(when.step) + " begins";
    case trigger_kind::event:
      return (later.empty() ? "at " : later) + std::string(to_string(when.event)) + " number " +
             std::to_string(when.nth);
    case trigger_kind::phase:
      if (when.phase == phase_kind::join)
        return (later.empty() ? "at " : later) + "the beginning of the join";
      return (later.empty() ? "at " : later) + std::string(to_string(when.phase)) + " of step " +
             std::to_string(when.step);
    case trigger_kind::probability:
      return later + "each step with probability " + percent(when.probability);
    case trigger_kind::mtbf:
      return "again and again, with " + time_text(when.at) + " between failures on average";
  }
  return "never";
}

}  // namespace troupe::scenario
