#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace troupe::tests {

/// How a test runs the `troupe` program.
struct cli_setup {
  std::vector<std::string> arguments;                            ///< without the program's name
  std::vector<std::pair<std::string, std::string>> environment;  ///< beside the test's own
  std::string input;                                             ///< standard input
  std::optional<rlimit> descriptor_limit;
  bool on_terminal = false;  ///< standard output is a pseudo terminal
};

/// What it did. 128 + n stands for death by signal n.
struct cli_result {
  int exit_code = -1;
  std::string out;
  std::string error;
  double seconds = 0;
};

/// `troupe`, started by a test. A run that exceeds its limit is killed and fails the test.
class cli_process {
 public:
  explicit cli_process(cli_setup setup);
  cli_process(const cli_process&) = delete;
  cli_process& operator=(const cli_process&) = delete;
  ~cli_process();

  /// Reads until standard output has `count` times `text`; false if it ended without.
  bool wait_for_output(const std::string& text, int count = 1);

  void send(int signal) const;
  const std::string& out() const { return result_.out; }

  /// Closes the reading end of standard output and waits for the end.
  cli_result stop_reading_output();

  /// Waits for the end and reads nothing.
  cli_result finish_unread(std::chrono::seconds limit = std::chrono::seconds(30));

  /// Reads everything and waits for the end.
  cli_result finish(std::chrono::seconds limit = std::chrono::seconds(30));

 private:
  cli_result wait_for_end(std::chrono::steady_clock::time_point until);
  bool read_some(std::chrono::steady_clock::time_point until);

  cli_result result_;
  pid_t pid_ = -1;
  int out_ = -1;
  int error_ = -1;
  std::chrono::steady_clock::time_point start_;
};

/// Starts, waits, returns.
cli_result run_cli(std::vector<std::string> arguments);
cli_result run_cli(cli_setup setup);

/// `troupe launch OPTIONS -- sh -c SCRIPT`.
std::vector<std::string> launch_shell(std::vector<std::string> options, const std::string& script);

/// The lines of a text, sorted: ranks write in any order.
std::vector<std::string> sorted_lines(const std::string& text);

/// How often `part` stands in `text`.
int count_of(const std::string& part, const std::string& text);

/// True once no process has this number, at the latest after two seconds.
bool is_gone(pid_t pid);

}  // namespace troupe::tests
