#pragma once

#include <infiniband/verbs.h>

namespace troupe::net::emulation {

// What programs reach through `ibv_context::ops`: posting and polling. As `ibv_poll_cq`,
// `ibv_req_notify_cq`, `ibv_post_send` and `ibv_post_recv`.
int poll_completions(ibv_cq* cq, int count, ibv_wc* out);
int request_notification(ibv_cq* cq, int solicited_only);
int post_sends(ibv_qp* qp, ibv_send_wr* first, ibv_send_wr** bad);
int post_receives(ibv_qp* qp, ibv_recv_wr* first, ibv_recv_wr** bad);

}  // namespace troupe::net::emulation
