#pragma once

#include <string>

namespace troupe::config {

/// What the process shows of itself. Section [metrics].
struct metrics_options {
  std::string listen;  ///< "127.0.0.1:9400"; port 0: any, reported in the log; empty: off
};

}  // namespace troupe::config
