#include "net/verbs/verbs_greeting_wire.hpp"

#include <bit>

#include "net/wire/byte_codec.hpp"

namespace troupe::net {

namespace {

constexpr std::uint32_t number_max = 0xff'ffff;

bool has_queue_pair(verbs_greeting::kind what) {
  return what == verbs_greeting::kind::hello || what == verbs_greeting::kind::answer;
}

bool is_possible(const verbs_queue_pair_name& name) {
  const bool known_layer = name.link_layer == verbs_link_layer::infiniband ||
                           name.link_layer == verbs_link_layer::ethernet;
  return known_layer && name.device_index < name.device_count && name.number != 0 &&
         name.number <= number_max && name.first_packet <= number_max && name.receive_count != 0 &&
         name.mtu_bytes >= 256 && name.mtu_bytes <= 4096 && std::has_single_bit(name.mtu_bytes);
}

// What a kind does not use is zero on the wire.
const verbs_queue_pair_name unused{verbs_link_layer{0}, 0, 0, 0, 0, 0, 0, 0, {}};

}  // namespace

std::array<std::byte, verbs_greeting_bytes> encode(const verbs_greeting& greeting) {
  std::array<std::byte, verbs_greeting_bytes> out{};
  const auto& name = has_queue_pair(greeting.what) ? greeting.queue_pair : unused;
  byte_writer to(out);
  to.put(verbs_greeting_magic);
  to.put(verbs_greeting_version);
  to.put(static_cast<std::uint8_t>(greeting.what));
  to.put(static_cast<std::uint8_t>(name.link_layer));
  to.put(static_cast<std::uint8_t>(greeting.reason));
  to.put(greeting.instance);
  to.put(name.device_index);
  to.put(name.device_count);
  to.put(name.local_id);
  to.put(name.mtu_bytes);
  to.put(name.number);
  to.put(name.first_packet);
  to.put(name.receive_count);
  to.pad_to(40);
  to.put_bytes(name.gid);
  to.put(greeting.message_count);
  return out;
}

result<verbs_greeting> decode_verbs_greeting(std::span<const std::byte> bytes) {
  if (bytes.size() != verbs_greeting_bytes) return fail(errc::malformed);
  byte_reader from(bytes);
  if (from.get<std::uint32_t>() != verbs_greeting_magic) return fail(errc::malformed);
  if (const auto version = from.get<std::uint8_t>(); version != verbs_greeting_version)
    return fail(errc::version_mismatch, version);
  const auto kind = from.get<std::uint8_t>();
  if (kind < 1 || kind > 6) return fail(errc::malformed);
  verbs_greeting greeting;
  auto& name = greeting.queue_pair;
  greeting.what = static_cast<verbs_greeting::kind>(kind);
  name.link_layer = static_cast<verbs_link_layer>(from.get<std::uint8_t>());
  const auto reason = from.get<std::uint8_t>();
  greeting.reason = static_cast<verbs_refusal>(reason);
  greeting.instance = from.get<std::uint64_t>();
  name.device_index = from.get<std::uint16_t>();
  name.device_count = from.get<std::uint16_t>();
  name.local_id = from.get<std::uint16_t>();
  name.mtu_bytes = from.get<std::uint16_t>();
  name.number = from.get<std::uint32_t>();
  name.first_packet = from.get<std::uint32_t>();
  name.receive_count = from.get<std::uint32_t>();
  const auto reserved = from.get<std::uint32_t>();
  const auto gid = from.get_bytes(name.gid.size());
  for (std::size_t i = 0; i < gid.size(); ++i)
    name.gid[i] = gid[i];
  greeting.message_count = from.get<std::uint64_t>();

  const bool named = has_queue_pair(greeting.what);
  const bool refused = greeting.what == verbs_greeting::kind::refusal;
  const bool fits = reserved == 0 && reason <= 2 && refused == (reason != 0) &&
                    (named ? is_possible(name) : name == unused) &&
                    named == (greeting.instance != 0) &&
                    (greeting.what == verbs_greeting::kind::bye || greeting.message_count == 0);
  if (!fits) return fail(errc::malformed);
  if (!named) greeting.queue_pair = {};
  return greeting;
}

}  // namespace troupe::net
