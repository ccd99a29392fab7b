#pragma once

#include <string>

#include "runtime/result.hpp"

namespace troupe::cli {

/// One rank of a scenario in the process world: the program that `process_world` starts. It says
/// what happens in lines on standard output and is told what to do in lines on standard input:
///
///   out  footprint before D T M | joined | step N | call | ended CODE PEER WRONG TEXT
///        join_failed CODE PEER TEXT | members EPOCH NAME... | contributors NAME...
///        footprint after D T M
///   in   begin N | leave
///
/// Returns the exit code. Errors: bad_argument if the script cannot be read.
outcome<int> run_scenario_rank(const std::string& path);

}  // namespace troupe::cli
