#include "actors/rank/failure_notice_wire.hpp"

#include <algorithm>

namespace troupe::actors {

namespace {

constexpr std::uint8_t version = 1;
constexpr std::size_t fixed_bytes = 21;
constexpr std::size_t text_bytes_max = notice_frame_bytes_max - fixed_bytes;

template <class Integer>
void put(notice_frame& frame, Integer value) {
  for (std::size_t i = 0; i < sizeof value; ++i)
    frame.bytes[frame.length++] = static_cast<std::byte>(value >> (8 * i));
}

template <class Integer>
Integer get(std::span<const std::byte> bytes, std::size_t at) {
  Integer value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i)
    value = static_cast<Integer>(value | std::to_integer<Integer>(bytes[at + i]) << (8 * i));
  return value;
}

}  // namespace

notice_frame encode(const notice& n) {
  notice_frame frame;
  put<std::uint8_t>(frame, version);
  put(frame, static_cast<std::uint8_t>(n.kind));
  put(frame, static_cast<std::uint16_t>(n.why.what.code));
  put(frame, n.communicator.value);
  put(frame, n.epoch.value);
  put(frame, n.why.what.peer.value);
  put(frame, static_cast<std::uint32_t>(n.why.what.native));
  const auto length = std::min(n.why.message.size(), text_bytes_max);
  put(frame, static_cast<std::uint8_t>(length));
  for (std::size_t i = 0; i < length; ++i)
    frame.bytes[frame.length++] = static_cast<std::byte>(n.why.message[i]);
  return frame;
}

result<notice> decode_notice(std::span<const std::byte> bytes) {
  if (bytes.size() < fixed_bytes) return fail(errc::malformed);
  if (get<std::uint8_t>(bytes, 0) != version) return fail(errc::version_mismatch);
  const auto kind = get<std::uint8_t>(bytes, 1);
  if (kind < 1 || kind > 3) return fail(errc::malformed);
  const auto code = static_cast<errc>(get<std::uint16_t>(bytes, 2));
  if (to_string(code) == "unknown") return fail(errc::malformed);
  const auto text_length = get<std::uint8_t>(bytes, 20);
  if (bytes.size() != fixed_bytes + text_length) return fail(errc::malformed);

  notice n;
  n.kind = static_cast<notice_kind>(kind);
  n.communicator.value = get<std::uint32_t>(bytes, 4);
  n.epoch.value = get<std::uint32_t>(bytes, 8);
  n.why.what = {code, static_cast<std::int32_t>(get<std::uint32_t>(bytes, 16)),
                rank{get<std::uint32_t>(bytes, 12)}};
  n.why.message.reserve(text_length);
  for (std::size_t i = 0; i < text_length; ++i)
    n.why.message.push_back(std::to_integer<char>(bytes[fixed_bytes + i]));
  return n;
}

}  // namespace troupe::actors
