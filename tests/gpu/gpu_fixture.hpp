#pragma once

#include <boost/test/unit_test.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <utility>

#include "runtime/result.hpp"
#include "tests/gpu/members.hpp"

/// What tests on a GPU share. Their bodies run in children, where Boost.Test reports to nobody:
/// what must work there ends the child, and with it the test.
namespace troupe::test {

[[noreturn]] inline void give_up(const std::string& text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  std::abort();
}

template <class T>
T got(outcome<T>&& value) {
  if (!value) give_up(to_string(value.error()));
  if constexpr (!std::is_void_v<T>) return std::move(*value);
}

inline void check(const result<void>& done) {
  if (!done) give_up(to_string(failure(done.error(), "a call failed")));
}

/// Disables a test on a machine with fewer GPUs than it needs.
inline auto on_gpus(int needed) {
  return boost::unit_test::precondition([needed](boost::unit_test::test_unit_id) {
    const int found = visible_devices();
    if (found >= needed) return boost::test_tools::assertion_result(true);
    boost::test_tools::assertion_result refusal(false);
    refusal.message() << "needs " << needed << " GPUs, there are " << found;
    return refusal;
  });
}

inline auto on_a_gpu() {
  return on_gpus(1);
}

}  // namespace troupe::test
