#include "net/shm/shm_frame_wire.hpp"

#include "net/shm/detail/little_endian.hpp"
#include "runtime/lane.hpp"

namespace troupe::net {

using detail::get;
using detail::put;

std::size_t encode(const shm_frame& frame, std::span<std::byte, shm_source_header_bytes> out) {
  out[0] = static_cast<std::byte>(frame.what);
  out[1] = std::byte{shm_frame_version};
  out[2] = std::byte{0};
  out[3] = std::byte{0};
  put(&out[4], frame.immediate);
  put(&out[8], frame.bytes);
  if (frame.what == shm_frame::kind::message) return shm_message_header_bytes;
  put(&out[16], frame.target.key);
  put(&out[24], frame.target.offset);
  if (frame.what == shm_frame::kind::inline_write) return shm_inline_header_bytes;
  put(&out[32], frame.source);
  put(&out[40], std::uint64_t{0});
  return shm_source_header_bytes;
}

namespace {

std::uint64_t longest(shm_frame::kind what) {
  switch (what) {
    case shm_frame::kind::message: return lane_message_bytes_max;
    case shm_frame::kind::inline_write: return shm_inline_bytes_max;
    case shm_frame::kind::source_write: return shm_write_bytes_max;
  }
  return 0;
}

}  // namespace

result<shm_frame> decode_shm_frame(std::span<const std::byte> bytes) {
  if (bytes.size() < shm_message_header_bytes) return fail(errc::malformed);
  const auto kind = std::to_integer<unsigned>(bytes[0]);
  if (kind < 1 || kind > 3) return fail(errc::malformed);
  shm_frame frame{.what = static_cast<shm_frame::kind>(kind), .target = {}};
  if (bytes.size() < header_bytes(frame.what)) return fail(errc::malformed);
  const bool reserved = bytes[2] != std::byte{0} || bytes[3] != std::byte{0};
  if (bytes[1] != std::byte{shm_frame_version} || reserved) return fail(errc::malformed);
  frame.immediate = get<std::uint32_t>(&bytes[4]);
  frame.bytes = get<std::uint64_t>(&bytes[8]);
  if (frame.bytes > longest(frame.what)) return fail(errc::malformed);
  if (frame.what == shm_frame::kind::message)
    return frame.immediate == 0 ? result<shm_frame>(frame) : fail(errc::malformed);
  frame.target = {get<std::uint64_t>(&bytes[16]), get<std::uint64_t>(&bytes[24])};
  if (frame.what == shm_frame::kind::inline_write) return frame;
  frame.source = get<std::uint64_t>(&bytes[32]);
  if (get<std::uint64_t>(&bytes[40]) != 0) return fail(errc::malformed);
  return frame;
}

}  // namespace troupe::net
