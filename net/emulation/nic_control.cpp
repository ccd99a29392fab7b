// troupe_nic: gives fault commands to the emulated NICs of running processes (docs/emulation.md).
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "net/emulation/control_name.hpp"
#include "net/emulation/fault_command.hpp"
#include "net/emulation/text_fields.hpp"

namespace {

using namespace troupe::net::emulation;

constexpr const char* usage =
    "Usage: troupe_nic [--job JOB] [--rank N | --process PID] COMMAND...\n"
    "\n"
    "Gives fault commands to the emulated NICs of a job's processes, of all or of one, and prints\n"
    "the answer of each. Commands, parted by ';', with emuN or all as DEVICE:\n"
    "  down DEVICE | up DEVICE | flap DEVICE down TIME up TIME count N\n"
    "  delay DEVICE TIME | reorder DEVICE TIME | loss DEVICE PERCENT | duplicate DEVICE PERCENT\n"
    "  lose_completions DEVICE N | slow_registration DEVICE TIME | fail_registrations DEVICE N\n"
    "  change_gid DEVICE | break_qps DEVICE | clear DEVICE | status [DEVICE]\n"
    "  after TIME COMMAND\n"
    "The job is \"default\" unless --job says otherwise.\n"
    "\n"
    "Exit code: 0 if every process did it, 1 if one refused or did not answer, 2 if the command\n"
    "line is wrong, 3 if there is no such process.\n";

struct call {
  std::string job = "default";
  std::string rank;
  std::optional<std::uint32_t> process;
  std::string command;
};

std::optional<call> wrong(const std::string& why) {
  std::fprintf(stderr, "troupe_nic: error: %s\n\n%s", why.c_str(), usage);
  return std::nullopt;
}

std::optional<call> read_call(std::span<char*> arguments) {
  call asked;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string word = arguments[i];
    if (!word.starts_with("--")) {
      asked.command += (asked.command.empty() ? "" : " ") + word;
      continue;
    }
    if (word != "--job" && word != "--rank" && word != "--process")
      return wrong("unknown option " + word);
    if (++i == arguments.size()) return wrong(word + " needs a value");
    const std::string value = arguments[i];
    const auto number = read_count(value, 0, ~std::uint32_t{0});
    if (word == "--job") asked.job = value;
    if (word != "--job" && !number) return wrong(word + ": " + number.error().message);
    if (word == "--rank") asked.rank = value;
    if (word == "--process") asked.process = *number;
  }
  if (asked.command.empty()) return wrong("no command");
  if (const auto commands = read_fault_commands(asked.command); !commands)
    return wrong(commands.error().message);
  return asked;
}

// The control channels that are open on this host and that the call means.
std::vector<control_owner> owners_of(const call& asked) {
  std::vector<control_owner> found;
  std::ifstream sockets("/proc/net/unix");
  for (std::string line; std::getline(sockets, line);) {
    const auto at = line.rfind('@');
    if (at == std::string::npos) continue;
    const auto owner = read_control_name(std::string_view(line).substr(at + 1));
    if (!owner || owner->user != ::geteuid() || owner->job != asked.job) continue;
    if (!asked.rank.empty() && owner->rank != asked.rank) continue;
    if (asked.process && owner->process != *asked.process) continue;
    // Connections show up under the same name.
    if (std::find(found.begin(), found.end(), *owner) == found.end()) found.push_back(*owner);
  }
  return found;
}

// The line that the process answers; empty, with errno, if it does not.
std::string ask(const control_owner& owner, const std::string& command) {
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto name = control_name(owner);
  const auto length = std::min(name.size(), sizeof address.sun_path - 1);
  std::memcpy(address.sun_path + 1, name.data(), length);
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  const auto line = command + '\n';
  std::string answer;
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), bytes) == 0 &&
      ::send(socket, line.data(), line.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(line.size())) {
    constexpr int answer_wait_ms = 10'000;
    pollfd entry{socket, POLLIN, 0};
    char part[4096];
    while (answer.find('\n') == std::string::npos) {
      if (::poll(&entry, 1, answer_wait_ms) != 1) {
        errno = ETIMEDOUT;
        break;
      }
      const auto got = ::recv(socket, part, sizeof part, 0);
      if (got <= 0) break;
      answer.append(part, static_cast<std::size_t>(got));
    }
  }
  ::close(socket);
  return answer.substr(0, answer.find('\n'));
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 2 && std::string_view(arguments[1]) == "--help") {
    std::fputs(usage, stdout);
    return 0;
  }
  const auto asked = read_call({arguments + 1, arguments + count});
  if (!asked) return 2;
  const auto owners = owners_of(*asked);
  if (owners.empty()) {
    std::fprintf(stderr,
                 "troupe_nic: error: no such process of job \"%s\" has an emulated NIC open\n",
                 asked->job.c_str());
    return 3;
  }
  int code = 0;
  for (const auto& owner : owners) {
    const auto answer = ask(owner, asked->command);
    if (!answer.starts_with("ok")) code = 1;
    std::printf("rank %s process %u: %s\n", owner.rank.empty() ? "-" : owner.rank.c_str(),
                owner.process,
                answer.empty() ? (std::string("no answer: ") + std::strerror(errno)).c_str()
                               : answer.c_str());
  }
  return code;
}
