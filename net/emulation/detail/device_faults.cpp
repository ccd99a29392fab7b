#include "net/emulation/detail/device_faults.hpp"

#include <array>

#include "net/emulation/detail/settings.hpp"

namespace troupe::net::emulation {

bool device_faults::take_one(std::atomic<std::uint32_t>& left) {
  auto count = left.load();
  while (count != 0)
    if (left.compare_exchange_weak(count, count - 1)) return true;
  return false;
}

device_faults& faults_of(std::uint32_t index) {
  static std::array<device_faults, device_count_max> all;
  return all[index];
}

}  // namespace troupe::net::emulation
