#include "actors/collector/endpoint_metrics.hpp"

#include <chrono>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "actors/collector/metric_table.hpp"
#include "actors/collector/process_status.hpp"

namespace troupe::actors {

namespace {

using label_values = std::vector<std::string>;

prometheus::MetricType type_of(metric_type type) {
  switch (type) {
    case metric_type::counter: return prometheus::MetricType::Counter;
    case metric_type::gauge: return prometheus::MetricType::Gauge;
    case metric_type::histogram: return prometheus::MetricType::Histogram;
    case metric_type::summary: return prometheus::MetricType::Summary;
  }
  return prometheus::MetricType::Untyped;
}

/// Fills the families of the metric table; a series has the labels that the table names.
class family_builder {
 public:
  family_builder() : families_(metric_table.size()) {
    for (std::size_t i = 0; i < metric_table.size(); ++i) {
      families_[i].name = metric_table[i].name;
      families_[i].help = metric_table[i].help;
      families_[i].type = type_of(metric_table[i].type);
    }
  }

  void add(metric m, const label_values& labels, double value) {
    auto& one = series(m, labels);
    if (describe(m).type == metric_type::counter)
      one.counter.value = value;
    else
      one.gauge.value = value;
  }
  void add(metric m, const label_values& labels, const single_writer_counter& value) {
    add(m, labels, static_cast<double>(value.get()));
  }

  /// `bound(b)`: the upper bound of bucket b, in seconds; the last bucket has none.
  template <class Counts, class Bound>
  void add_histogram(metric m, const label_values& labels, const Counts& counts,
                     const single_writer_counter& sum_ns, Bound bound) {
    auto& out = series(m, labels).histogram;
    std::uint64_t below = 0;
    for (std::size_t b = 0; b < counts.size(); ++b) {
      below += counts[b].get();
      if (b + 1 < counts.size()) out.bucket.push_back({below, bound(b)});
    }
    out.sample_count = below;
    out.sample_sum = static_cast<double>(sum_ns.get()) * 1e-9;
  }

  void add_summary(metric m, const label_values& labels, const single_writer_counter& count,
                   const single_writer_counter& sum_ns) {
    auto& out = series(m, labels).summary;
    out.sample_count = count.get();
    out.sample_sum = static_cast<double>(sum_ns.get()) * 1e-9;
  }

  std::vector<prometheus::MetricFamily> take() {
    std::erase_if(families_, [](const auto& family) { return family.metric.empty(); });
    return std::move(families_);
  }

 private:
  prometheus::ClientMetric& series(metric m, const label_values& values) {
    auto& out = families_[static_cast<std::size_t>(m)].metric.emplace_back();
    auto names = describe(m).labels;
    for (const auto& value : values) {
      const auto end = std::min(names.find(", "), names.size());
      out.label.push_back({std::string(names.substr(0, end)), value});
      names.remove_prefix(std::min(end + 2, names.size()));
    }
    return out;
  }

