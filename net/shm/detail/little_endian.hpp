#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace troupe::net::detail {

/// Integers as the formats of shared memory have them: little-endian, at any alignment. On a
/// little-endian machine one move: a header is written and read for every small message.
template <class Integer>
void put(std::byte* at, Integer value) {
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(at, &value, sizeof value);
  } else {
    for (std::size_t i = 0; i < sizeof(Integer); ++i)
      at[i] = static_cast<std::byte>(value >> 8 * i);
  }
}

template <class Integer>
Integer get(const std::byte* at) {
  Integer value = 0;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&value, at, sizeof value);
  } else {
    for (std::size_t i = 0; i < sizeof(Integer); ++i)
      value = static_cast<Integer>(value | std::to_integer<Integer>(at[i]) << 8 * i);
  }
  return value;
}

}  // namespace troupe::net::detail
