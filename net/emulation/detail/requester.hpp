#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "net/emulation/detail/queue_pair.hpp"

namespace troupe::net::emulation {

class nic;

/// Puts one request in the send queue and, if the queue pair is ready to send, in sight of the
/// peer. Errors: as `ibv_post_send` (ENOMEM: no place, EINVAL: more pieces or inline bytes than the
/// queue pair was made for, EOPNOTSUPP: a kind of request that is not emulated).
int post_request(nic& owner, queue_pair& qp, const ibv_send_wr& wr);

/// Lets the peer know of what was posted.
void show_requests(nic& owner, queue_pair& qp);

/// Ends requests that were answered, and sends again or gives up those that nobody answers.
void retire_requests(nic& owner, queue_pair& qp, std::uint64_t now);

/// Moves a queue pair to the error state: the oldest request ends with `status`, unless that is
/// success, and everything else that is posted is flushed.
void break_down(nic& owner, queue_pair& qp, ibv_wc_status status);

/// Forgets what is posted, without completions.
void abandon_requests(queue_pair& qp);

/// Makes sure that no peer moves bytes of a queue pair that has stopped sending.
void wait_for_peers(nic& owner, queue_pair& qp);

}  // namespace troupe::net::emulation
