#include "runtime/scenario/print_scenario.hpp"

#include <array>
#include <charconv>

#include "config/quantity.hpp"
#include "runtime/scenario/scenario_names.hpp"

namespace troupe::scenario {
namespace {

/// Keys and values, line by line.
class toml_writer {
 public:
  void header(const std::string& name) { text_ += "\n" + name + "\n"; }

  void raw(std::string_view key, const std::string& value) {
    text_ += std::string(key) + " = " + value + '\n';
  }
  void number(std::string_view key, std::uint64_t value) { raw(key, std::to_string(value)); }
  void word(std::string_view key, std::string_view value) { raw(key, quoted(value)); }
  void time(std::string_view key, duration value) {
    word(key, config::format_time_length(value.count()));
  }
  void share(std::string_view key, double ratio) { word(key, shortest(ratio * 100) + '%'); }
  void real(std::string_view key, double value) {
    const std::string text = shortest(value);
    const bool whole = text.find_first_not_of("-0123456789") == std::string::npos;
    raw(key, whole ? text + ".0" : text);
  }
  void words(std::string_view key, const std::vector<std::string>& values) {
    std::string list;
    for (const std::string& value : values)
      list += (list.empty() ? "" : ", ") + quoted(value);
    raw(key, '[' + list + ']');
  }
  void numbers(std::string_view key, const std::vector<std::uint32_t>& values) {
    std::string list;
    for (const std::uint32_t value : values)
      list += (list.empty() ? "" : ", ") + std::to_string(value);
    raw(key, '[' + list + ']');
  }

  std::string text() && { return std::move(text_); }

 private:
  static std::string quoted(std::string_view value) {
    std::string out = "\"";
    for (const char c : value) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    return out + '"';
  }

  static std::string shortest(double value) {
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
    return {text.data(), end.ptr};
  }

