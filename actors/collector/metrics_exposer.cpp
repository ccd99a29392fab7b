#include "actors/collector/metrics_exposer.hpp"

#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <prometheus/metric_family.h>

#include <exception>
#include <utility>
#include <vector>

namespace troupe::actors {

namespace {

using family = prometheus::MetricFamily;

family make_family(const char* name, const char* help, prometheus::MetricType type) {
  family f;
  f.name = name;
  f.help = help;
  f.type = type;
  return f;
}

void add(family& f, std::vector<prometheus::ClientMetric::Label> labels, std::uint64_t value) {
  prometheus::ClientMetric metric;
  metric.label = std::move(labels);
  if (f.type == prometheus::MetricType::Counter)
    metric.counter.value = static_cast<double>(value);
  else
    metric.gauge.value = static_cast<double>(value);
  f.metric.push_back(std::move(metric));
}

/// One endpoint's counters as families. The labels are kinds: their number is fixed by the program.
class endpoint_collectable final : public prometheus::Collectable {
 public:
  endpoint_collectable(const worker_counters& worker, const operation_counters& operations,
                       const memory_ledger& ledger)
      : worker_(worker), operations_(operations), ledger_(ledger) {}

  std::vector<family> Collect() const override {
    std::vector<family> out;
    collect_actors(out);
    collect_operations(out);
    collect_wire(out);
    collect_tiers(out);
    collect_gauges(out);
    collect_memory(out);
    return out;
  }

 private:
  void collect_actors(std::vector<family>& out) const {
    auto handled =
        make_family("troupe_actor_messages_handled_total",
                    "Messages that actors of a kind handled.", prometheus::MetricType::Counter);
    auto depth = make_family("troupe_actor_mailbox_depth",
                             "Mailbox depth of the actor of a kind that handled a message last.",
                             prometheus::MetricType::Gauge);
    auto restarts = make_family("troupe_actor_restarts_total",
                                "Actors of a kind that failed and were replaced.",
                                prometheus::MetricType::Counter);
    for (std::size_t i = 0; i < actor_kind_count; ++i) {
      const auto kind = static_cast<actor_kind>(i);
      const std::string name{to_string(kind)};
      add(handled, {{"kind", name}}, worker_.messages_of(kind));
      add(depth, {{"kind", name}}, worker_.mailbox_depth_of(kind));
      add(restarts, {{"kind", name}}, worker_.restarts[i].get());
    }
    out.push_back(std::move(handled));
    out.push_back(std::move(depth));
    out.push_back(std::move(restarts));
  }

  void collect_operations(std::vector<family>& out) const {
    auto started = make_family("troupe_operations_started_total", "Operations that were called.",
                               prometheus::MetricType::Counter);
    auto finished =
        make_family("troupe_operations_finished_total", "Operations that ended without error.",
                    prometheus::MetricType::Counter);
    auto failed =
        make_family("troupe_operations_failed_total", "Operations that ended in an error.",
                    prometheus::MetricType::Counter);
    for (std::size_t i = 1; i < operation_counters::kind_slots; ++i) {
      const std::string name{to_string(static_cast<operation_kind>(i))};
      if (name == "invalid") continue;
      add(started, {{"operation", name}}, operations_.started[i].get());
      add(finished, {{"operation", name}}, operations_.finished[i].get());
      add(failed, {{"operation", name}}, operations_.failed[i].get());
    }
    out.push_back(std::move(started));
    out.push_back(std::move(finished));
    out.push_back(std::move(failed));
  }

  void collect_wire(std::vector<family>& out) const {
    auto one = [&out](const char* name, const char* help, const single_writer_counter& value) {
      auto f = make_family(name, help, prometheus::MetricType::Counter);
      add(f, {}, value.get());
      out.push_back(std::move(f));
    };
    const auto& o = operations_;
    one("troupe_links_opened_total", "Links to peers that opened.", o.links_open);
    one("troupe_links_lost_total", "Links to peers that were lost.", o.links_lost);
    one("troupe_lanes_lost_total", "Lanes that died or were given up.", o.lanes_lost);
    one("troupe_lanes_rebuilt_total", "Lanes that took the place of one that died.",
        o.lanes_rebuilt);
    one("troupe_strangers_refused_total", "Connections that could not prove themselves.",
        o.strangers_refused);
    one("troupe_network_notices_total",
        "Times that lanes were not of the kind that was wished; the log says why.",
        o.network_notices);
    one("troupe_bootstrap_messages_sent_total", "Messages of start-up and connecting sent.",
        o.bootstrap_messages_sent);
    one("troupe_bootstrap_messages_received_total", "Messages of start-up and connecting received.",
        o.bootstrap_messages_received);
    one("troupe_bootstrap_connections_accepted_total", "Connections that others dialled.",
        o.bootstrap_connections_accepted);
    one("troupe_bootstrap_connections_dialled_total", "Connections dialled that stood.",
        o.bootstrap_connections_dialled);
    one("troupe_segments_sent_total", "Segments of large transfers posted.", o.segments_sent);
    one("troupe_segment_bytes_sent_total", "Bytes of those segments.", o.segment_bytes_sent);
    one("troupe_eager_messages_sent_total", "Small transfers posted.", o.eager_messages_sent);
    one("troupe_control_messages_sent_total", "Control messages posted.", o.control_messages_sent);
    one("troupe_stale_messages_dropped_total", "Messages of ended operations or epochs dropped.",
        o.stale_dropped);
    one("troupe_duplicate_writes_dropped_total", "Writes that had arrived before.",
        o.duplicates_dropped);
  }

