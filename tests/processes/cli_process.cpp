#include "tests/processes/cli_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <csignal>
#include <sstream>
#include <thread>

namespace troupe::tests {
namespace {

using clock = std::chrono::steady_clock;

std::pair<int, int> make_pipe() {
  std::array<int, 2> ends{};
  BOOST_REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  return {ends[0], ends[1]};
}

/// Both ends of a pseudo terminal that passes bytes unchanged.
std::pair<int, int> make_terminal() {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  BOOST_REQUIRE(master >= 0 && ::grantpt(master) == 0 && ::unlockpt(master) == 0);
  const int slave = ::open(::ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
  BOOST_REQUIRE(slave >= 0);
  termios settings{};
  ::tcgetattr(slave, &settings);
  ::cfmakeraw(&settings);
  ::tcsetattr(slave, TCSANOW, &settings);
  return {master, slave};
}

[[noreturn]] void become_cli(const cli_setup& setup, int input, int out, int error) {
  ::setpgid(0, 0);  // a test sends signals to the launcher alone, as kill(1) does
  ::dup2(input, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(error, STDERR_FILENO);
  ::close_range(STDERR_FILENO + 1, ~0u, 0);  // a test runner leaves some open
  for (const auto& [name, value] : setup.environment)
    ::setenv(name.c_str(), value.c_str(), 1);
  if (setup.descriptor_limit) ::setrlimit(RLIMIT_NOFILE, &*setup.descriptor_limit);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE})
    std::signal(number, SIG_DFL);
  std::vector<char*> words{const_cast<char*>(TROUPE_PROGRAM)};
  for (const std::string& word : setup.arguments)
    words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execv(words[0], words.data());
  ::_exit(125);
}

}  // namespace

cli_process::cli_process(cli_setup setup) : start_(clock::now()) {
  const auto [input_read, input_write] = make_pipe();
  const auto [out_read, out_write] = setup.on_terminal ? make_terminal() : make_pipe();
  const auto [error_read, error_write] = make_pipe();
  pid_ = ::fork();
  BOOST_REQUIRE(pid_ >= 0);
  if (pid_ == 0) become_cli(setup, input_read, out_write, error_write);
  for (const int end : {input_read, out_write, error_write})
    ::close(end);
  BOOST_REQUIRE(::write(input_write, setup.input.data(), setup.input.size()) ==
                static_cast<ssize_t>(setup.input.size()));
  ::close(input_write);
  out_ = out_read;
  error_ = error_read;
}

cli_process::~cli_process() {
  for (const int end : {out_, error_})
    if (end >= 0) ::close(end);
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

bool cli_process::read_some(clock::time_point until) {
  std::array<pollfd, 2> wanted{{{out_, POLLIN, 0}, {error_, POLLIN, 0}}};
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now()).count();
  if (left <= 0 || ::poll(wanted.data(), wanted.size(), static_cast<int>(left)) <= 0) return false;
  std::array<char, 65536> bytes;
  for (auto [end, text] : {std::pair{&out_, &result_.out}, std::pair{&error_, &result_.error}}) {
    const auto& asked = wanted[end == &out_ ? 0 : 1];
    if (*end < 0 || asked.revents == 0) continue;
    const ssize_t count = ::read(*end, bytes.data(), bytes.size());
    if (count > 0)
      text->append(bytes.data(), static_cast<std::size_t>(count));
    else
      ::close(std::exchange(*end, -1));
  }
  return out_ >= 0 || error_ >= 0;
}

bool cli_process::wait_for_output(const std::string& text, int count) {
  const auto until = clock::now() + std::chrono::seconds(20);
  while (count_of(text, result_.out) < count)
    if (!read_some(until)) return count_of(text, result_.out) >= count;
  return true;
}

void cli_process::send(int signal) const {
  BOOST_REQUIRE(::kill(pid_, signal) == 0);
}

cli_result cli_process::stop_reading_output() {
  ::close(std::exchange(out_, -1));
  return finish();
}

cli_result cli_process::finish(std::chrono::seconds limit) {
  const auto until = clock::now() + limit;
  while (read_some(until)) {
  }
  return wait_for_end(until);
}

cli_result cli_process::finish_unread(std::chrono::seconds limit) {
  return wait_for_end(clock::now() + limit);
}

cli_result cli_process::wait_for_end(clock::time_point until) {
  int status = 0;
  pid_t ended = 0;
  while ((ended = ::waitpid(pid_, &status, WNOHANG)) == 0 && clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  BOOST_REQUIRE_MESSAGE(ended == pid_,
                        "troupe did not end in time; it wrote: " << result_.out << result_.error);
  pid_ = -1;
  result_.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result_.seconds = std::chrono::duration<double>(clock::now() - start_).count();
  return result_;
}

cli_result run_cli(std::vector<std::string> arguments) {
  cli_setup setup;
  setup.arguments = std::move(arguments);
  return run_cli(std::move(setup));
}

cli_result run_cli(cli_setup setup) {
  return cli_process(std::move(setup)).finish();
}

std::vector<std::string> launch_shell(std::vector<std::string> options, const std::string& script) {
  std::vector<std::string> words{"launch"};
  words.insert(words.end(), options.begin(), options.end());
  for (const char* word : {"--", "sh", "-c"})
    words.emplace_back(word);
  words.push_back(script);
  return words;
}

std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

int count_of(const std::string& part, const std::string& text) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

bool is_gone(pid_t pid) {
  const auto until = clock::now() + std::chrono::seconds(2);
  while (::kill(pid, 0) == 0 || errno != ESRCH) {
    if (clock::now() >= until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace troupe::tests
