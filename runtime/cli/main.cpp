#include "runtime/cli/command_line.hpp"

int main(int count, char** words) {
  return troupe::cli::run_command_line(troupe::cli::split_command_line(count, words));
}