  void collect_tiers(std::vector<family>& out) const {
    auto throttled =
        make_family("troupe_leases_throttled_total", "Budget requests of a tier that had to wait.",
                    prometheus::MetricType::Counter);
    auto sent = make_family("troupe_tier_segment_bytes_sent_total",
                            "Bytes of segments posted to peers of a tier.",
                            prometheus::MetricType::Counter);
    auto leased =
        make_family("troupe_tier_leased_bytes", "What links may have in flight to peers of a tier.",
                    prometheus::MetricType::Gauge);
    for (std::size_t i = 0; i < tier_count; ++i) {
      const std::string name{to_string(static_cast<tier>(i))};
      add(throttled, {{"tier", name}}, operations_.throttled_leases[i].get());
      add(sent, {{"tier", name}}, operations_.segment_bytes_to[i].get());
      add(leased, {{"tier", name}}, operations_.leased_bytes[i].get());
    }
    out.push_back(std::move(throttled));
    out.push_back(std::move(sent));
    out.push_back(std::move(leased));
  }

  void collect_gauges(std::vector<family>& out) const {
    auto one = [&out](const char* name, const char* help, const single_writer_counter& value) {
      auto f = make_family(name, help, prometheus::MetricType::Gauge);
      add(f, {}, value.get());
      out.push_back(std::move(f));
    };
    const auto& o = operations_;
    one("troupe_operations_running", "Operations in flight.", o.operations_running);
    one("troupe_links", "Links to peers, connecting ones included.", o.links_known);
    one("troupe_communicators", "Communicators of this endpoint.", o.communicators);
    one("troupe_scratch_bytes_taken", "Staging memory of running operations.",
        o.scratch_bytes_taken);
    one("troupe_scratch_bytes_kept", "Staging memory kept for the next ones.",
        o.scratch_bytes_kept);
    one("troupe_control_bytes_used", "Messages and records of operations in use.",
        o.control_bytes_used);
    one("troupe_control_bytes_peak", "The most that were in use at once.", o.control_bytes_peak);
    one("troupe_buffers", "Buffers the endpoint knows.", o.buffers_known);
    one("troupe_exposed_regions", "Regions that peers may write.", o.regions_exposed);
    one("troupe_refused_connections", "Connections refused before a lane existed, since start.",
        o.connections_refused);
  }

  void collect_memory(std::vector<family>& out) const {
    auto held = make_family("troupe_memory_bytes", "Memory that the endpoint holds, by purpose.",
                            prometheus::MetricType::Gauge);
    const auto usage = ledger_.usage();
    for (std::size_t i = 0; i < memory_purpose_count; ++i) {
      const auto purpose = static_cast<memory_purpose>(i);
      add(held, {{"purpose", std::string(to_string(purpose))}}, usage[purpose]);
    }
    out.push_back(std::move(held));
  }

  const worker_counters& worker_;
  const operation_counters& operations_;
  const memory_ledger& ledger_;
};

}  // namespace

std::vector<std::pair<std::string, double>> metric_sums(const worker_counters& worker,
                                                        const operation_counters& operations,
                                                        const memory_ledger& ledger) {
  std::vector<std::pair<std::string, double>> out;
  for (const family& each : endpoint_collectable(worker, operations, ledger).Collect()) {
    double sum = 0;
    for (const auto& metric : each.metric)
      sum += metric.counter.value + metric.gauge.value;
    out.emplace_back(each.name, sum);
  }
  return out;
}

struct metrics_exposer::server {
  server(const std::string& listen, const worker_counters& worker,
         const operation_counters& operations, const memory_ledger& ledger)
      : collectable(std::make_shared<endpoint_collectable>(worker, operations, ledger)),
        http(listen, 1) {
    http.RegisterCollectable(collectable);
  }
  std::shared_ptr<endpoint_collectable> collectable;
  prometheus::Exposer http;
};

metrics_exposer::metrics_exposer(std::unique_ptr<server> s) : server_(std::move(s)) {}
metrics_exposer::~metrics_exposer() = default;

outcome<std::unique_ptr<metrics_exposer>> metrics_exposer::open(
    const std::string& listen, const worker_counters& worker, const operation_counters& operations,
    const memory_ledger& ledger, rank self) {
  try {
    return std::unique_ptr<metrics_exposer>(
        new metrics_exposer(std::make_unique<server>(listen, worker, operations, ledger)));
  } catch (const std::exception& refused) {
    return fail(errc::bad_configuration,
                "metrics.listen = \"" + listen + "\" (rank " + std::to_string(self.value) +
                    "): " + refused.what() +
                    "; choose a free port, or port 0 for any (each process needs its own)");
  }
}

std::uint16_t metrics_exposer::port() const {
  const auto ports = server_->http.GetListeningPorts();
  return ports.empty() ? std::uint16_t{0} : static_cast<std::uint16_t>(ports.front());
}

}  // namespace troupe::actors
