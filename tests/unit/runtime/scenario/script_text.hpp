#pragma once

#include <string>

namespace troupe::scenario {

/// A small script that is right, in two parts: `more` goes between its own faults and expectations.
inline std::string script_with(const std::string& more) {
  return "story = \"s\"\n"
         "worlds = \"sim\"\n"
         "[topology]\n"
         "ranks = 4\n"
         "ranks_per_host = 2\n"
         "[workload]\n"
         "steps = 10\n"
         "[[workload.operation]]\n"
         "kind = \"all_reduce\"\n"
         "algorithm = \"ring\"\n" +
         more;
}

/// The line of `script_with` on which `more` begins.
inline constexpr int first_line_of_more = 11;

}  // namespace troupe::scenario
