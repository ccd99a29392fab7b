#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/scenario/fault_plan.hpp"
#include "runtime/scenario/run_record.hpp"
#include "runtime/scenario/scenario.hpp"

namespace troupe::scenario {

/// How bad a finding is; worse is larger.
enum class judgement : std::uint8_t {
  good,
  missed_deadline,  ///< something took longer than it may, or never ended
  wrong_result,     ///< an outcome, data, a bound or a leak is not as expected
  crash,            ///< a process or an actor ended though nothing was to end it
};

std::string_view to_string(judgement value);

/// One thing that is not as it has to be.
struct finding {
  judgement how = judgement::wrong_result;
  std::uint32_t line = 0;  ///< of the expectation or fault; 0: what always has to hold
  std::string text;        ///< one line
};

/// What was expected of the run and did not hold, beside the expectations of the script:
/// - a rank of which no outcome is expected ends in ok, unless a fault ends it;
/// - operations that end ok hold exact data, unless an expectation says that it may be any;
/// - no process and no actor ends by itself;
/// - every fault that has to strike does, and the world can do what it says.
std::vector<finding> judge_run(const script& of, const fault_plan& plan, const run_record& record,
                               world_kind where);

/// The worst of all findings.
judgement worst_of(const std::vector<finding>& findings);

}  // namespace troupe::scenario
