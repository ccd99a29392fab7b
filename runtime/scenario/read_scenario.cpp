#include "runtime/scenario/read_scenario.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "config/load.hpp"
#include "config/toml_tree.hpp"
#include "runtime/scenario/detail/read_statements.hpp"
#include "runtime/scenario/detail/table_reader.hpp"
#include "runtime/scenario/scenario_names.hpp"

namespace troupe::scenario {
namespace {

using detail::table_reader;
using detail::text_problem;

constexpr std::array<std::string_view, 10> operation_words{
    "all_reduce", "all_gather", "reduce_scatter", "broadcast",  "barrier",
    "reduce",     "gather",     "scatter",        "all_to_all", "all_to_all_v"};

void read_wire(table_reader& table, wire& out) {
  table.time("latency", out.latency);
  table.rate("bandwidth", out.bytes_per_second);
}

void read_topology(const config::toml_node& node, text_problem& problem, topology& out) {
  table_reader table(node, "[topology]", problem);
  const detail::number_range some{1, rank_count_max};
  table.number("ranks", some, out.ranks);
  if (!table.has("ranks")) problem.note_missing(node.line, "[topology] has no ranks");
  table.number("ranks_per_host", some, out.ranks_per_host);
  table.number("nics_per_host", {1, 16}, out.nics_per_host);
  table.number("hosts_per_rack", some, out.hosts_per_rack);
  table.number("racks_per_zone", some, out.racks_per_zone);
  table.number("zones_per_data_center", some, out.zones_per_data_center);
  wire everywhere;
  read_wire(table, everywhere);
  out.wires.fill(everywhere);
  for (std::size_t i = 0; i < distance_count; ++i) {
    const std::string_view name = distance_names()[i];
    const config::toml_node* tier = table.table(name);
    if (tier == nullptr) continue;
    table_reader tier_table(*tier, "[topology." + std::string(name) + ']', problem);
    read_wire(tier_table, out.wires[i]);
    tier_table.finish();
  }
  table.finish();
}

void read_algorithm(table_reader& table, std::optional<troupe::algorithm>& out) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < algorithm_count; ++i)
    names.push_back(to_string(static_cast<troupe::algorithm>(i)));
  std::size_t place = 0;
  table.word("algorithm", names, place);
  if (table.has("algorithm")) out = static_cast<troupe::algorithm>(place);
}

workload_operation read_operation(const config::toml_node& node, text_problem& problem) {
  table_reader table(node, "[[workload.operation]]", problem);
  constexpr std::array<operation_kind, 10> kinds{
      operation_kind::all_reduce,  operation_kind::all_gather, operation_kind::reduce_scatter,
      operation_kind::broadcast,   operation_kind::barrier,    operation_kind::reduce,
      operation_kind::gather,      operation_kind::scatter,    operation_kind::all_to_all,
      operation_kind::all_to_all_v};
  workload_operation out;
  out.line = node.line;
  std::size_t kind = 0;
  table.word("kind", operation_words, kind);
  if (!table.has("kind")) problem.note_missing(node.line, "[[workload.operation]] has no kind");
  out.kind = kinds[kind];
  table.number("count", {0, 1u << 30}, out.count);
  // Types whose sums this program can foretell.
  constexpr std::array<std::string_view, 4> type_words{"float32", "float64", "int32", "int64"};
  constexpr std::array<data_type, 4> types{data_type::float32, data_type::float64, data_type::int32,
                                           data_type::int64};
  std::size_t type = 0;
  table.word("type", type_words, type);
  out.type = types[type];
  table.number("root", {0, rank_count_max - 1}, out.root);
  read_algorithm(table, out.algorithm);
  table.time("timeout", out.timeout);
  table.finish();
  return out;
}

void read_workload(const config::toml_node& node, text_problem& problem, workload& out) {
  table_reader table(node, "[workload]", problem);
  table.number("steps", {1, step_count_max}, out.steps);
  table.time("compute", out.compute);
  for (const config::toml_node* operation : table.tables("operation"))
    out.operations.push_back(read_operation(*operation, problem));
  if (out.operations.empty())
    problem.note_missing(node.line,
                         "[workload] has no operation; write [[workload.operation]] below it");
  table.finish();
}