  std::vector<prometheus::MetricFamily> families_;
};

void add_actors(family_builder& out, const worker_counters& worker) {
  for (std::size_t i = 0; i < actor_kind_count; ++i) {
    const label_values kind{std::string(to_string(static_cast<actor_kind>(i)))};
    out.add(metric::actor_messages, kind, worker.messages_handled[i]);
    out.add(metric::actor_mailbox_depth, kind, worker.mailbox_depth[i]);
    out.add(metric::actor_restarts, kind, worker.restarts[i]);
    out.add_summary(metric::actor_turn_seconds, kind, worker.turns_timed[i], worker.turn_ns[i]);
  }
}

void add_worker(family_builder& out, const worker_counters& worker) {
  out.add(metric::worker_rounds, {}, worker.polls);
  out.add(metric::worker_parks, {}, worker.parks);
  out.add(metric::worker_parked, {}, worker.parked);
  out.add_histogram(metric::worker_round_gap, {}, worker.round_gaps, worker.round_gap_ns,
                    [](std::size_t b) { return 1e-6 * static_cast<double>(1ull << b); });
}

void add_cell(family_builder& out, const label_values& labels, const operation_cell& cell) {
  out.add_histogram(metric::operation_seconds, labels, cell.seconds.counts, cell.seconds.sum_ns,
                    [](std::size_t b) { return duration_histogram::bound_seconds(b); });
  out.add(metric::operation_bytes, labels, cell.bytes);
  out.add(metric::operation_bus_bytes, labels, cell.bus_bytes);
  out.add(metric::operation_failures, labels, cell.failed);
}

void add_operations(family_builder& out, const operation_counters& counters) {
  for (std::size_t i = 1; i < operation_counters::kind_slots; ++i) {
    const std::string name{to_string(static_cast<operation_kind>(i))};
    if (name == "invalid") continue;
    out.add(metric::operations_started, {name}, counters.started[i]);
    out.add(metric::operations_finished, {name}, counters.finished[i]);
    out.add(metric::operations_failed, {name}, counters.failed[i]);
  }
  const auto& cells = counters.by_path;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto& what = cells[i].what;
    add_cell(out,
             {std::string(to_string(what.kind)), std::string(to_string(what.algorithm)),
              std::string(to_string(what.lanes)), to_string(what.size)},
             cells[i]);
  }
  if (cells.size() == operation_cells::cell_count)
    add_cell(out, {"other", "other", "other", "other"}, cells.others());
}

void add_wire(family_builder& out, const operation_counters& o) {
  const std::initializer_list<std::pair<metric, const single_writer_counter&>> all{
      {metric::operations_running, o.operations_running},
      {metric::links, o.links_known},
      {metric::communicators, o.communicators},
      {metric::links_opened, o.links_open},
      {metric::links_lost, o.links_lost},
      {metric::lanes_lost, o.lanes_lost},
      {metric::lanes_rebuilt, o.lanes_rebuilt},
      {metric::segments_sent, o.segments_sent},
      {metric::segment_bytes_sent, o.segment_bytes_sent},
      {metric::eager_messages_sent, o.eager_messages_sent},
      {metric::control_messages_sent, o.control_messages_sent},
      {metric::stale_dropped, o.stale_dropped},
      {metric::duplicates_dropped, o.duplicates_dropped},
      {metric::view_changes, o.view_changes},
      {metric::members_left_out, o.members_left_out},
      {metric::operations_repeated, o.operations_repeated},
      {metric::foreign_frames, o.foreign_frames},
      {metric::stale_frames, o.stale_frames},
      {metric::strangers_refused, o.strangers_refused},
      {metric::refused_connections, o.connections_refused},
      {metric::network_notices, o.network_notices},
      {metric::bootstrap_messages_sent, o.bootstrap_messages_sent},
      {metric::bootstrap_messages_received, o.bootstrap_messages_received},
      {metric::bootstrap_accepted, o.bootstrap_connections_accepted},
      {metric::bootstrap_dialled, o.bootstrap_connections_dialled},
      {metric::scratch_taken, o.scratch_bytes_taken},
      {metric::scratch_kept, o.scratch_bytes_kept},
      {metric::control_used, o.control_bytes_used},
      {metric::control_peak, o.control_bytes_peak},
      {metric::buffers, o.buffers_known},
      {metric::exposed_regions, o.regions_exposed}};
  for (const auto& [m, value] : all)
    out.add(m, {}, value);
}

void add_tiers(family_builder& out, const operation_counters& o) {
  for (std::size_t i = 0; i < tier_count; ++i) {
    const label_values name{std::string(to_string(static_cast<tier>(i)))};
    out.add(metric::leases_throttled, name, o.throttled_leases[i]);
    out.add(metric::tier_segment_bytes_sent, name, o.segment_bytes_to[i]);
    out.add(metric::tier_leased_bytes, name, o.leased_bytes[i]);
  }
}

/// Metrics of what a dump knows: which operation is oldest, when something moved last.
class recorder_metrics {
 public:
  recorder_metrics(family_builder& out, const metric_sources& from) : out_(out) {
    const auto now = from.now();
    wall_offset_ns_ =
        std::chrono::duration_cast<duration>(std::chrono::system_clock::now().time_since_epoch())
            .count() -
        to_nanoseconds(now);
    dump_ = from.recorder.take(from.worker, now);
  }

