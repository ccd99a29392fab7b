#include "actors/rank/membership_carrier.hpp"

#include <algorithm>

namespace troupe::actors {

namespace {

constexpr std::byte version{1};
constexpr std::byte part_kind{5};
constexpr std::byte first_flag{1};
constexpr std::byte last_flag{2};
constexpr std::size_t bytes_in_part = notice_frame_bytes_max - part_header_bytes;

}  // namespace

std::vector<notice_frame> cut(std::span<const std::byte> frame) {
  std::vector<notice_frame> parts;
  if (frame.size() > carried_frame_bytes_max || frame.empty()) return parts;
  for (std::size_t at = 0; at < frame.size(); at += bytes_in_part) {
    const auto length = std::min(bytes_in_part, frame.size() - at);
    auto& part = parts.emplace_back();
    part.bytes[0] = version;
    part.bytes[1] = part_kind;
    if (at == 0) part.bytes[2] |= first_flag;
    if (at + length == frame.size()) part.bytes[2] |= last_flag;
    std::copy_n(frame.begin() + static_cast<std::ptrdiff_t>(at), length,
                part.bytes.begin() + part_header_bytes);
    part.length = part_header_bytes + length;
  }
  return parts;
}

bool is_part(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && bytes[1] == part_kind;
}

result<std::optional<std::span<const std::byte>>> frame_assembler::add(
    std::span<const std::byte> part) {
  const auto refuse = [&](errc why) {
    begun_ = false;
    collected_.clear();
    return fail(why);
  };
  if (part.size() <= part_header_bytes || !is_part(part)) return refuse(errc::malformed);
  if (part[0] != version) return refuse(errc::version_mismatch);
  const auto flags = part[2];
  const bool odd = (flags & ~(first_flag | last_flag)) != std::byte{0} || part[3] != std::byte{0};
  if (odd) return refuse(errc::malformed);
  if ((flags & first_flag) != std::byte{0}) {
    // What a broken link left half sent is dropped.
    collected_.clear();
    begun_ = true;
  }
  const auto body = part.subspan(part_header_bytes);
  if (!begun_ || collected_.size() + body.size() > carried_frame_bytes_max)
    return refuse(errc::malformed);
  collected_.insert(collected_.end(), body.begin(), body.end());
  if ((flags & last_flag) == std::byte{0}) return std::optional<std::span<const std::byte>>();
  begun_ = false;
  return std::optional<std::span<const std::byte>>(collected_);
}

}  // namespace troupe::actors
