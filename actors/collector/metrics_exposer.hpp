#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/collector/operation_counters.hpp"
#include "actors/worker/worker_counters.hpp"
#include "runtime/memory_ledger.hpp"
#include "runtime/result.hpp"
#include "runtime/strong_types.hpp"

namespace troupe::actors {

/// The metrics of one endpoint as a scrape shows them, each summed over its labels.
std::vector<std::pair<std::string, double>> metric_sums(const worker_counters& worker,
                                                        const operation_counters& operations,
                                                        const memory_ledger& ledger);

/// Serves the counters of one endpoint over HTTP in Prometheus' text format. Off unless configured.
/// A scrape reads counters that the worker writes; it never waits for the worker and never makes it
/// wait, so it answers in every state of the endpoint.
///
/// Thread: any; scrapes run on threads of the HTTP server.
class metrics_exposer {
 public:
  /// `listen`: "address:port"; port 0 takes a free one.
  /// Errors: bad_configuration (the text names address, port and cause).
  static outcome<std::unique_ptr<metrics_exposer>> open(const std::string& listen,
                                                        const worker_counters& worker,
                                                        const operation_counters& operations,
                                                        const memory_ledger& ledger, rank self);
  ~metrics_exposer();

  /// The port that is served, also where the configuration said 0.
  std::uint16_t port() const;

 private:
  struct server;
  explicit metrics_exposer(std::unique_ptr<server> s);
  std::unique_ptr<server> server_;
};

}  // namespace troupe::actors