  std::string text_;
};

template <class Enum>
std::vector<std::string> names_of(const std::vector<Enum>& values) {
  std::vector<std::string> out;
  for (const Enum each : values)
    out.emplace_back(to_string(each));
  return out;
}

void print_wire(toml_writer& out, const wire& each) {
  out.time("latency", each.latency);
  out.word("bandwidth", config::format_bytes(static_cast<std::int64_t>(each.bytes_per_second)) +
                            (each.bytes_per_second % 1024 == 0 ? "/s" : "B/s"));
}

void print_topology(toml_writer& out, const topology& machines) {
  const topology usual;
  out.header("[topology]");
  out.number("ranks", machines.ranks);
  const auto limit = [&](std::string_view key, std::uint32_t value, std::uint32_t default_value) {
    if (value != default_value) out.number(key, value);
  };
  limit("ranks_per_host", machines.ranks_per_host, usual.ranks_per_host);
  limit("nics_per_host", machines.nics_per_host, usual.nics_per_host);
  limit("hosts_per_rack", machines.hosts_per_rack, usual.hosts_per_rack);
  limit("racks_per_zone", machines.racks_per_zone, usual.racks_per_zone);
  limit("zones_per_data_center", machines.zones_per_data_center, usual.zones_per_data_center);
  for (std::size_t i = 0; i < distance_count; ++i) {
    const wire& each = machines.wires[i];
    const bool usual_wire = each.latency == usual.wires[i].latency &&
                            each.bytes_per_second == usual.wires[i].bytes_per_second;
    if (usual_wire) continue;
    out.header("[topology." + std::string(distance_names()[i]) + ']');
    print_wire(out, each);
  }
}

void print_work(toml_writer& out, const workload& work) {
  out.header("[workload]");
  out.number("steps", work.steps);
  if (work.compute > duration::zero()) out.time("compute", work.compute);
  for (const workload_operation& each : work.operations) {
    out.header("[[workload.operation]]");
    out.word("kind", to_string(each.kind));
    out.number("count", each.count);
    out.word("type", to_string(each.type));
    if (each.root != 0) out.number("root", each.root);
    if (each.algorithm) out.word("algorithm", to_string(*each.algorithm));
    if (each.timeout) out.time("timeout", *each.timeout);
  }
}

void print_selector(toml_writer& out, const selector& whom) {
  switch (whom.what) {
    case selector::kind::all: return out.word("ranks", "all");
    case selector::kind::ranks: return out.numbers("ranks", whom.numbers);
    case selector::kind::random: return out.number("random", whom.count);
    case selector::kind::percent: return out.share("percent", whom.ratio);
    case selector::kind::host: return out.numbers("host", whom.numbers);
    case selector::kind::rack: return out.numbers("rack", whom.numbers);
    case selector::kind::zone: return out.numbers("zone", whom.numbers);
    case selector::kind::data_center: return out.numbers("data_center", whom.numbers);
    case selector::kind::root: return out.word("role", "root");
    case selector::kind::rendezvous: return out.word("role", "rendezvous");
    case selector::kind::link: return out.numbers("link", whom.numbers);
    case selector::kind::victims: return out.word("ranks", "victims");
    case selector::kind::survivors: return out.word("ranks", "survivors");
  }
}

void print_trigger(toml_writer& out, const trigger& when) {
  switch (when.what) {
    case trigger_kind::time: out.time("at", when.at); break;
    case trigger_kind::step: out.number("step", when.step); break;
    case trigger_kind::event:
      out.word("event", to_string(when.event));
      out.number("nth", when.nth);
      break;
    case trigger_kind::phase:
      out.word("phase", to_string(when.phase));
      out.number("step", when.step);
      break;
    case trigger_kind::probability: out.share("probability", when.probability); break;
    case trigger_kind::mtbf: out.time("mtbf", when.at); break;
  }
  if (when.after > duration::zero()) out.time("after", when.after);
}

void print_fault(toml_writer& out, const fault& what) {
  out.header("[[fault]]");
  out.word("kind", to_string(what.kind));
  print_selector(out, what.whom);
  print_trigger(out, what.when);
  if (what.by > duration::zero()) out.time("by", what.by);
  const bool has_share = what.kind == fault_kind::loss || what.kind == fault_kind::duplicate ||
                         what.kind == fault_kind::corrupt;
  if (has_share) out.share("share", what.share);
  if (what.kind == fault_kind::lost_completion || what.kind == fault_kind::failed_registration)
    out.number("next", what.next);
  if (what.kind == fault_kind::nic_down) out.number("nic", what.nic);
  if (what.kind == fault_kind::lane_down) out.number("lanes", what.lanes);
  if (what.kind == fault_kind::throwing_actor) out.word("actor", what.actor);
  if (what.lasts) out.time("for", *what.lasts);
  if (what.when.what == trigger_kind::mtbf) return out.number("repeat", what.repeat);
  if (what.repeat == 1 && what.every == duration::zero()) return;
  out.number("repeat", what.repeat);
  out.time("every", what.every);
}

void print_expectation(toml_writer& out, const expectation& what) {
  out.header("[[expect]]");
  if (!what.worlds.empty()) out.words("worlds", names_of(what.worlds));
  print_selector(out, what.whom);
  if (!what.outcomes.empty()) out.words("outcome", names_of(what.outcomes));
  if (what.names) out.number("names", *what.names);
  if (what.within) out.time("within", *what.within);
  if (what.steps) out.number("steps", *what.steps);
  if (what.steps_at_least) out.number("steps_at_least", *what.steps_at_least);
  if (what.data_exact) out.word("data", *what.data_exact ? "exact" : "any");
  if (what.throughput) out.share("throughput", *what.throughput);
  if (!what.no_leak.empty()) out.words("no_leak", names_of(what.no_leak));
  if (!what.metric.empty()) out.word("metric", what.metric);
  if (what.at_least) out.real("at_least", *what.at_least);
  if (what.at_most) out.real("at_most", *what.at_most);
  if (what.epoch) out.number("epoch", *what.epoch);
  if (!what.members.empty()) out.numbers("members", what.members);
  if (!what.contributors.empty()) out.numbers("contributors", what.contributors);
  if (!what.verdict.empty()) out.word("verdict", what.verdict);
  if (what.culprit) out.number("culprit", *what.culprit);
}

void print_settings(toml_writer& out, const script& of) {
  std::string section;
  for (const auto& [name, value] : of.settings) {
    const auto dot = name.find('.');
    if (name.substr(0, dot) != section) {
      section = name.substr(0, dot);
      out.header("[settings." + section + ']');
    }
    out.word(name.substr(dot + 1), value);
  }
}

}  // namespace

std::string print_scenario(const script& of) {
  toml_writer out;
  out.word("story", of.story);
  out.words("worlds", names_of(of.worlds));
  out.time("limit", of.limit);
  print_topology(out, of.machines);
  print_work(out, of.work);
  print_settings(out, of);
  if (of.lanes != process_lanes::automatic) {
    out.header("[process]");
    out.word("lanes", to_string(of.lanes));
  }
  for (const fault& each : of.faults)
    print_fault(out, each);
  for (const expectation& each : of.expectations)
    print_expectation(out, each);
  return std::move(out).text();
}

}  // namespace troupe::scenario
