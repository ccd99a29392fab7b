#pragma once

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <utility>

#include "tests/actors/local_job.hpp"

namespace troupe::test {

/// Ends the test case if a rank did not join, and says why.
inline void require_joined(const local_job& job) {
  for (std::size_t r = 0; r < job.size(); ++r)
    BOOST_REQUIRE_MESSAGE(job.ranks[r], "rank " << r << ": " << to_string(job.failures[r]));
}

/// How a call ended: what it or its work failed with; code ok if neither did.
inline failure outcome_of(outcome<work_handle> started, duration limit = std::chrono::seconds(20)) {
  if (!started) return started.error();
  const auto done = (*started)->wait(limit);
  return done ? failure{} : done.error();
}

inline bool good(outcome<work_handle> started) {
  return outcome_of(std::move(started)).code() == errc::ok;
}

}  // namespace troupe::test
