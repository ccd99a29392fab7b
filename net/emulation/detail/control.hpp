#pragma once

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "net/emulation/fault_command.hpp"
#include "runtime/descriptor.hpp"

namespace troupe::net::emulation {

class nic;

/// Opens the control channel with the first open device of the process and closes it with the last
/// (docs/emulation.md). Commands act on devices, and on every open handle of them.
void enroll(nic& opened);
void dismiss(nic& closed);

/// Listens on an abstract socket that the job and the process name, carries out commands, and those
/// that were given for later when their time comes. One line in, one line out.
class control_channel {
 public:
  control_channel();
  ~control_channel();
  control_channel(const control_channel&) = delete;
  control_channel& operator=(const control_channel&) = delete;

 private:
  /// Somebody who gives commands.
  struct guest {
    descriptor socket;
    std::string unread;
  };
  /// A command that waits for its time.
  struct pending {
    std::uint64_t due = 0;
    fault_command command;
  };

  void run();
  int time_to_wait() const;
  void take(const std::vector<fault_command>& commands, std::string& answer);
  void carry_out_due();
  void admit();
  /// Whether the guest stays.
  bool serve(guest& from);
  std::string answer_to(const std::string& line);

  descriptor socket_;
  descriptor stop_;
  std::vector<guest> guests_;
  std::vector<pending> pending_;  ///< in the order of their times
  std::thread thread_;
};

}  // namespace troupe::net::emulation
