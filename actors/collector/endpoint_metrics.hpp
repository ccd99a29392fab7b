#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "actors/collector/operation_counters.hpp"
#include "actors/trace/flight_recorder.hpp"
#include "actors/worker/worker_counters.hpp"
#include "runtime/instant.hpp"
#include "runtime/memory_ledger.hpp"
#include "runtime/strong_types.hpp"

namespace troupe::actors {

/// Where an endpoint's metrics come from. All of it outlives the exposer.
struct metric_sources {
  const worker_counters& worker;
  const operation_counters& operations;
  const memory_ledger& ledger;
  const flight_recorder& recorder;
  std::function<instant()> now;  ///< the worker's clock
  rank self;
  std::uint32_t world_size = 1;
};

/// What a simulated endpoint has of its metrics: counters and gauges, each summed over its labels.
std::vector<std::pair<std::string, double>> metric_sums(const worker_counters& worker,
                                                        const operation_counters& operations,
                                                        const memory_ledger& ledger);

/// One endpoint's counters as families of the metric table.
/// Thread: any.
class endpoint_metrics final : public prometheus::Collectable {
 public:
  explicit endpoint_metrics(metric_sources sources) : from_(std::move(sources)) {}

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  metric_sources from_;
};

}  // namespace troupe::actors
