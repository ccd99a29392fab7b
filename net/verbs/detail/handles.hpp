#pragma once

#include <infiniband/verbs.h>

#include <memory>

namespace troupe::net::detail {

// The one owner of each object of libibverbs. Their order in a struct is the order in which they
// may be opened; they close in the opposite one. What a close reports is ignored: it would be a bug
// here.

template <auto Close>
struct verbs_closer {
  template <class Object>
  void operator()(Object* object) const {
    Close(object);
  }
};

// ibv_dereg_mr is a macro in some versions of the library.
struct registration_closer {
  void operator()(ibv_mr* registration) const { ibv_dereg_mr(registration); }
};

using device_context = std::unique_ptr<ibv_context, verbs_closer<ibv_close_device>>;
using protection_domain = std::unique_ptr<ibv_pd, verbs_closer<ibv_dealloc_pd>>;
using completion_channel =
    std::unique_ptr<ibv_comp_channel, verbs_closer<ibv_destroy_comp_channel>>;
using completion_queue = std::unique_ptr<ibv_cq, verbs_closer<ibv_destroy_cq>>;
using memory_registration = std::unique_ptr<ibv_mr, registration_closer>;
using queue_pair_handle = std::unique_ptr<ibv_qp, verbs_closer<ibv_destroy_qp>>;

}  // namespace troupe::net::detail
