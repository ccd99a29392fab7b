#include "net/wire/eager_wire.hpp"

#include "net/wire/control_wire.hpp"
#include "net/wire/transfer_wire.hpp"

namespace troupe::net {

namespace {

constexpr std::size_t first_reserved_bytes = 3;
constexpr std::size_t last_reserved_bytes = 8;

bool all_zero(std::span<const std::byte> bytes) {
  for (const auto b : bytes) {
    if (b != std::byte{0}) return false;
  }
  return true;
}

}  // namespace

void encode(const eager_header& header, std::span<std::byte, eager_header_bytes> out) {
  byte_writer writer(out);
  writer.put(link_wire_version);
  writer.pad_to(1 + first_reserved_bytes);
  writer.put(header.payload_bytes);
  encode(writer, header.id);
  encode(writer, header.signature);
  writer.put(header.control_acknowledged);
  writer.put(header.data_acknowledged.value);
  writer.put(header.slots_consumed);
  writer.pad_to(eager_header_bytes);
}

result<eager_header> decode_eager_header(std::span<const std::byte> bytes) {
  if (bytes.size() < eager_header_bytes) return fail(errc::malformed);
  byte_reader in(bytes.first(eager_header_bytes));
  if (in.get<std::uint8_t>() != link_wire_version) return fail(errc::version_mismatch);
  bool good = all_zero(in.get_bytes(first_reserved_bytes));
  eager_header header;
  header.payload_bytes = in.get<std::uint32_t>();
  header.id = decode_transfer_id(in);
  good = decode_signature(in, header.signature) && good;
  header.control_acknowledged = in.get<std::uint32_t>();
  header.data_acknowledged.value = in.get<std::uint32_t>();
  header.slots_consumed = in.get<std::uint32_t>();
  good = all_zero(in.get_bytes(last_reserved_bytes)) && good;
  good = header.data_acknowledged.value <= sequence_mask && good;
  if (!good || !in.complete()) return fail(errc::malformed);
  return header;
}

}  // namespace troupe::net
