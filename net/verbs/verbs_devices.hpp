#pragma once

#include <vector>

#include "net/verbs/port_choice.hpp"
#include "runtime/result.hpp"

namespace troupe::net {

/// The RDMA ports of this host, in the order of the system.
///
/// Errors: system_failure with errno if devices exist and cannot be opened; none is no error.
/// Cost:   opens every device; for start-up and for people.
outcome<std::vector<verbs_port>> find_verbs_ports();

}  // namespace troupe::net
