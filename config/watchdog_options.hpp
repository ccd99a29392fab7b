#pragma once

#include "runtime/instant.hpp"

namespace troupe::config {

/// Who looks after deadlines. Section [watchdog].
struct watchdog_options {
  duration interval = std::chrono::milliseconds(20);  ///< between two looks at running operations
  duration mismatch_after =
      std::chrono::milliseconds(200);  ///< unmatched transfers older than this are compared
};

}  // namespace troupe::config
