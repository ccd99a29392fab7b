#include "net/verbs/verbs_frame_wire.hpp"

#include "net/wire/byte_codec.hpp"
#include "runtime/lane.hpp"

namespace troupe::net {

namespace {

// Chosen: far above what a link writes at once; a length beyond it is a broken peer.
constexpr std::uint64_t write_bytes_max = 1ull << 48;

}  // namespace

std::size_t header_bytes(verbs_frame::kind what) {
  switch (what) {
    case verbs_frame::kind::message:
    case verbs_frame::kind::credit: return verbs_message_header_bytes;
    case verbs_frame::kind::ask: return 16;
    case verbs_frame::kind::answer: return 40;
    case verbs_frame::kind::refused:
    case verbs_frame::kind::landed: return 24;
  }
  return 0;
}

std::size_t encode(const verbs_frame& frame, std::span<std::byte> out) {
  byte_writer to(out);
  to.put(static_cast<std::uint8_t>(frame.what));
  to.put(verbs_frame_version);
  to.put(std::uint16_t{0});
  to.put(frame.credits);
  switch (frame.what) {
    case verbs_frame::kind::message:
    case verbs_frame::kind::credit: break;
    case verbs_frame::kind::ask: to.put(frame.key); break;
    case verbs_frame::kind::answer:
      to.put(frame.key);
      to.put(frame.memory.address);
      to.put(frame.memory.bytes);
      to.put(frame.memory.remote_key);
      to.put(std::uint32_t{frame.alive});
      break;
    case verbs_frame::kind::refused:
    case verbs_frame::kind::landed:
      to.put(frame.immediate);
      to.put(std::uint32_t{0});
      to.put(frame.bytes);
      break;
  }
  return to.written();
}

result<verbs_frame> decode_verbs_frame(std::span<const std::byte> bytes) {
  byte_reader from(bytes);
  verbs_frame frame;
  const auto kind = from.get<std::uint8_t>();
  const auto version = from.get<std::uint8_t>();
  auto reserved = std::uint32_t{from.get<std::uint16_t>()};
  frame.credits = from.get<std::uint32_t>();
  if (from.failed() || kind < 1 || kind > 6) return fail(errc::malformed);
  if (version != verbs_frame_version) return fail(errc::version_mismatch, version);
  frame.what = static_cast<verbs_frame::kind>(kind);
  switch (frame.what) {
    case verbs_frame::kind::message:
      if (from.left() > lane_message_bytes_max || reserved != 0) return fail(errc::malformed);
      return frame;
    case verbs_frame::kind::credit: break;
    case verbs_frame::kind::ask: frame.key = from.get<std::uint64_t>(); break;
    case verbs_frame::kind::answer: {
      frame.key = from.get<std::uint64_t>();
      frame.memory.address = from.get<std::uint64_t>();
      frame.memory.bytes = from.get<std::uint64_t>();
      frame.memory.remote_key = from.get<std::uint32_t>();
      const auto alive = from.get<std::uint32_t>();
      frame.alive = alive == 1;
      const bool none = frame.memory == verbs_remote_memory{};
      const bool wraps = frame.memory.bytes > ~frame.memory.address;
      if (alive > 1 || (alive == 0 && !none) || wraps) return fail(errc::malformed);
      break;
    }
    case verbs_frame::kind::refused:
    case verbs_frame::kind::landed:
      frame.immediate = from.get<std::uint32_t>();
      reserved |= from.get<std::uint32_t>();
      frame.bytes = from.get<std::uint64_t>();
      if (frame.bytes > write_bytes_max) return fail(errc::malformed);
      break;
  }
  if (!from.complete() || reserved != 0) return fail(errc::malformed);
  return frame;
}

}  // namespace troupe::net
