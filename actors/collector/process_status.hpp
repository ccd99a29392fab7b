#pragma once

#include <cstdint>
#include <string_view>

namespace troupe::actors {

/// What the kernel says of this process.
struct process_status {
  std::uint64_t threads = 0;
  std::uint64_t descriptors = 0;
  std::uint64_t resident_bytes = 0;
  std::uint64_t worker_switches = 0;  ///< involuntary, of all threads named troupe.worker
};

/// Reads /proc/self. What cannot be read is 0. Any thread; some 20 us and more with many threads.
process_status read_process_status();

/// The number behind "name:" in the text of a /proc status file; 0 if it is not there.
std::uint64_t status_number(std::string_view text, std::string_view name);

}  // namespace troupe::actors
