#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "config/verbs_options.hpp"
#include "net/tcp/tcp_network.hpp"
#include "runtime/buffer_table.hpp"
#include "runtime/lane.hpp"
#include "runtime/result.hpp"

namespace troupe::net {

namespace detail {
class verbs_world;
}

struct verbs_network_options {
  config::verbs_options queue_pairs;
  tcp_network_options tcp;  ///< where it listens; each lane has a TCP connection beside its pair
};

/// Whether this build can have lanes of RDMA queue pairs.
bool has_verbs();

/// Lanes of RDMA queue pairs (reliable connected), one pair each, on one or more devices. A TCP
/// connection beside each pair carries what the two ends have to know of each other and tells the
/// end of a process; nothing else travels on it.
///
/// Writes are RDMA writes with an immediate, from the source into the target without a copy. What
/// memory a key exposes is asked once and kept. Memory is registered with the device when it is
/// first used and until its buffer is released.
///
/// A key that is revoked while a peer may write under it ends the registration of its buffer: a
/// write on its way lands nowhere, and its lane is lost.
///
/// A plain lane is a TCP connection of its own and needs no device.
///
/// To park: `prepare_to_wait()`, which arms the completion queues, then sleep on
/// `wait_descriptor()`.
///
/// Cost:   a lane costs a queue pair, a descriptor and about 155 KiB of registered memory at depth
///         32; a poll that finds nothing costs one look at each completion queue and no system
///         call.
/// Errors: a lane that ends reports peer_lost (native: the status of the completion that failed, or
///         0), malformed, or resource_exhausted (memory could not be registered); a dial
///         unreachable, timed_out or resource_exhausted.
class verbs_network final : public lane_network {
 public:
  /// Errors: not_available (no headers in this build, no device, no active port, no GID),
  ///         bad_configuration, resource_exhausted (locked memory: limit and need), system_failure.
  static outcome<std::unique_ptr<verbs_network>> make(const verbs_network_options& options,
                                                      buffer_table& buffers);
  ~verbs_network() override;
  verbs_network(const verbs_network&) = delete;
  verbs_network& operator=(const verbs_network&) = delete;

  lane_kind kind() const override { return lane_kind::verbs; }
  lane_address address() const override;
  void dial(const lane_address& to, std::uint64_t context, instant deadline) override;
  void dial_plain(const lane_address& to, std::uint64_t context, instant deadline) override;
  void cancel_dial(std::uint64_t context) override;
  std::size_t poll(instant now, std::span<network_event> out) override;
  instant next_deadline() const override;
  instant prepare_to_wait() override;
  int wait_descriptor() const override;
  std::uint64_t refused_total() const override;
  std::string take_notice() override;

 private:
  explicit verbs_network(std::unique_ptr<detail::verbs_world> world);

  std::unique_ptr<detail::verbs_world> world_;
};

}  // namespace troupe::net
