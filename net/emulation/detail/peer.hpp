#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "net/emulation/detail/segment.hpp"
#include "runtime/descriptor.hpp"

namespace troupe::net::emulation {

/// An open device of this host, ours or another process's, as our NIC sees it: its segment, and how
/// to reach the memory of its process.
class peer {
 public:
  /// Our own device.
  explicit peer(const segment& own) : view_(&own), process_(0) {}
  /// Asks for the segment of the device behind `socket`.
  peer(descriptor socket, ::pid_t process);

  /// Whether the segment is there; looks for it without waiting.
  bool is_ready();
  /// Waits up to `timeout_ms` for the segment.
  bool wait_until_ready(int timeout_ms);
  /// Whether its process still runs, as far as the system said.
  bool is_alive();

  const segment& memory() const { return *view_; }
  /// Its process; 0 if that is ours.
  ::pid_t process() const { return process_; }

  /// Says that a slot has news, and wakes its NIC if it sleeps.
  void ring(std::uint32_t slot) const;

  /// What wakes our own NIC.
  void set_wake(int descriptor) { own_wake_ = descriptor; }

 private:
  void receive();

  descriptor socket_;  ///< open as long as its process runs
  descriptor wake_;
  int own_wake_ = -1;
  segment mapped_;
  const segment* view_ = nullptr;
  ::pid_t process_ = 0;
  bool gone_ = false;
};

/// The way to the segment of each open device of a job: an abstract socket named by its number. The
/// listening half belongs to one device.
class doorway {
 public:
  /// Takes a free number of `job`; not valid() if there is none (errno).
  static doorway open(const std::string& job);

  bool valid() const { return socket_.valid(); }
  std::uint32_t context_id() const { return context_id_; }
  int socket() const { return socket_.number(); }
  const std::vector<descriptor>& guests() const { return guests_; }

  /// Gives whoever knocked the two descriptors, and forgets those that left.
  void serve(int segment_file, int wake);

  /// Connects to device `context_id` of the same job and user; null if there is none.
  std::unique_ptr<peer> find(std::uint32_t context_id) const;

 private:
  std::string job_;
  std::uint32_t context_id_ = 0;
  descriptor socket_;
  std::vector<descriptor> guests_;
};

}  // namespace troupe::net::emulation
