#include "net/emulation/detail/control.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <mutex>

#include "net/emulation/control_name.hpp"
#include "net/emulation/detail/clock.hpp"
#include "net/emulation/detail/device.hpp"
#include "net/emulation/detail/device_faults.hpp"
#include "net/emulation/detail/misuse.hpp"
#include "net/emulation/detail/nic.hpp"
#include "net/emulation/detail/settings.hpp"
#include "net/emulation/detail/signals_blocked.hpp"

namespace troupe::net::emulation {

namespace {

constexpr std::size_t guest_count_max = 16;
constexpr std::size_t line_bytes_max = 4096;
constexpr std::size_t pending_count_max = 10'000;

// The open devices of this process. Verbs have no object above a device, and faults are given to a
// process, so this is one of the few things that are the process's.
struct open_devices {
  std::mutex opening;  ///< held while the channel starts and ends
  std::mutex mutex;    ///< guards `all`
  std::vector<nic*> all;
  std::unique_ptr<control_channel> channel;
};

// Never ends: a program may exit with devices open, and their threads go on until the very end.
open_devices& devices() {
  static open_devices& held = *std::make_unique<open_devices>().release();
  return held;
}

// What the command changes on every open handle of the device.
void tell_open(std::uint32_t device, void (*what)(nic&)) {
  for (auto* const opened : devices().all)
    if (opened->device_index() == device) what(*opened);
}

void clear(std::uint32_t device) {
  auto& faults = faults_of(device);
  faults.delay_ns = faults.reorder_ns = faults.registration_ns = 0;
  faults.loss_ppm = faults.duplicate_ppm = 0;
  faults.completions_to_lose = faults.registrations_to_fail = 0;
  if (faults.is_down.exchange(false))
    tell_open(device, [](nic& at) { at.take_changes(IBV_EVENT_PORT_ACTIVE); });
}

void apply(std::uint32_t device, const fault_command& command) {
  auto& faults = faults_of(device);
  const auto small = static_cast<std::uint32_t>(command.amount);
  switch (command.what) {
    case fault::down:
      if (!faults.is_down.exchange(true))
        tell_open(device, [](nic& at) { at.take_changes(IBV_EVENT_PORT_ERR); });
      break;
    case fault::up:
      if (faults.is_down.exchange(false))
        tell_open(device, [](nic& at) { at.take_changes(IBV_EVENT_PORT_ACTIVE); });
      break;
    case fault::delay: faults.delay_ns = command.amount; break;
    case fault::reorder: faults.reorder_ns = command.amount; break;
    case fault::loss: faults.loss_ppm = small; break;
    case fault::duplicate: faults.duplicate_ppm = small; break;
    case fault::lose_completions: faults.completions_to_lose = small; break;
    case fault::slow_registration: faults.registration_ns = command.amount; break;
    case fault::fail_registrations: faults.registrations_to_fail = small; break;
    case fault::change_gid:
      ++faults.gid_changes;
      tell_open(device, [](nic& at) { at.take_changes(IBV_EVENT_GID_CHANGE); });
      break;
    case fault::break_qps: tell_open(device, [](nic& at) { at.break_queue_pairs(); }); break;
    case fault::clear: clear(device); break;
    case fault::status: break;
  }
}

std::string status_of(std::uint32_t device) {
  const auto& faults = faults_of(device);
  const auto say = [](const char* what, std::uint64_t value) {
    return ' ' + std::string(what) + '=' + std::to_string(value);
  };
  return " emu" + std::to_string(device) + " port=" + (faults.is_down ? "down" : "up") +
         say("requests", faults.requests) + say("bytes", faults.bytes) + say("lost", faults.lost) +
         say("duplicates", faults.duplicates) + say("timeouts", faults.timeouts) +
         say("completions_lost", faults.completions_lost) + say("gid_changes", faults.gid_changes);
}

// Carries out one command on all devices that it means; what a status asked for is added to
// `answer`. Errors: the text says that there is no such device.
std::string carry_out(const fault_command& command, std::string& answer) {
  const auto count = process_settings().device_count;
  if (command.device && *command.device >= count)
    return "this process has no emu" + std::to_string(*command.device) + ", only " +
           std::to_string(count) + " devices";
  const std::lock_guard guard(devices().mutex);
  for (std::uint32_t device = 0; device < count; ++device) {
    if (command.device && *command.device != device) continue;
    apply(device, command);
    if (command.what == fault::status) answer += status_of(device);
  }
  return "";
}

descriptor listen_control() {
  descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const auto name = control_name({.user = ::geteuid(),
                                  .job = process_settings().job,
                                  .process = static_cast<std::uint32_t>(::getpid()),
                                  .rank = process_settings().rank});
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto length = std::min(name.size(), sizeof address.sun_path - 1);
  std::memcpy(address.sun_path + 1, name.data(), length);
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  if (!socket.valid() ||
      ::bind(socket.number(), reinterpret_cast<const sockaddr*>(&address), bytes) != 0 ||
      ::listen(socket.number(), static_cast<int>(guest_count_max)) != 0) {
    complain("control channel", std::string("not there: ") + std::strerror(errno));
    return {};
  }
  return socket;
}

// Faults that the environment asks for, once in the life of the process.
std::vector<fault_command> faults_at_start() {
  static std::once_flag taken;
  std::vector<fault_command> commands;
  std::call_once(taken, [&] { commands = process_settings().faults; });
  return commands;
}

}  // namespace

void enroll(nic& opened) {
  auto& held = devices();
  const std::lock_guard opening(held.opening);
  {
    const std::lock_guard guard(held.mutex);
    held.all.push_back(&opened);
  }
  if (held.channel == nullptr) held.channel = std::make_unique<control_channel>();
}

void dismiss(nic& closed) {
  auto& held = devices();
  const std::lock_guard opening(held.opening);
  {
    const std::lock_guard guard(held.mutex);
    std::erase(held.all, &closed);
    if (!held.all.empty()) return;
  }
  held.channel.reset();
}

control_channel::control_channel()
    : socket_(listen_control()), stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  std::string answer;
  take(faults_at_start(), answer);
  if (!answer.empty()) complain("TROUPE_EMULATION_FAULTS", answer);
  const signals_blocked blocked;
  thread_ = std::thread([this] { run(); });
}

