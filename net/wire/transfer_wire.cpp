#include "net/wire/transfer_wire.hpp"

namespace troupe::net {

void encode(byte_writer& out, const transfer_id& id) {
  out.put(id.communicator.value);
  out.put(id.epoch.value);
  out.put(id.operation.value);
  out.put(id.step);
}

void encode(byte_writer& out, const operation_signature& signature) {
  out.put(static_cast<std::uint8_t>(signature.kind));
  out.put(static_cast<std::uint8_t>(signature.type));
  out.put(static_cast<std::uint8_t>(signature.op));
  out.put(std::uint8_t{0});
  out.put(signature.root);
  out.put(signature.count);
}

transfer_id decode_transfer_id(byte_reader& in) {
  transfer_id id;
  id.communicator.value = in.get<std::uint32_t>();
  id.epoch.value = in.get<std::uint32_t>();
  id.operation.value = in.get<std::uint64_t>();
  id.step = in.get<std::uint32_t>();
  return id;
}

bool decode_signature(byte_reader& in, operation_signature& out) {
  const auto kind = in.get<std::uint8_t>();
  const auto type = in.get<std::uint8_t>();
  const auto op = in.get<std::uint8_t>();
  const auto reserved = in.get<std::uint8_t>();
  out.kind = static_cast<operation_kind>(kind);
  out.type = static_cast<data_type>(type);
  out.op = static_cast<reduction>(op);
  out.root = in.get<std::uint32_t>();
  out.count = in.get<std::uint64_t>();
  const bool kind_known = kind >= static_cast<std::uint8_t>(operation_kind::all_reduce) &&
                          kind <= static_cast<std::uint8_t>(operation_kind::get);
  return !in.failed() && kind_known && type < data_type_count && op < reduction_count &&
         reserved == 0;
}

}  // namespace troupe::net
