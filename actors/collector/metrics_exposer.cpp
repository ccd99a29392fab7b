#include "actors/collector/metrics_exposer.hpp"

#include <prometheus/exposer.h>

#include <exception>
#include <utility>

namespace troupe::actors {

struct metrics_exposer::server {
  server(const std::string& listen, metric_sources sources)
      : collectable(std::make_shared<endpoint_metrics>(std::move(sources))), http(listen, 1) {
    http.RegisterCollectable(collectable);
  }
  std::shared_ptr<endpoint_metrics> collectable;
  prometheus::Exposer http;
};

metrics_exposer::metrics_exposer(std::unique_ptr<server> s) : server_(std::move(s)) {}
metrics_exposer::~metrics_exposer() = default;

outcome<std::unique_ptr<metrics_exposer>> metrics_exposer::open(const std::string& listen,
                                                                metric_sources sources) {
  const auto self = sources.self;
  try {
    return std::unique_ptr<metrics_exposer>(
        new metrics_exposer(std::make_unique<server>(listen, std::move(sources))));
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
