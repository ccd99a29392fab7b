#pragma once

#include <cstdint>
#include <vector>

#include "kernels/detail/driver_calls.hpp"
#include "kernels/device/stream.hpp"
#include "kernels/domain/detail/kept_graphs.hpp"
#include "kernels/domain/domain_layout.hpp"
#include "kernels/stream_ref.hpp"
#include "runtime/result.hpp"

namespace troupe::kernels::detail {

/// Bytes that go to one member, possibly this one.
struct outgoing_copy {
  std::uint32_t peer = 0;
  const std::byte* from = nullptr;
  std::byte* to = nullptr;  ///< as this GPU reaches it
  std::uint64_t bytes = 0;

  friend bool operator==(const outgoing_copy&, const outgoing_copy&) = default;
};

/// What one member does in an operation of copies.
struct copy_plan {
  std::vector<outgoing_copy> outgoing;
  std::vector<std::uint32_t> incoming;  ///< peers that write into memory of this member

  friend bool operator==(const copy_plan&, const copy_plan&) = default;
};

/// Operations that copy engines do alone. A plan becomes a graph: let the peers write, copy to each
/// peer once it lets us, say that the bytes are there, wait for what comes in. Stores and waits are
/// stream memory operations on `host_board`, which leave it as they found it, so that a graph can
/// be launched again.
class copy_operations {
 public:
  static outcome<copy_operations> create(int device, std::uint32_t rank, host_board& board);

  /// Starts a plan in the caller's stream, as one graph launch; in a capture, as nodes of the
  /// caller's graph.
  outcome<void> start(stream_ref in, const copy_plan& plan);

 private:
  result<void> enqueue(recorder& to, stream_ref in, const copy_plan& plan);
  result<void> enqueue_copy(recorder& to, stream_ref in, const outgoing_copy& copy,
                            bool is_exchange);

  driver_calls calls_;
  host_board* board_ = nullptr;
  std::uint32_t rank_ = 0;
  stream recording_;
  std::vector<stream> beside_;  ///< for copies that run beside the first
  kept_graphs<copy_plan> graphs_;
};

}  // namespace troupe::kernels::detail
