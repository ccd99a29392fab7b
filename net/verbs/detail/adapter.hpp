#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "config/verbs_options.hpp"
#include "net/verbs/detail/completion_queues.hpp"
#include "net/verbs/detail/handles.hpp"
#include "net/verbs/detail/local_memory.hpp"
#include "net/verbs/detail/slot_memory.hpp"
#include "net/verbs/port_choice.hpp"
#include "runtime/buffer_table.hpp"
#include "runtime/result.hpp"

namespace troupe::net::detail {

/// Sizes of the queues of one lane.
struct lane_sizes {
  std::uint32_t depth = 0;     ///< writes
  std::uint32_t messages = 0;  ///< messages
  std::uint32_t requests = 0;  ///< send requests under way
  std::uint32_t services = 0;  ///< of those, sends that the lane makes for itself
  std::uint32_t receives = 0;  ///< posted receives: the credits of the peer
  std::uint32_t inline_bytes = 0;
  std::uint32_t piece_bytes = 0;  ///< longest write of one request

  slot_counts slots() const { return {messages + services, receives}; }
  std::uint32_t completions() const { return requests + receives; }
};

/// An open port of a device, and what the lanes on it share.
class adapter {
 public:
  struct request {
    verbs_port port;
    std::uint16_t index = 0;
  };

  /// Errors: those of `verbs_network::make`.
  static outcome<std::unique_ptr<adapter>> open(const request& what,
                                                const config::verbs_options& options,
                                                const buffer_table& buffers);

  const verbs_port& port() const { return port_; }
  std::uint16_t index() const { return index_; }
  ibv_context& device() const { return *device_; }
  ibv_pd& domain() const { return *domain_; }
  const lane_sizes& sizes() const { return sizes_; }
  completion_queues& queues() { return *queues_; }
  local_memory& memory() { return *memory_; }
  int channel_descriptor() const { return channel_->fd; }
  int event_descriptor() const { return device_->async_fd; }
  const config::verbs_options& options() const { return options_; }

  bool port_is_active() const;

  // As the port is now; read when the device is opened, and again for each queue pair, since an
  // address may have changed.
  struct address {
    verbs_gid gid;
    std::uint16_t local_id = 0;
    std::uint16_t mtu_bytes = 1024;
  };
  /// Errors: as `open`.
  outcome<address> read_address() const;

 private:
  adapter(const request& what, const config::verbs_options& options)
      : port_(what.port), index_(what.index), options_(options) {}

  outcome<void> read_limits();
  outcome<void> try_lane();

  verbs_port port_;
  std::uint16_t index_;
  config::verbs_options options_;
  device_context device_;
  protection_domain domain_;
  completion_channel channel_;
  lane_sizes sizes_;
  std::unique_ptr<completion_queues> queues_;
  std::unique_ptr<local_memory> memory_;
};

/// "RLIMIT_MEMLOCK is 64 KiB, and 110 KiB more are needed: raise it (ulimit -l unlimited)"; for
/// errno = ENOMEM of a registration.
std::string locked_memory_text(std::uint64_t needed_bytes);

}  // namespace troupe::net::detail
