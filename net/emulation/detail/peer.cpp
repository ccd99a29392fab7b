#include "net/emulation/detail/peer.hpp"

#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "net/emulation/detail/misuse.hpp"

namespace troupe::net::emulation {

namespace {

struct unix_name {
  sockaddr_un address{};
  socklen_t length = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

unix_name name_of(const std::string& job, std::uint32_t context_id) {
  // The leading zero makes it abstract.
  const auto text = std::string(1, '\0') + "troupe.emulation." + std::to_string(::geteuid()) + '.' +
                    job + '.' + std::to_string(context_id);
  unix_name name;
  name.address.sun_family = AF_UNIX;
  const auto length = std::min(text.size(), sizeof name.address.sun_path);
  std::memcpy(name.address.sun_path, text.data(), length);
  name.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
  return name;
}

descriptor make_socket() {
  return descriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

ucred user_of(const descriptor& socket) {
  ucred who{};
  socklen_t length = sizeof who;
  if (::getsockopt(socket.number(), SOL_SOCKET, SO_PEERCRED, &who, &length) != 0)
    return {0, ~uid_t{0}, 0};
  return who;
}

// The greeting: the number of the layout, and two descriptors, segment and wake.
union control_buffer {
  cmsghdr header;
  char bytes[CMSG_SPACE(2 * sizeof(int))];
};

void greet(const descriptor& guest, int segment_file, int wake) {
  std::uint32_t version = segment_version;
  iovec piece{&version, sizeof version};
  control_buffer control{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  const std::array<int, 2> files{segment_file, wake};
  auto* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof files);
  std::memcpy(CMSG_DATA(header), files.data(), sizeof files);
  ::sendmsg(guest.number(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

bool has_left(const descriptor& socket) {
  pollfd entry{socket.number(), POLLRDHUP, 0};
  return ::poll(&entry, 1, 0) == 1 && (entry.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

// Moving bytes between processes is a permission of its own; without it nothing works.
void check_reach(::pid_t process, const segment& of) {
  std::uint32_t magic = 0;
  iovec here{&magic, sizeof magic};
  iovec there{reinterpret_cast<void*>(of.header().own_address), sizeof magic};
  if (::process_vm_readv(process, &here, 1, &there, 1, 0) == sizeof magic || errno == ESRCH) return;
  misuse("connecting queue pairs",
         "the memory of process " + std::to_string(process) +
             " cannot be read: " + std::strerror(errno) +
             " (process_vm_readv); emulated NICs need it: run all ranks as one user and in one "
             "process namespace, with kernel.yama.ptrace_scope at most 1");
}

}  // namespace

peer::peer(descriptor socket, ::pid_t process)
    : socket_(std::move(socket)), process_(process == ::getpid() ? 0 : process) {}

void peer::receive() {
  std::uint32_t version = 0;
  iovec piece{&version, sizeof version};
  control_buffer control{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  const auto received = ::recvmsg(socket_.number(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (received < 0 && (errno == EAGAIN || errno == EINTR)) return;
  std::array<int, 2> files{-1, -1};
  const auto* const header = CMSG_FIRSTHDR(&message);
  if (received > 0 && header != nullptr && header->cmsg_type == SCM_RIGHTS &&
      header->cmsg_len == CMSG_LEN(sizeof files))
    std::memcpy(files.data(), CMSG_DATA(header), sizeof files);
  descriptor file(files[0]);
  wake_ = descriptor(files[1]);
  if (file.valid() && version == segment_version) mapped_ = segment::of_peer(std::move(file));
  gone_ = !mapped_.valid();
  if (gone_) return;
  if (process_ != 0) check_reach(process_, mapped_);
  view_ = &mapped_;
}

bool peer::is_ready() {
  if (view_ == nullptr && !gone_) receive();
  return view_ != nullptr;
}

bool peer::wait_until_ready(int timeout_ms) {
  if (is_ready() || gone_) return view_ != nullptr;
  pollfd entry{socket_.number(), POLLIN, 0};
  ::poll(&entry, 1, timeout_ms);
  return is_ready();
}

bool peer::is_alive() {
  if (!socket_.valid()) return true;
  if (!gone_) gone_ = has_left(socket_);
  return !gone_;
}

void peer::ring(std::uint32_t slot) const {
  if (!view_->ring(slot)) return;
  const std::uint64_t one = 1;
  const int wake = wake_.valid() ? wake_.number() : own_wake_;
  // Full means that it is awake already.
  [[maybe_unused]] const auto written = ::write(wake, &one, sizeof one);
}

doorway doorway::open(const std::string& job) {
  doorway made;
  made.job_ = job;
  std::uint32_t start = 0;
  if (::getrandom(&start, sizeof start, 0) != sizeof start) return made;
  for (std::uint32_t i = 0; i < context_id_max; ++i) {
    auto socket = make_socket();
    if (!socket.valid()) return made;
    made.context_id_ = 1 + (start + i) % context_id_max;
    const auto name = name_of(job, made.context_id_);
    if (::bind(socket.number(), name.get(), name.length) != 0) {
      if (errno == EADDRINUSE) continue;
      return made;
    }
    if (::listen(socket.number(), SOMAXCONN) == 0) made.socket_ = std::move(socket);
    return made;
  }
  errno = ENOSPC;
  return made;
}

void doorway::serve(int segment_file, int wake) {
  std::erase_if(guests_, has_left);
  for (;;) {
    descriptor guest(::accept4(socket_.number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!guest.valid()) return;
    if (user_of(guest).uid != ::geteuid()) continue;
    greet(guest, segment_file, wake);
    guests_.push_back(std::move(guest));
  }
}

std::unique_ptr<peer> doorway::find(std::uint32_t context_id) const {
  auto socket = make_socket();
  const auto name = name_of(job_, context_id);
  if (!socket.valid() || ::connect(socket.number(), name.get(), name.length) != 0) return nullptr;
  const auto who = user_of(socket);
  if (who.uid != ::geteuid()) return nullptr;
  return std::make_unique<peer>(std::move(socket), who.pid);
}

}  // namespace troupe::net::emulation
