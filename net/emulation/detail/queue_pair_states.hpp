#pragma once

#include <infiniband/verbs.h>

#include "net/emulation/detail/queue_pair.hpp"

namespace troupe::net::emulation {

class nic;

/// A queue pair in RESET; null with errno if there is no number or memory left. `asked` is checked.
ibv_qp* make_queue_pair(nic& owner, ibv_pd& pd, const ibv_qp_init_attr& asked);

/// Ends a queue pair in any state; its completions that were not polled go with it.
void end_queue_pair(nic& owner, queue_pair& qp);

/// As `ibv_modify_qp`. Errors: EINVAL for a transition or an attribute that is not allowed.
int modify_queue_pair(nic& owner, queue_pair& qp, const ibv_qp_attr& to, int mask);

}  // namespace troupe::net::emulation
