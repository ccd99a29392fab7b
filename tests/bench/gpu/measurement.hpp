#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/device/stream.hpp"
#include "runtime/result.hpp"
#include "tests/gpu/members.hpp"

namespace troupe::bench {

/// How calls are started and timed.
enum class call_mode {
  eager,          ///< many calls, one after the other, one wait at the end
  call_and_wait,  ///< each call is waited for on the host
  graph,          ///< a hundred calls captured into a graph, which is launched
};

const char* to_string(call_mode mode);

/// One line of the report.
struct row {
  std::string operation;
  std::string library;
  std::string variant;
  std::uint64_t bytes = 0;
  call_mode mode = call_mode::eager;
  double microseconds = 0;    ///< per call, of the slowest member; median of the rounds
  double busbw_gb_per_s = 0;  ///< by the formulas of nccl-tests
};

/// What is measured.
struct contender {
  std::string library;
  std::string variant;
  std::function<outcome<void>(kernels::stream_ref)> call;
};

/// One operation and size, by everybody who does it.
struct contest {
  std::string operation;
  std::uint64_t bytes = 0;
  double bus_factor = 1;  ///< busbw over bytes / time
  call_mode mode = call_mode::eager;
  std::vector<contender> contenders;
};

/// Lets all contenders take turns, five rounds, and prints a line for each at member 0. Stops with
/// an error of the first call that fails.
outcome<std::vector<row>> measure(test::member& who, const kernels::stream& in,
                                  const contest& what);

/// Rows as JSON: a list of objects.
void write_json(const std::string& path, const std::vector<row>& rows);

}  // namespace troupe::bench
