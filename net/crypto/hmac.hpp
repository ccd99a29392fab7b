#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace troupe::net {

inline constexpr std::size_t hmac_bytes = 32;

/// HMAC-SHA-256 of `data` under `key`. Empty keys and empty data are legal.
///
/// Cost:   about 1 us for 200 bytes; allocates inside OpenSSL, so control path only.
/// Thread: any.
/// Source: RFC 2104, FIPS 180-4.
void hmac_sha256(std::span<const std::byte> key, std::span<const std::byte> data,
                 std::span<std::byte, hmac_bytes> out);

/// Whether both are equal, in time that depends on their lengths alone: a comparison that stops at
/// the first difference tells an attacker how much of a guess was right.
bool constant_time_equal(std::span<const std::byte> left, std::span<const std::byte> right);

}  // namespace troupe::net
