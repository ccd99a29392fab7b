#pragma once

#include <cstdint>
#include <memory_resource>
#include <optional>
#include <vector>

#include "net/wire/immediate_wire.hpp"

namespace troupe::net {

/// Which writes of the peer arrived. Takes each number once, in any order within the window, and
/// releases notifications only when every earlier write has landed.
class receive_window {
 public:
  enum class verdict : std::uint8_t { fresh, duplicate, beyond };

  receive_window(std::uint32_t capacity, sequence first,
                 std::pmr::memory_resource* memory = std::pmr::get_default_resource());

  /// Next number that has not arrived: all before it have.
  sequence base() const { return base_; }

  verdict classify(sequence number) const;

  /// Notes a fresh arrival.
  void note(const immediate& arrived);

  /// Moves the base over what has arrived, up to and including the next notification, and returns
  /// its channel; empty when the base has reached a hole.
  std::optional<std::uint8_t> release();

  /// Numbers from the base up to the highest that arrived, it included.
  std::uint32_t span_count() const { return distance(base_, high_); }

  bool has_arrived(sequence number) const;

 private:
  // One byte a number: what release() needs of its immediate.
  static constexpr std::uint8_t arrived_bit = 0x80;
  static constexpr std::uint8_t notify_bit = 0x40;
  static constexpr std::uint8_t channel_bits = 0x3f;

  std::pmr::vector<std::uint8_t> ring_;
  std::uint32_t mask_;
  sequence base_;
  sequence high_;  ///< one past the highest arrival
};

}  // namespace troupe::net
