#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "config/shm_options.hpp"
#include "net/shm/shm_network.hpp"
#include "net/tcp/tcp_network.hpp"
#include "runtime/buffer_table.hpp"
#include "runtime/lane.hpp"
#include "runtime/result.hpp"

namespace troupe::net {

/// What lanes to peers of the same host are made of.
enum class host_lanes : std::uint8_t {
  preferred,  ///< shared memory; sockets, and a notice, where that does not come about
  required,   ///< shared memory; other lanes are refused
};

struct host_network_options {
  host_lanes lanes = host_lanes::preferred;
  tcp_network_options tcp;
  config::shm_options shm;
};

/// Lanes through shared memory to peers whose address is one of this host's, over TCP to all
/// others. Both ways in stand open, under one address. Plain lanes are TCP to everybody.
///
/// A dial to a peer of this host that fails in shared memory goes on over TCP, within the same
/// deadline, where shared memory is only preferred; when it stands, `take_notice` says why it is a
/// socket. Where it is required, the dial fails, and so does every dial to another host:
/// unreachable with EXDEV.
///
/// Cost:   while nothing moves on sockets they are asked every 20 us, every 100 us while the rings
///         are busy; otherwise in every poll.
class host_network final : public lane_network {
 public:
  /// Errors: those of `tcp_network::make`; where shared memory is required those of
  ///         `shm_network::make`, which otherwise become a notice.
  static outcome<std::unique_ptr<host_network>> make(const host_network_options& options,
                                                     buffer_table& buffers);
  ~host_network() override;
  host_network(const host_network&) = delete;
  host_network& operator=(const host_network&) = delete;

  /// The kind that it prefers.
  lane_kind kind() const override { return shm_ ? lane_kind::shm : lane_kind::tcp; }
  lane_kind kind_to(const lane_address& peer) const override;
  std::uint64_t kind_changes() const override { return kind_changes_; }
  std::string take_notice() override;

  lane_address address() const override { return tcp_->address(); }
  void dial(const lane_address& to, std::uint64_t context, instant deadline) override;
  void dial_plain(const lane_address& to, std::uint64_t context, instant deadline) override;
  void cancel_dial(std::uint64_t context) override;
  std::size_t poll(instant now, std::span<network_event> out) override;
  instant next_deadline() const override;
  instant prepare_to_wait() override;
  int wait_descriptor() const override { return epoll_; }
  std::uint64_t refused_total() const override;

 private:
  /// A dial to a peer of this host, first in shared memory, then over TCP.
  struct host_dial {
    std::uint64_t context = 0;
    lane_address to{};
    instant deadline = never;
    std::string why_not_shm;   ///< set when it goes on over TCP
    bool was_refused = false;  ///< in shared memory: nobody answered
    bool asked_again = false;
  };

  host_network(const host_network_options& options, std::unique_ptr<tcp_network> tcp,
               std::unique_ptr<shm_network> shm, int epoll);

  bool is_here(const lane_address& address) const;
  bool may_reach(const lane_address& to, std::uint64_t context);
  std::size_t poll_shm(instant now, std::span<network_event> out);
  std::size_t poll_tcp(instant now, std::span<network_event> out);
  bool tcp_is_due(instant now) const;
  bool keep_shm_event(network_event& event);
  bool keep_tcp_event(network_event& event);
  std::string reason_of(const error& cause, const lane_address& to) const;
  void note(const std::string& text);
  std::vector<host_dial>::iterator find(std::uint64_t context);

  host_lanes lanes_;
  std::unique_ptr<tcp_network> tcp_;
  std::unique_ptr<shm_network> shm_;  ///< null: it could not be had and is only preferred
  int epoll_;                         ///< of the descriptors of both; closed here
  std::vector<lane_address> here_;    ///< addresses of this host, port 0
  std::vector<host_dial> dials_;
  std::vector<network_event> failed_;   ///< dials that failed at once
  std::vector<lane_address> over_tcp_;  ///< peers of this host that sockets reach
  std::uint64_t kind_changes_ = 0;
  std::string notice_;
  instant now_{};
  instant tcp_polled_{};
  instant tcp_busy_until_{};
  std::uint32_t vain_polls_ = 0;
  bool waited_ = true;
};

}  // namespace troupe::net