  void add() {
    instant oldest = never, progress{};
    for (const auto& record : dump_.operations)
      if (record.phase != operation_phase::past) oldest = std::min(oldest, record.queued);
    std::uint64_t waiting = 0, failed = 0;
    for (const auto& one : dump_.communicators) {
      progress = std::max(progress, one.last_progress);
      waiting += one.calls_waiting;
      failed += one.failed != errc::ok;
    }
    out_.add(metric::oldest_operation, {}, unix_seconds(oldest == never ? instant{} : oldest));
    out_.add(metric::last_progress, {}, unix_seconds(progress));
    out_.add(metric::calls_waiting, {}, static_cast<double>(waiting));
    out_.add(metric::communicators_failed, {}, static_cast<double>(failed));
    out_.add(metric::worker_last_round, {}, unix_seconds(dump_.worker.last_round));
    for (unsigned p = 0; p <= static_cast<unsigned>(endpoint_phase::left); ++p) {
      const auto phase = static_cast<endpoint_phase>(p);
      out_.add(metric::endpoint_phase, {std::string(to_string(phase))},
               phase == dump_.phase ? 1.0 : 0.0);
    }
  }

 private:
  double unix_seconds(instant at) const {
    return at == instant{} ? 0.0 : static_cast<double>(to_nanoseconds(at) + wall_offset_ns_) * 1e-9;
  }

  family_builder& out_;
  std::int64_t wall_offset_ns_ = 0;
  rank_dump dump_;
};

void add_memory(family_builder& out, const memory_ledger& ledger) {
  const auto usage = ledger.usage();
  for (std::size_t i = 0; i < memory_purpose_count; ++i) {
    const auto purpose = static_cast<memory_purpose>(i);
    out.add(metric::memory, {std::string(to_string(purpose))}, static_cast<double>(usage[purpose]));
  }
}

void add_process(family_builder& out) {
  const auto process = read_process_status();
  out.add(metric::process_threads, {}, static_cast<double>(process.threads));
  out.add(metric::process_descriptors, {}, static_cast<double>(process.descriptors));
  out.add(metric::process_resident, {}, static_cast<double>(process.resident_bytes));
  out.add(metric::worker_switches, {}, static_cast<double>(process.worker_switches));
}

}  // namespace

std::vector<std::pair<std::string, double>> metric_sums(const worker_counters& worker,
                                                        const operation_counters& operations,
                                                        const memory_ledger& ledger) {
  family_builder all;
  add_operations(all, operations);
  add_wire(all, operations);
  add_tiers(all, operations);
  add_actors(all, worker);
  add_worker(all, worker);
  add_memory(all, ledger);
  std::vector<std::pair<std::string, double>> out;
  for (const auto& family : all.take()) {
    double sum = 0;
    for (const auto& series : family.metric)
      sum += series.counter.value + series.gauge.value;
    out.emplace_back(family.name, sum);
  }
  return out;
}

std::vector<prometheus::MetricFamily> endpoint_metrics::Collect() const {
  const auto began = std::chrono::steady_clock::now();
  family_builder out;
  out.add(metric::rank_info,
          {std::to_string(from_.self.value), std::to_string(from_.world_size), TROUPE_VERSION},
          1.0);
  add_operations(out, from_.operations);
  add_wire(out, from_.operations);
  add_tiers(out, from_.operations);
  recorder_metrics(out, from_).add();
  add_actors(out, from_.worker);
  add_worker(out, from_.worker);
  add_memory(out, from_.ledger);
  add_process(out);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  out.add(metric::scrape_seconds, {}, took.count());
  return out.take();
}

}  // namespace troupe::actors
