#pragma once

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <thread>

namespace troupe::test {

inline std::size_t entries(const char* folder) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder))
    ++count;
  return count;
}

inline std::size_t resident_kib() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * 4;
}

/// What a process holds of its machine.
struct process_footprint {
  std::size_t threads = entries("/proc/self/task");
  std::size_t descriptors = entries("/proc/self/fd");
  std::size_t resident = resident_kib();

  /// Checks that the process holds no more than then, but for `slack_kib` of memory. Pages come and
  /// go with what threads happen to free last: where that is more than the slack, the caller gives
  /// the least of several samples, then and now.
  void check_nothing_left(std::size_t slack_kib, std::size_t resident_now = resident_kib()) const {
    // The kernel lists a thread for a moment after it was joined.
    for (int i = 0; i < 200 && entries("/proc/self/task") > threads; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    BOOST_TEST(entries("/proc/self/task") <= threads);
    BOOST_TEST(entries("/proc/self/fd") == descriptors);
#if defined(__SANITIZE_ADDRESS__)
    BOOST_TEST_MESSAGE(
        "memory not compared: AddressSanitizer keeps what was freed, and looks for "
        "leaks itself");
    (void)slack_kib;
    (void)resident_now;
#else
    BOOST_TEST(resident_now < resident + slack_kib);
#endif
  }
};

}  // namespace troupe::test
