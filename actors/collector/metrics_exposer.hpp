#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "actors/collector/endpoint_metrics.hpp"
#include "runtime/result.hpp"

namespace troupe::actors {

/// Serves the metrics of one endpoint over HTTP in Prometheus' text format. Off unless configured.
/// A scrape reads counters that the worker writes; it never waits for the worker and never makes it
/// wait, so it answers in every state of the endpoint.
///
/// Thread: any; scrapes run on threads of the HTTP server.
class metrics_exposer {
 public:
  /// `listen`: "address:port"; port 0 takes a free one.
  /// Errors: bad_configuration (the text names address, port and cause).
  static outcome<std::unique_ptr<metrics_exposer>> open(const std::string& listen,
                                                        metric_sources sources);
  ~metrics_exposer();

  /// The port that is served, also where the configuration said 0.
  std::uint16_t port() const;

 private:
  struct server;
  explicit metrics_exposer(std::unique_ptr<server> s);
  std::unique_ptr<server> server_;
};

}  // namespace troupe::actors
