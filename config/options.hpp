#pragma once

#include "config/bootstrap_options.hpp"
#include "config/collective_options.hpp"
#include "config/dqplb_options.hpp"
#include "config/fault_tolerance_options.hpp"
#include "config/metrics_options.hpp"
#include "config/shm_options.hpp"
#include "config/tcp_options.hpp"
#include "config/trace_options.hpp"
#include "config/transport_options.hpp"
#include "config/verbs_options.hpp"
#include "config/watchdog_options.hpp"
#include "config/worker_options.hpp"

namespace troupe::config {

/// Every option of one endpoint: validated once, then immutable.
struct options {
  bootstrap_options bootstrap;
  transport_options transport;
  tcp_options tcp;
  shm_options shm;
  verbs_options verbs;
  collective_options collective;
  dqplb_options dqplb;
  fault_tolerance_options fault_tolerance;
  worker_options worker;
  watchdog_options watchdog;
  metrics_options metrics;
  trace_options trace;
};

}  // namespace troupe::config
