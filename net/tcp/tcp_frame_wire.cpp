#include "net/tcp/tcp_frame_wire.hpp"

#include "runtime/lane.hpp"

namespace troupe::net {

namespace {

template <class Integer>
void put(std::byte* at, Integer value) {
  for (std::size_t i = 0; i < sizeof(Integer); ++i)
    at[i] = static_cast<std::byte>(value >> 8 * i);
}

template <class Integer>
Integer get(const std::byte* at) {
  Integer value = 0;
  for (std::size_t i = 0; i < sizeof(Integer); ++i)
    value = static_cast<Integer>(value | std::to_integer<Integer>(at[i]) << 8 * i);
  return value;
}

}  // namespace

std::size_t encode(const tcp_frame& frame, std::span<std::byte, tcp_write_header_bytes> out) {
  out[0] = static_cast<std::byte>(frame.what);
  out[1] = std::byte{tcp_frame_version};
  out[2] = std::byte{0};
  out[3] = std::byte{0};
  put(&out[4], frame.immediate);
  put(&out[8], frame.bytes);
  if (frame.what == tcp_frame::kind::message) return tcp_message_header_bytes;
  put(&out[16], frame.target.key);
  put(&out[24], frame.target.offset);
  return tcp_write_header_bytes;
}

std::size_t header_bytes_of(std::span<const std::byte> bytes) {
  const bool is_write =
      !bytes.empty() && bytes[0] == static_cast<std::byte>(tcp_frame::kind::write);
  return is_write ? tcp_write_header_bytes : tcp_message_header_bytes;
}

result<tcp_frame> decode(std::span<const std::byte> bytes) {
  if (bytes.size() < header_bytes_of(bytes)) return fail(errc::malformed);
  if (bytes[1] != std::byte{tcp_frame_version}) return fail(errc::malformed);
  if (bytes[2] != std::byte{0} || bytes[3] != std::byte{0}) return fail(errc::malformed);
  tcp_frame frame;
  frame.immediate = get<std::uint32_t>(&bytes[4]);
  frame.bytes = get<std::uint64_t>(&bytes[8]);
  if (bytes[0] == static_cast<std::byte>(tcp_frame::kind::message)) {
    if (frame.immediate != 0 || frame.bytes > lane_message_bytes_max) return fail(errc::malformed);
    return frame;
  }
  if (bytes[0] != static_cast<std::byte>(tcp_frame::kind::write)) return fail(errc::malformed);
  frame.what = tcp_frame::kind::write;
  frame.target = {get<std::uint64_t>(&bytes[16]), get<std::uint64_t>(&bytes[24])};
  if (frame.bytes > tcp_write_bytes_max) return fail(errc::malformed);
  return frame;
}

}  // namespace troupe::net
