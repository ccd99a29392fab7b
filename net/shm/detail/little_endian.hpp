#pragma once

#include <cstddef>
#include <cstdint>

namespace troupe::net::detail {

template <class Integer>
void put(std::byte* at, Integer value) {
  for (std::size_t i = 0; i < sizeof(Integer); ++i)
    at[i] = static_cast<std::byte>(value >> 8 * i);
}

template <class Integer>
Integer get(const std::byte* at) {
  Integer value = 0;
  for (std::size_t i = 0; i < sizeof(Integer); ++i)
    value = static_cast<Integer>(value | std::to_integer<Integer>(at[i]) << 8 * i);
  return value;
}

}  // namespace troupe::net::detail
