#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <string>
#include <vector>

#include "net/emulation/detail/clock.hpp"
#include "net/emulation/detail/memory_table.hpp"
#include "net/emulation/detail/qp_transition.hpp"
#include "net/emulation/detail/segment_layout.hpp"
#include "net/emulation/network_model.hpp"

namespace troupe::net::emulation {

struct completion_queue;
class nic;
class peer;

/// What the sender remembers of a request; the rest lies in the shared ring.
struct send_record {
  std::uint64_t wr_id = 0;
  std::uint32_t bytes = 0;
  ibv_wc_opcode opcode = IBV_WC_SEND;
  bool is_signaled = false;
  ibv_wc_status refused = IBV_WC_SUCCESS;  ///< what is wrong with it at our end
  std::uint64_t departs_at = 0;
  std::uint32_t region_count = 0;
};

/// The requests that a queue pair sends. A place is free again when the completion behind it was
/// polled, as with real cards.
struct send_queue {
  std::uint64_t posted = 0;
  std::uint64_t retired = 0;   ///< have ended
  std::uint64_t released = 0;  ///< their places are free
  std::vector<send_record> records;
  std::vector<region*> regions;  ///< max_send_sge for each place
  std::uint64_t ring_offset = 0;
  std::uint64_t ring_bytes = 0;
  std::uint32_t entry_bytes = 0;
  // The oldest request: how often it was sent in vain, and when that is looked at again.
  std::uint32_t retries = 0;
  std::uint32_t not_ready_retries = 0;
  std::uint64_t deadline = never;
  std::uint64_t last_arrival = 0;
};

struct receive_record {
  std::uint64_t wr_id = 0;
  std::uint32_t piece_count = 0;
};

/// The receives that a queue pair holds ready.
struct receive_queue {
  std::uint64_t posted = 0;
  std::uint64_t taken = 0;
  std::uint64_t released = 0;
  std::vector<receive_record> records;
  std::vector<ibv_sge> pieces;  ///< max_recv_sge for each place

  bool empty() const { return taken == posted; }
};

/// Where a queue pair stands in its peer's requests.
struct incoming_requests {
  std::uint64_t next = 0;   ///< entry of the peer's ring
  std::uint64_t moved = 0;  ///< bytes of it that are in place
};

/// A reliable connected queue pair. The handle comes first: a program's `ibv_qp*` points at it.
/// Guarded by the lock of its NIC.
struct queue_pair {
  ibv_qp handle{};
  nic* owner = nullptr;
  std::uint32_t slot = 0;
  std::uint64_t generation = 0;  ///< counts resets
  ibv_qp_init_attr made_with{};
  ibv_qp_attr attributes{};
  completion_queue* send_cq = nullptr;
  completion_queue* recv_cq = nullptr;
  peer* remote = nullptr;
  distance far = distance::same_host;
  send_queue send;
  receive_queue receive;
  incoming_requests incoming;
  std::uint64_t due = never;  ///< when it has to be looked at without a doorbell

  bool is_sending() const { return handle.state == IBV_QPS_RTS; }
  bool is_receiving() const { return handle.state == IBV_QPS_RTR || handle.state == IBV_QPS_RTS; }
};

/// "QP 0x1001".
std::string name_of(const queue_pair& qp);

}  // namespace troupe::net::emulation