control_channel::~control_channel() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(stop_.number(), &one, sizeof one);
  thread_.join();
}

void control_channel::take(const std::vector<fault_command>& commands, std::string& answer) {
  const auto now = now_ns();
  for (const auto& command : commands) {
    if (command.after_ns != 0) {
      if (pending_.size() == pending_count_max) {
        answer = "error more than " + std::to_string(pending_count_max) + " commands wait";
        return;
      }
      const auto due = now + command.after_ns;
      const auto at = std::upper_bound(pending_.begin(), pending_.end(), due,
                                       [](std::uint64_t d, const pending& p) { return d < p.due; });
      pending_.insert(at, {due, command});
      continue;
    }
    if (const auto problem = carry_out(command, answer); !problem.empty()) {
      answer = "error " + problem;
      return;
    }
  }
}

void control_channel::carry_out_due() {
  const auto now = now_ns();
  while (!pending_.empty() && pending_.front().due <= now) {
    const auto command = pending_.front().command;
    pending_.erase(pending_.begin());
    std::string nobody_asked;
    if (const auto problem = carry_out(command, nobody_asked); !problem.empty())
      complain("control channel", problem);
  }
}

int control_channel::time_to_wait() const {
  if (pending_.empty()) return -1;
  const auto now = now_ns();
  const auto due = pending_.front().due;
  return due <= now ? 0 : static_cast<int>((due - now) / 1'000'000 + 1);
}

void control_channel::admit() {
  for (;;) {
    descriptor socket(::accept4(socket_.number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket.valid()) return;
    ucred who{};
    socklen_t length = sizeof who;
    const bool is_known =
        ::getsockopt(socket.number(), SOL_SOCKET, SO_PEERCRED, &who, &length) == 0 &&
        who.uid == ::geteuid();
    if (is_known && guests_.size() < guest_count_max) guests_.push_back({std::move(socket), {}});
  }
}

std::string control_channel::answer_to(const std::string& line) {
  const auto commands = read_fault_commands(line);
  if (!commands) return "error " + commands.error().message;
  std::string answer;
  take(*commands, answer);
  return answer.starts_with("error") ? answer : "ok" + answer;
}

bool control_channel::serve(guest& from) {
  char bytes[512];
  const auto got = ::recv(from.socket.number(), bytes, sizeof bytes, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (got <= 0) return false;
  from.unread.append(bytes, static_cast<std::size_t>(got));
  for (auto end = from.unread.find('\n'); end != std::string::npos; end = from.unread.find('\n')) {
    const auto answer = answer_to(from.unread.substr(0, end)) + '\n';
    from.unread.erase(0, end + 1);
    const auto sent =
        ::send(from.socket.number(), answer.data(), answer.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent != static_cast<ssize_t>(answer.size())) return false;
  }
  return from.unread.size() < line_bytes_max;
}

void control_channel::run() {
  for (;;) {
    std::vector<pollfd> entries{{stop_.number(), POLLIN, 0}, {socket_.number(), POLLIN, 0}};
    for (const auto& guest : guests_)
      entries.push_back({guest.socket.number(), POLLIN, 0});
    ::poll(entries.data(), entries.size(), time_to_wait());
    if (entries[0].revents != 0) return;
    carry_out_due();
    std::erase_if(guests_, [this](guest& from) { return !serve(from); });
    if (socket_.valid()) admit();
  }
}

}  // namespace troupe::net::emulation
