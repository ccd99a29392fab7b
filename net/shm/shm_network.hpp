#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "config/shm_options.hpp"
#include "runtime/buffer_table.hpp"
#include "runtime/lane.hpp"
#include "runtime/memory_ledger.hpp"
#include "runtime/result.hpp"

namespace troupe::net {

namespace detail {
class shm_world;
}

/// Which endpoint of this host it is, and how its lanes are made.
struct shm_network_options {
  config::shm_options memory;
  lane_address address{};  ///< what peers call it; with a port, as its name is made from it
  memory_ledger* ledger = nullptr;  ///< counts what lanes hold; null: nobody does
};

/// Lanes through memory that two processes of one host share, or two endpoints of one process. Each
/// lane has a segment of its own, so nobody that held an earlier one can write into it; a segment
/// has no name and ends with its processes. A unix-domain socket per lane wakes a parked endpoint
/// and tells the end of a process.
///
/// Writes of up to `shm.inline_bytes` are copied into a ring and out of it. Longer ones are read
/// from their source by the receiver: with process_vm_readv(2), by a plain copy if both ends are in
/// one process, or, where the system permits neither, through a second ring; `describe()` of a lane
/// says which, and `trouble()` why not the first.
///
/// To park: `prepare_to_wait()`, which arms the bells, then sleep on `wait_descriptor()`; the next
/// `poll` disarms them.
///
/// Cost:   a lane costs a descriptor and 2 * `shm.ring_bytes` and one page, all allocated; 2 *
///         `shm.bulk_bytes` more where large writes take the ring. A poll that finds nothing costs
///         some nanoseconds a lane and no system call, but one every 200 us. A post costs none
///         unless the peer is parked.
/// Errors: a lane that ends reports peer_lost (native: errno of the read that failed, or 0) or
///         malformed; a dial unreachable, timed_out or resource_exhausted with errno in `native`.
class shm_network final : public lane_network {
 public:
  /// Errors: bad_configuration (the text names the option), resource_exhausted (needed and
  ///         available bytes), system_failure.
  static outcome<std::unique_ptr<shm_network>> make(const shm_network_options& options,
                                                    buffer_table& buffers);
  ~shm_network() override;
  shm_network(const shm_network&) = delete;
  shm_network& operator=(const shm_network&) = delete;

  lane_kind kind() const override { return lane_kind::shm; }
  lane_address address() const override;
  void dial(const lane_address& to, std::uint64_t context, instant deadline) override;
  void cancel_dial(std::uint64_t context) override;
  std::size_t poll(instant now, std::span<network_event> out) override;
  instant next_deadline() const override;
  instant prepare_to_wait() override;
  int wait_descriptor() const override;
  std::uint64_t refused_total() const override;
  std::string take_notice() override;

  /// The last thing that was not as one would wish, for people; empty if there was none.
  const std::string& trouble() const;

 private:
  explicit shm_network(std::unique_ptr<detail::shm_world> world);

  std::unique_ptr<detail::shm_world> world_;
};

}  // namespace troupe::net
