#include "net/shm/detail/unix_socket.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

namespace troupe::net::detail {

namespace {

struct unix_name {
  sockaddr_un address{};
  socklen_t length = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

unix_name name_of(const lane_address& address) {
  // The leading zero makes it abstract.
  const auto text = std::string(1, '\0') + "troupe.shm." + to_string(address);
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

error connect_error(int code) {
  switch (code) {
    case EAGAIN: return {errc::queue_full, code};
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM: return {errc::resource_exhausted, code};
    default: return {errc::unreachable, code};
  }
}

// A descriptor beside the bytes of a packet.
union control_buffer {
  cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int))];
};

descriptor file_of(msghdr& message) {
  auto* const control = CMSG_FIRSTHDR(&message);
  if (control == nullptr || control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS)
    return {};
  int number = -1;
  if (control->cmsg_len >= CMSG_LEN(sizeof number))
    std::memcpy(&number, CMSG_DATA(control), sizeof number);
  return descriptor(number);
}

}  // namespace

result<descriptor> listen_unix(const lane_address& address, int backlog) {
  auto socket = make_socket();
  if (!socket.valid()) return fail(errc::system_failure, errno);
  const auto name = name_of(address);
  if (::bind(socket.number(), name.get(), name.length) != 0 ||
      ::listen(socket.number(), backlog) != 0)
    return fail(errc::system_failure, errno);
  return socket;
}

result<descriptor> connect_unix(const lane_address& address) {
  auto socket = make_socket();
  if (!socket.valid()) return tl::unexpected<error>(connect_error(errno));
  const auto name = name_of(address);
  if (::connect(socket.number(), name.get(), name.length) != 0)
    return tl::unexpected<error>(connect_error(errno));
  return socket;
}

unix_peer peer_of(const descriptor& socket) {
  ucred who{};
  socklen_t length = sizeof who;
  if (::getsockopt(socket.number(), SOL_SOCKET, SO_PEERCRED, &who, &length) != 0) return {};
  return {.process = who.pid, .same_user = who.uid == ::geteuid()};
}

bool send_packet(const descriptor& socket, std::span<const std::byte> bytes, int file) {
  iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  control_buffer control{};
  if (file >= 0) {
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    auto* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof file);
    std::memcpy(CMSG_DATA(header), &file, sizeof file);
  }
  const auto sent = ::sendmsg(socket.number(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  return sent == static_cast<ssize_t>(bytes.size());
}

unix_packet receive_packet(const descriptor& socket, std::span<std::byte> out) {
  iovec piece{out.data(), out.size()};
  control_buffer control{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  const auto received = ::recvmsg(socket.number(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  unix_packet packet;
  if (received < 0 && (errno == EAGAIN || errno == EINTR)) return packet;
  packet.what = received <= 0 ? unix_packet::kind::ended : unix_packet::kind::arrived;
  packet.bytes = received <= 0 ? 0 : static_cast<std::size_t>(received);
  packet.file = file_of(message);
  return packet;
}

bool has_hung_up(const descriptor& socket) {
  pollfd entry{socket.number(), POLLRDHUP, 0};
  return ::poll(&entry, 1, 0) == 1;
}

}  // namespace troupe::net::detail
