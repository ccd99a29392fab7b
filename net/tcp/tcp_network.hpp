#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "config/tcp_options.hpp"
#include "runtime/buffer_table.hpp"
#include "runtime/lane.hpp"
#include "runtime/memory_ledger.hpp"
#include "runtime/result.hpp"

namespace troupe::net {

namespace detail {
class tcp_world;
}

/// Where a tcp network listens, and how its sockets are set up.
struct tcp_network_options {
  config::tcp_options sockets;
  std::string interface;            ///< address or interface name; empty: the route to `route_to`
  lane_address route_to{};          ///< a peer that has to be reached; all zero: loopback
  std::uint16_t port_first = 0;     ///< lowest port to listen on; 0: any
  std::uint16_t port_last = 0;      ///< highest port to listen on; 0: `port_first`
  memory_ledger* ledger = nullptr;  ///< counts what lanes hold; null: nobody does
};

/// Lanes over TCP sockets, one socket each, watched by one epoll. It listens on, and dials from,
/// the chosen address only.
///
/// `close()` of a lane is orderly: what the socket takes at once still leaves, and so do the
/// messages queued before the first write that does not fit; then the peer sees the end. The
/// network keeps up to 64 such sockets for up to 2 s and drops them when it is destroyed.
///
/// The first frame posted after a poll of the network leaves at once, and so do large ones; small
/// ones behind it wait for the next poll, or for 31 others, and share a system call. A lane moves
/// bytes in `poll` only after the network said `lane_ready` for it; it says so once until the lane
/// is polled. To park, wait for the descriptor and no longer than `next_deadline()`: that is in the
/// past while something posted or received waits for a poll.
///
/// Cost:   per lane about 110 KiB at depth 64 (64 copies of messages, 32 KiB receive buffer), of
///         which only what is used becomes resident; docs/protocols/lane.md has the times.
/// Errors: a lane that ends reports peer_lost (native 0: orderly end; else errno), timed_out or
///         malformed; a dial unreachable, timed_out or resource_exhausted with errno in `native`.
class tcp_network final : public lane_network {
 public:
  /// Errors: bad_configuration (the text names option, value and what there is), system_failure.
  static outcome<std::unique_ptr<tcp_network>> make(const tcp_network_options& options,
                                                    buffer_table& buffers);
  ~tcp_network() override;
  tcp_network(const tcp_network&) = delete;
  tcp_network& operator=(const tcp_network&) = delete;

  lane_kind kind() const override { return lane_kind::tcp; }
  lane_address address() const override;
  void dial(const lane_address& to, std::uint64_t context, instant deadline) override;
  void cancel_dial(std::uint64_t context) override;
  std::size_t poll(instant now, std::span<network_event> out) override;
  instant next_deadline() const override;
  int wait_descriptor() const override;
  std::uint64_t refused_total() const override;

 private:
  explicit tcp_network(std::unique_ptr<detail::tcp_world> world);

  std::unique_ptr<detail::tcp_world> world_;
};

}  // namespace troupe::net
