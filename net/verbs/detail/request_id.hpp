#pragma once

#include <cstdint>

namespace troupe::net::detail {

/// What a completion gives back of its request: the lane's place in the network (24 bits), how many
/// lanes had that place before (16), whether it was a receive (1), and its number or slot (23).
struct request_id {
  static constexpr std::uint64_t receive_bit = 1ull << 23;

  static std::uint64_t of_lane(std::uint32_t place, std::uint16_t generation) {
    return static_cast<std::uint64_t>(place) << 40 | static_cast<std::uint64_t>(generation) << 24;
  }
  static std::uint32_t place_of(std::uint64_t id) { return static_cast<std::uint32_t>(id >> 40); }
  static std::uint16_t generation_of(std::uint64_t id) {
    return static_cast<std::uint16_t>(id >> 24);
  }
  static std::uint32_t number_of(std::uint64_t id) {
    return static_cast<std::uint32_t>(id & (receive_bit - 1));
  }
};

}  // namespace troupe::net::detail
