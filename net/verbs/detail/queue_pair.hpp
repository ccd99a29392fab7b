#pragma once

#include <cstdint>

#include "net/verbs/detail/completion_queues.hpp"
#include "net/verbs/detail/handles.hpp"
#include "net/verbs/verbs_greeting_wire.hpp"
#include "runtime/result.hpp"

namespace troupe::net::detail {

class adapter;

/// One reliable connected queue pair and its place in a completion queue.
class queue_pair {
 public:
  queue_pair() = default;
  ~queue_pair() { reset(); }
  queue_pair(queue_pair&& other) noexcept { *this = std::move(other); }
  queue_pair& operator=(queue_pair&& other) noexcept;

  /// In state INIT: it takes receives. Errors: resource_exhausted, system_failure with errno.
  static result<queue_pair> make(adapter& where);

  /// What the peer has to know. Reads the port's address anew.
  /// Errors: not_available, bad_configuration, system_failure.
  outcome<verbs_queue_pair_name> name(std::uint16_t device_count);

  /// Ready to receive from, and to send to, the peer's pair.
  /// Errors: system_failure with errno.
  result<void> connect(const verbs_queue_pair_name& peer);

  /// 0, or the errno of the call.
  int post(ibv_send_wr& first);
  int post(ibv_recv_wr& first);

  bool valid() const { return handle_ != nullptr; }
  std::uint32_t inline_bytes() const { return inline_bytes_; }
  const ibv_qp* handle() const { return handle_.get(); }

  /// From here on the device reads and writes nothing for it.
  void reset();

 private:
  adapter* where_ = nullptr;
  queue_pair_handle handle_;
  completion_queues::reservation place_;
  std::uint32_t inline_bytes_ = 0;
  std::uint32_t first_packet_ = 0;
  std::uint16_t mtu_bytes_ = 1024;
  std::uint32_t gid_index_ = 0;
};

}  // namespace troupe::net::detail
