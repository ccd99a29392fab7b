#define BOOST_TEST_MODULE process_status
#include "actors/collector/process_status.hpp"

#include <fcntl.h>
#include <boost/test/unit_test.hpp>

#include "runtime/descriptor.hpp"

namespace troupe::actors {
namespace {

BOOST_AUTO_TEST_CASE(a_number_is_found_by_its_whole_name) {
  constexpr const char* text = "Name:\tx\nVmRSSx:\t1 kB\nVmRSS:\t  1234 kB\nThreads:\t7\n";
  BOOST_TEST(status_number(text, "VmRSS") == 1234u);
  BOOST_TEST(status_number(text, "Threads") == 7u);
  BOOST_TEST(status_number(text, "Thread") == 0u);
  BOOST_TEST(status_number(text, "Name") == 0u);
  BOOST_TEST(status_number("", "Name") == 0u);
}

BOOST_AUTO_TEST_CASE(the_own_process_has_what_it_has) {
  const auto before = read_process_status();
  BOOST_TEST(before.threads >= 1u);
  BOOST_TEST(before.resident_bytes > 100'000u);
  const descriptor more(::open("/dev/null", O_RDONLY));
  BOOST_TEST(read_process_status().descriptors == before.descriptors + 1);
}

}  // namespace
}  // namespace troupe::actors
