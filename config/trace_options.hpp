#pragma once

#include <cstdint>
#include <string>

namespace troupe::config {

/// What a process remembers of its operations, and how it gives that out. Section [trace].
struct trace_options {
  std::uint32_t record_count = 512;     ///< operations that ended and are remembered
  std::string requests = "on";          ///< `troupe dump` and `troupe top` may ask this process
  std::string dump_signal = "SIGUSR2";  ///< "none": none
  std::string dump_directory;           ///< where failures and the signal write; empty: see page
};

}  // namespace troupe::config
