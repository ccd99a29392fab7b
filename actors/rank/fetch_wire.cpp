#include "actors/rank/fetch_wire.hpp"

#include "net/wire/byte_codec.hpp"

namespace troupe::actors {

namespace {

constexpr std::uint8_t version = 1;
constexpr std::uint8_t fetch_kind = 4;

}  // namespace

notice_frame encode(const fetch& f) {
  notice_frame frame;
  net::byte_writer out(std::span(frame.bytes).first(fetch_bytes));
  out.put(version);
  out.put(fetch_kind);
  out.put(std::uint16_t{0});
  out.put(f.communicator.value);
  out.put(f.epoch.value);
  out.put(f.window);
  out.put(f.operation.value);
  out.put(f.offset);
  out.put(f.bytes);
  frame.length = fetch_bytes;
  return frame;
}

bool is_fetch(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && std::to_integer<std::uint8_t>(bytes[1]) == fetch_kind;
}

result<fetch> decode_fetch(std::span<const std::byte> bytes) {
  if (bytes.size() != fetch_bytes || !is_fetch(bytes)) return fail(errc::malformed);
  net::byte_reader in(bytes);
  if (in.get<std::uint8_t>() != version) return fail(errc::version_mismatch);
  in.get<std::uint8_t>();
  if (in.get<std::uint16_t>() != 0) return fail(errc::malformed);
  fetch f;
  f.communicator.value = in.get<std::uint32_t>();
  f.epoch.value = in.get<std::uint32_t>();
  f.window = in.get<std::uint32_t>();
  f.operation.value = in.get<std::uint64_t>();
  f.offset = in.get<std::uint64_t>();
  f.bytes = in.get<std::uint64_t>();
  const auto kind = f.operation.value & (one_sided_bit | fetch_bit);
  if (kind != (one_sided_bit | fetch_bit)) return fail(errc::malformed);
  return f;
}

}  // namespace troupe::actors
