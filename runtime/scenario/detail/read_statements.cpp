#include "runtime/scenario/detail/read_statements.hpp"

#include <array>
#include <limits>

#include "runtime/diagnosis.hpp"
#include "runtime/scenario/read_scenario.hpp"
#include "runtime/scenario/scenario_names.hpp"

namespace troupe::scenario::detail {
namespace {

constexpr number_range any_rank{0, rank_count_max - 1};
constexpr number_range some_ranks{1, rank_count_max};

/// Which words a list of ranks may be.
enum class group_words : std::uint8_t { of_faults, of_expectations };

void read_rank_list(table_reader& table, group_words words, selector& out) {
  constexpr std::array<std::string_view, 3> names{"all", "victims", "survivors"};
  constexpr std::array<selector::kind, 3> kinds{selector::kind::all, selector::kind::victims,
                                                selector::kind::survivors};
  const config::toml_node* node = table.take("ranks");
  if (node == nullptr) return;
  out.what = selector::kind::ranks;
  if (node->what != config::toml_node::form::string)
    return table.numbers("ranks", any_rank, out.numbers);
  std::size_t word = 0;
  const std::span<const std::string_view> known(names);
  table.word("ranks", words == group_words::of_faults ? known.first(1) : known, word);
  out.what = kinds[word];
}

void read_places(table_reader& table, selector& out) {
  constexpr std::array<std::pair<std::string_view, selector::kind>, 5> places{
      {{"rank", selector::kind::ranks},
       {"host", selector::kind::host},
       {"rack", selector::kind::rack},
       {"zone", selector::kind::zone},
       {"data_center", selector::kind::data_center}}};
  for (const auto& [key, what] : places) {
    if (table.has(key)) out.what = what;
    table.numbers(key, any_rank, out.numbers);
  }
}

void read_draws(table_reader& table, selector& out) {
  if (table.has("random")) out.what = selector::kind::random;
  table.number("random", some_ranks, out.count);
  if (table.has("percent")) out.what = selector::kind::percent;
  table.percent("percent", 1, out.ratio);
  if (out.what == selector::kind::percent && out.ratio == 0)
    table.note("percent", "is zero: nobody is chosen, so it can never strike");
}

void read_role_and_link(table_reader& table, selector& out) {
  constexpr std::array<std::string_view, 2> roles{"root", "rendezvous"};
  std::size_t role = 0;
  table.word("role", roles, role);
  if (table.has("role")) out.what = role == 0 ? selector::kind::root : selector::kind::rendezvous;
  std::vector<std::uint32_t> ends;
  table.numbers("link", any_rank, ends);
  if (!table.has("link")) return;
  out.what = selector::kind::link;
  if (ends.size() != 2) return table.note("link", "needs two ranks; write [0, 1]");
  out.numbers = ends;
}

/// True if the table said whom.
bool read_selector(table_reader& table, group_words words, selector& out) {
  constexpr std::array<std::string_view, 10> keys{
      "ranks", "rank", "host", "rack", "zone", "data_center", "random", "percent", "role", "link"};
  std::string_view first;
  for (const std::string_view key : keys) {
    if (!table.has(key)) continue;
    if (!first.empty())
      table.note(key, "and " + std::string(first) + " both say whom; write one of them");
    first = key;
  }
  read_rank_list(table, words, out);
  read_places(table, out);
  if (words == group_words::of_faults) read_draws(table, out);
  read_role_and_link(table, out);
  return !first.empty();
}

void read_event(table_reader& table, trigger& out) {
  std::size_t event = 0;
  table.word("event", event_names(), event);
  table.number("nth", {1, std::numeric_limits<std::uint32_t>::max()}, out.nth);
  if (!table.has("event")) {
    if (table.has("nth")) table.note("nth", "needs an event; write event = \"operation_ended\"");
    return;
  }
  out.what = trigger_kind::event;
  out.event = static_cast<event_kind>(event);
  if (!table.has("nth")) out.nth = 1;
}

void read_phase(table_reader& table, trigger& out) {
  std::size_t phase = 0;
  table.word("phase", phase_names(), phase);
  if (!table.has("phase")) return;
  out.what = trigger_kind::phase;
  out.phase = static_cast<phase_kind>(phase);
  if (out.step == 0) out.step = 1;
}

void read_trigger(table_reader& table, trigger& out) {
  constexpr std::array<std::string_view, 6> keys{"at",    "step",        "event",
                                                 "phase", "probability", "mtbf"};
  std::string_view first;
  for (const std::string_view key : keys) {
    if (!table.has(key)) continue;
    const bool step_of_phase = first == "step" && key == "phase";
    if (!first.empty() && !step_of_phase)
      table.note(key, "and " + std::string(first) + " both say when; write one of them");
    first = key;
  }
  if (first.empty())
    table.note_missing(
        "does not say when; write at, step, event, phase, "
        "probability or mtbf");
  table.time("at", out.at);
  if (table.has("step")) out.what = trigger_kind::step;
  table.number("step", {1, step_count_max}, out.step);
  read_event(table, out);
  read_phase(table, out);
  if (table.has("probability")) out.what = trigger_kind::probability;
  table.percent("probability", 1, out.probability);
  if (table.has("mtbf")) out.what = trigger_kind::mtbf;
  table.time("mtbf", out.at);
  table.time("after", out.after);
  if (table.has("after") && (out.what == trigger_kind::time || out.what == trigger_kind::mtbf))
    table.note("after", "needs something that it comes after: step, event, phase, probability");
}

void read_repetition(table_reader& table, fault& out) {
  table.time("for", out.lasts);
  table.number("repeat", {1, 1'000'000}, out.repeat);
  table.time("every", out.every);
  const bool mtbf = out.when.what == trigger_kind::mtbf;
  if (mtbf && !table.has("repeat"))
    table.note_missing("needs repeat, how often at most it strikes");
  if (mtbf && table.has("every")) table.note("every", "and mtbf both say how often");
  if (!mtbf && table.has("repeat") != table.has("every"))
    table.note(table.has("every") ? "every" : "repeat", "needs both repeat and every");
}

/// Which of the numbers of a fault a kind has.
struct fault_shape {
  bool by = false;
  bool share = false;
  bool next = false;
  bool lasts = false;
};

fault_shape shape_of(fault_kind kind) {
  switch (kind) {
    case fault_kind::slow:
    case fault_kind::delay:
    case fault_kind::reorder: return {.by = true, .lasts = true};
    case fault_kind::loss: return {.by = true, .share = true, .lasts = true};
    case fault_kind::duplicate:
    case fault_kind::corrupt: return {.share = true, .lasts = true};
    case fault_kind::lost_completion:
    case fault_kind::failed_registration: return {.next = true};
    case fault_kind::stop:
    case fault_kind::nic_down:
    case fault_kind::partition:
    case fault_kind::failed_allocation:
    case fault_kind::no_descriptors:
    case fault_kind::refused_dials: return {.lasts = true};
    case fault_kind::kill:
    case fault_kind::power_off:
    case fault_kind::lane_down:
    case fault_kind::throwing_actor:
    case fault_kind::garbage: return {};
  }
  return {};
}

void read_numbers(table_reader& table, fault& out) {
  const fault_shape shape = shape_of(out.kind);
  const std::string of = "is nothing that " + std::string(to_string(out.kind)) + " has";
  if (!shape.by && table.has("by")) table.note("by", of);
  if (!shape.share && table.has("share")) table.note("share", of);
  if (!shape.next && table.has("next")) table.note("next", of);
  if (!shape.lasts && table.has("for")) table.note("for", of);
  // Chosen: what a reliable transport takes to send again, near the lowest timeout of RoCE cards.
  if (out.kind == fault_kind::loss) out.by = std::chrono::milliseconds(4);
  table.time("by", out.by);
  if (shape.by && out.by <= duration::zero())
    table.note_missing("needs by, how long; write by = \"5ms\"");
  out.share = 0.01;
  table.percent("share", 1, out.share);
  if (out.share == 0) table.note("share", "is zero, so it can never strike");
  table.number("next", {1, 1'000'000}, out.next);
  table.number("nic", {0, 15}, out.nic);
  if (out.kind == fault_kind::nic_down && !table.has("nic"))
    table.note_missing("needs nic, the number of the card");
  if (out.kind != fault_kind::nic_down && table.has("nic")) table.note("nic", of);
  constexpr std::array<std::string_view, 8> actors{
      "endpoint", "rank", "collective", "qp_group", "dqplb", "bootstrap", "watchdog", "collector"};
  std::size_t actor = 0;
  table.word("actor", actors, actor);
  const bool throws = out.kind == fault_kind::throwing_actor;
  if (throws && !table.has("actor")) table.note_missing("needs actor, such as \"qp_group\"");
  if (!throws && table.has("actor")) table.note("actor", of);
  table.number("lanes", {0, 64}, out.lanes);
  if (out.kind != fault_kind::lane_down && table.has("lanes")) table.note("lanes", of);
  out.actor = actors[actor];
}

/// Kinds that strike everybody unless somebody is named.
bool may_mean_all(fault_kind kind) {
  return kind == fault_kind::loss || kind == fault_kind::delay || kind == fault_kind::reorder ||
         kind == fault_kind::duplicate || kind == fault_kind::corrupt;
}

void read_judgements(table_reader& table, expectation& out) {
  const std::vector<std::string_view> names = outcome_names();
  std::vector<std::size_t> outcomes;
  table.words("outcome", names, outcomes);
  for (const std::size_t each : outcomes)
    out.outcomes.push_back(*parse_outcome(names[each]));
  table.number("names", any_rank, out.names);
  table.time("within", out.within);
  table.number("steps", {0, step_count_max}, out.steps);
  table.number("steps_at_least", {0, step_count_max}, out.steps_at_least);
  constexpr std::array<std::string_view, 2> exactness{"any", "exact"};
  std::size_t data = 1;
  table.word("data", exactness, data);
  if (table.has("data")) out.data_exact = data == 1;
  double throughput = 0;
  table.percent("throughput", 10, throughput);
  if (table.has("throughput")) out.throughput = throughput;
  std::vector<std::size_t> leaks;
  table.words("no_leak", leak_names(), leaks);
  for (const std::size_t each : leaks)
    out.no_leak.push_back(static_cast<leak_kind>(each));
}

void read_bounds(table_reader& table, expectation& out) {
  table.text("metric", out.metric);
  table.real("at_least", out.at_least);
  table.real("at_most", out.at_most);
  if (table.has("metric") && !out.at_least && !out.at_most)
    table.note("metric", "needs a bound; write at_least or at_most");
  if (!table.has("metric") && (out.at_least || out.at_most))
    table.note(out.at_least ? "at_least" : "at_most", "bounds nothing; write metric");
}

void read_membership(table_reader& table, expectation& out) {
  table.number("epoch", {0, std::numeric_limits<std::uint32_t>::max()}, out.epoch);
  table.numbers("members", any_rank, out.members);
  table.numbers("contributors", any_rank, out.contributors);
  constexpr auto verdict_count = static_cast<std::size_t>(verdict_kind::join_incomplete) + 1;
  std::vector<std::string_view> verdicts;
  for (std::size_t i = 0; i < verdict_count; ++i)
    verdicts.push_back(troupe::to_string(static_cast<verdict_kind>(i)));
  std::size_t verdict = 0;
  table.word("verdict", verdicts, verdict);
  if (table.has("verdict")) out.verdict = verdicts[verdict];
  table.number("culprit", any_rank, out.culprit);
}

}  // namespace

fault read_fault(const config::toml_node& node, text_problem& problem) {
  table_reader table(node, "[[fault]]", problem);
  fault out;
  out.line = node.line;
  std::size_t kind = 0;
  table.word("kind", fault_names(), kind);
  if (!table.has("kind")) problem.note_missing(node.line, "[[fault]] has no kind");
  out.kind = static_cast<fault_kind>(kind);
  if (!read_selector(table, group_words::of_faults, out.whom) && !may_mean_all(out.kind))
    problem.note_missing(node.line,
                         std::string(to_string(out.kind)) +
                             " does not say whom; write rank, ranks, random, percent, host, "
                             "rack, zone, data_center, role or link");
  read_trigger(table, out.when);
  read_numbers(table, out);
  read_repetition(table, out);
  table.finish();
  return out;
}

expectation read_expectation(const config::toml_node& node, text_problem& problem) {
  table_reader table(node, "[[expect]]", problem);
  expectation out;
  out.line = node.line;
  std::vector<std::size_t> worlds;
  table.words("worlds", world_names(), worlds);
  for (const std::size_t each : worlds)
    out.worlds.push_back(static_cast<world_kind>(each));
  read_selector(table, group_words::of_expectations, out.whom);
  read_judgements(table, out);
  read_bounds(table, out);
  read_membership(table, out);
  table.finish();
  return out;
}

}  // namespace troupe::scenario::detail
