#pragma once

#include <string>
#include <vector>

#include "runtime/result.hpp"

namespace troupe::cli {

/// What the user typed, without the program's own name: the words before the first "--" belong to
/// `troupe`, those after it to a program that it launches.
struct command_line {
  std::vector<std::string> words;
  bool has_program = false;
  std::vector<std::string> program;
};

command_line split_command_line(int count, const char* const* words);

/// Understands the words, does what they say and returns the exit code. Errors of the command line
/// go to standard error as one line, and help to standard output.
int run_command_line(const command_line& line);

/// Prints "troupe: error: ..." and returns the exit code that goes with the failure: usage for what
/// the user wrote, failure for everything else.
int report_failure(const failure& f);

}  // namespace troupe::cli
