#include "actors/collector/metric_table.hpp"

namespace troupe::actors {

namespace {

constexpr std::string_view introduction =
    R"(# Metrics

<!-- Written by troupe_metrics_page; a test compares. Change actors/collector/metric_table.hpp. -->

Off unless `metrics.listen` is set ([configuration](configuration.md)); then every process answers
scrapes in Prometheus' text format at `/metrics`. A scrape reads counters that the worker writes and
never waits for it, so it answers in every state. Labels are kinds: there is no label with a peer,
an address or an actor, and their number is bounded by the program. Of `operation, algorithm, lanes,
size` the first 64 combinations have series of their own, and what comes later is counted under
`other`. Sizes are classes of the larger buffer. Bounds of histograms are powers of four from 1 us
to 67 s, of the worker's gaps powers of two.

Alert and recording rules and a dashboard on these names are in `config/monitoring`
([operations](operations.md)).

| Metric | Type | Labels | Meaning |
|---|---|---|---|
)";

constexpr std::string_view name_of(metric_type type) {
  switch (type) {
    case metric_type::counter: return "counter";
    case metric_type::gauge: return "gauge";
    case metric_type::histogram: return "histogram";
    case metric_type::summary: return "summary";
  }
  return "invalid";
}

}  // namespace

std::string metrics_page() {
  std::string out(introduction);
  for (const auto& one : metric_table) {
    out += "| `" + std::string(one.name) + "` | ";
    out.append(name_of(one.type)) += " | ";
    out.append(one.labels) += " | ";
    out.append(one.help) += " |\n";
  }
  return out;
}

}  // namespace troupe::actors