/// Option by option, as a configuration has them, so that the loader says what is wrong.
void read_settings(const config::toml_node& node, text_problem& problem, script& out) {
  for (const config::toml_entry& section : node.entries) {
    if (section.value.what != config::toml_node::form::table) {
      problem.note(section.line, section.key + " in [settings] is no section; write [settings." +
                                     section.key + "] and its options below");
      continue;
    }
    for (const config::toml_entry& option : section.value.entries) {
      const bool number = option.value.what == config::toml_node::form::integer;
      if (!number && option.value.what != config::toml_node::form::string) {
        problem.note(option.line, option.key + " is " +
                                      std::string(config::to_string(option.value.what)) +
                                      "; write a text in quotes or a whole number");
        continue;
      }
      out.settings.emplace_back(section.key + '.' + option.key,
                                number ? std::to_string(option.value.integer) : option.value.text);
      const auto loaded = config::load({.config_file = {},
                                        .settings = {out.settings.back()},
                                        .environment = config::environment_variables{}});
      if (!loaded) problem.note(option.line, loaded.error().message);
    }
  }
}

void read_process(const config::toml_node& node, text_problem& problem, script& out) {
  table_reader table(node, "[process]", problem);
  std::size_t lanes = 0;
  table.word("lanes", lanes_names(), lanes);
  out.lanes = static_cast<process_lanes>(lanes);
  table.finish();
}

void read_root(const config::toml_node& root, text_problem& problem, script& out) {
  table_reader table(root, "the script", problem);
  table.text("story", out.story);
  if (out.story.empty())
    problem.note_missing(1, "there is no story; say in one sentence what happens");
  std::vector<std::size_t> worlds;
  table.words("worlds", world_names(), worlds);
  if (!table.has("worlds"))
    problem.note_missing(
        1, "there are no worlds; write worlds = [\"sim\", \"process\"], or one of them");
  for (const std::size_t each : worlds)
    out.worlds.push_back(static_cast<world_kind>(each));
  table.time("limit", out.limit);
  if (out.limit <= duration::zero()) table.note("limit", "is zero; every run needs time");
  if (const auto* node = table.table("topology"))
    read_topology(*node, problem, out.machines);
  else
    problem.note_missing(1, "there is no [topology]");
  if (const auto* node = table.table("workload"))
    read_workload(*node, problem, out.work);
  else
    problem.note_missing(1, "there is no [workload]");
  if (const auto* node = table.table("settings")) read_settings(*node, problem, out);
  if (const auto* node = table.table("process")) read_process(*node, problem, out);
  for (const config::toml_node* node : table.tables("fault"))
    out.faults.push_back(detail::read_fault(*node, problem));
  for (const config::toml_node* node : table.tables("expect"))
    out.expectations.push_back(detail::read_expectation(*node, problem));
  if (out.faults.size() > statement_count_max || out.expectations.size() > statement_count_max)
    problem.note(1, "there are more than " + std::to_string(statement_count_max) +
                        " faults or expectations");
  table.finish();
}

}  // namespace

outcome<script> read_scenario(std::string_view text, std::string_view file_name) {
  const auto root = config::read_toml_tree(text, file_name);
  if (!root) return fail(root.error());
  script out;
  out.file_name = std::string(file_name);
  text_problem problem{out.file_name, {}, {}};
  read_root(*root, problem, out);
  if (problem.first()) return fail(*problem.first());
  return out;
}

outcome<script> read_scenario_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text(config::config_file_bytes_max + 1, '\0');
  errno = 0;
  if (in) in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!in.eof() && !in.good()) {
    const std::string why = errno != 0 ? std::strerror(errno) : "it is no file";
    return fail(errc::bad_argument, "cannot read the scenario " + path + ": " + why);
  }
  text.resize(static_cast<std::size_t>(in.gcount()));
  return read_scenario(text, path);
}

}  // namespace troupe::scenario
