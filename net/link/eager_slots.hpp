#pragma once

#include <array>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "net/wire/immediate_wire.hpp"

namespace troupe::net {

/// Eager slots of the peer's receive ring as the sender sees them. The first `credit_count` are
/// used in turn, each again when the peer gave it back; the others only when granted.
struct eager_sender {
  std::uint32_t credit_count = 0;
  std::uint32_t next_slot = 0;
  std::uint32_t sent = 0;      ///< into credit slots, modulo 2^32
  std::uint32_t consumed = 0;  ///< given back by the peer, modulo 2^32
  std::uint64_t staged = 0;    ///< bit per slot: a lane still reads the staging slot

  bool is_staged(std::uint32_t slot) const { return (staged >> slot & 1u) != 0; }
  bool has_credit() const { return sent - consumed < credit_count && !is_staged(next_slot); }

  std::uint32_t take_slot();

  /// The peer gave back `total` slots since the link began. False if that cannot be.
  bool give_back(std::uint32_t total);
};

/// Our receive ring. Credit slots are given back in the order in which the sender uses them.
class eager_receiver {
 public:
  eager_receiver(std::uint32_t slot_count, std::uint32_t granted_count);

  std::uint32_t credit_count() const { return credit_count_; }
  std::uint32_t slot_count() const { return slot_count_; }
  bool is_granted_slot(std::uint32_t slot) const { return slot >= credit_count_; }

  /// Slots given back since the link began, modulo 2^32.
  std::uint32_t consumed() const { return consumed_; }

  /// A message lies in `slot`. False if the sender had no right to put it there.
  bool occupy(std::uint32_t slot);

  /// The message in `slot` was copied out, or dropped.
  void empty(std::uint32_t slot);

  /// Takes a granted slot; false if none is free.
  bool take_granted(std::uint8_t& slot);

  /// The granted slot will stay empty. False if it was not granted.
  bool decline(std::uint32_t slot);

  bool all_free() const;

 private:
  enum class slot_state : std::uint8_t { free, promised, occupied, done };

  std::array<slot_state, channel_count> slots_{};
  std::uint32_t slot_count_;
  std::uint32_t credit_count_;
  std::uint32_t consume_at_ = 0;
  std::uint32_t consumed_ = 0;
};

/// Places for early eager messages.
class parking_lot {
 public:
  explicit parking_lot(std::uint32_t place_count,
                       std::pmr::memory_resource* memory = std::pmr::get_default_resource());

  bool has_place() const { return !free_.empty(); }
  std::uint32_t take();
  void give_back(std::uint32_t place);
  bool all_free() const { return free_.size() == place_count_; }

 private:
  std::uint32_t place_count_;
  std::pmr::vector<std::uint32_t> free_;
};

}  // namespace troupe::net
