#pragma once

#include <atomic>
#include <cstdint>

namespace troupe::net::emulation {

/// What is wrong with a device of this process, and what was counted on it. Every open handle of
/// the device sees the same. Thread: any.
struct device_faults {
  std::atomic<bool> is_down{false};
  std::atomic<std::uint64_t> delay_ns{0};
  std::atomic<std::uint64_t> reorder_ns{0};
  std::atomic<std::uint32_t> loss_ppm{0};
  std::atomic<std::uint32_t> duplicate_ppm{0};
  std::atomic<std::uint32_t> completions_to_lose{0};
  std::atomic<std::uint64_t> registration_ns{0};
  std::atomic<std::uint32_t> registrations_to_fail{0};
  std::atomic<std::uint32_t> gid_changes{0};

  // Counted since the process began.
  std::atomic<std::uint64_t> requests{0};
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::uint64_t> lost{0};  ///< transmissions, by `loss` or a full queue
  std::atomic<std::uint64_t> duplicates{0};
  std::atomic<std::uint64_t> timeouts{0};
  std::atomic<std::uint64_t> completions_lost{0};

  /// Takes one of a number of faults that are left; whether there was one.
  static bool take_one(std::atomic<std::uint32_t>& left);
};

/// Of device `index` of this process.
device_faults& faults_of(std::uint32_t index);

}  // namespace troupe::net::emulation
