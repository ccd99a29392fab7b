#pragma once

#include <cstddef>

#include "net/wire/byte_codec.hpp"
#include "runtime/operation.hpp"

namespace troupe::net {

inline constexpr std::size_t transfer_id_bytes = 20;
inline constexpr std::size_t signature_bytes = 16;

void encode(byte_writer& out, const transfer_id& id);
void encode(byte_writer& out, const operation_signature& signature);

transfer_id decode_transfer_id(byte_reader& in);

/// False if the bytes are no signature: a kind, type or operator outside the lists.
bool decode_signature(byte_reader& in, operation_signature& out);

}  // namespace troupe::net
