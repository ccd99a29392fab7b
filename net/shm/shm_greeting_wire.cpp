#include "net/shm/shm_greeting_wire.hpp"

#include "net/shm/detail/little_endian.hpp"

namespace troupe::net {

using detail::get;
using detail::put;

std::array<std::byte, shm_greeting_bytes> encode(const shm_greeting& greeting) {
  std::array<std::byte, shm_greeting_bytes> out{};
  put(&out[0], shm_greeting_magic);
  out[4] = std::byte{shm_greeting_version};
  out[5] = static_cast<std::byte>(greeting.what);
  out[6] = static_cast<std::byte>(greeting.may_pull);
  put(&out[8], greeting.probe_address);
  put(&out[16], greeting.probe_value);
  put(&out[24], greeting.sizes.ring_bytes);
  put(&out[32], greeting.sizes.bulk_bytes);
  put(&out[40], greeting.sizes.depth);
  return out;
}

result<shm_greeting> decode_shm_greeting(std::span<const std::byte> bytes) {
  if (bytes.size() != shm_greeting_bytes) return fail(errc::malformed);
  if (get<std::uint32_t>(&bytes[0]) != shm_greeting_magic) return fail(errc::malformed);
  if (bytes[4] != std::byte{shm_greeting_version})
    return fail(errc::version_mismatch, std::to_integer<int>(bytes[4]));
  const auto kind = std::to_integer<unsigned>(bytes[5]);
  const auto may_pull = std::to_integer<unsigned>(bytes[6]);
  const bool reserved = bytes[7] != std::byte{0} || get<std::uint32_t>(&bytes[44]) != 0;
  if (kind < 1 || kind > 3 || may_pull > 1 || reserved) return fail(errc::malformed);
  const shm_greeting greeting{.what = static_cast<shm_greeting::kind>(kind),
                              .may_pull = may_pull == 1,
                              .probe_address = get<std::uint64_t>(&bytes[8]),
                              .probe_value = get<std::uint64_t>(&bytes[16]),
                              .sizes = {.ring_bytes = get<std::uint64_t>(&bytes[24]),
                                        .bulk_bytes = get<std::uint64_t>(&bytes[32]),
                                        .depth = get<std::uint32_t>(&bytes[40])}};
  const bool is_segment = greeting.what == shm_greeting::kind::segment;
  const bool has_probe = greeting.probe_address != 0 || greeting.probe_value != 0;
  const bool fits = is_segment ? is_valid(greeting.sizes) && !has_probe && !greeting.may_pull
                               : greeting.sizes == shm_geometry{} && has_probe;
  const bool hello_pulls = greeting.what == shm_greeting::kind::hello && greeting.may_pull;
  if (!fits || hello_pulls) return fail(errc::malformed);
  return greeting;
}

}  // namespace troupe::net
