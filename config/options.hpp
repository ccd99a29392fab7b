#pragma once

#include "config/bootstrap_options.hpp"
#include "config/collective_options.hpp"
#include "config/dqplb_options.hpp"
#include "config/fault_tolerance_options.hpp"
#include "config/metrics_options.hpp"
#include "config/shm_options.hpp"
#include "config/tcp_options.hpp"
#include "config/tier_options.hpp"
#include "config/topology_options.hpp"
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
  topology_options topology;
  dqplb_options dqplb;
  tier_options tier_same_host;
  tier_options tier_same_rack{
      .cap = "adaptive", .bytes = 1ull << 20, .write_count = 256, .segment_bytes = 128 * 1024};
  tier_options tier_same_zone{
      .cap = "adaptive", .bytes = 8ull << 20, .write_count = 256, .segment_bytes = 1024 * 1024};
  tier_options tier_cross_zone{
      .cap = "adaptive", .bytes = 16ull << 20, .write_count = 256, .segment_bytes = 1024 * 1024};
  tier_options tier_cross_data_center{
      .cap = "adaptive", .bytes = 32ull << 20, .write_count = 256, .segment_bytes = 1024 * 1024};
  tier_options tier_unknown;
  fault_tolerance_options fault_tolerance;
  worker_options worker;
  watchdog_options watchdog;
  metrics_options metrics;
  trace_options trace;
};

}  // namespace troupe::config
