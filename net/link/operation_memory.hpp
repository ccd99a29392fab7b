#pragma once

#include <array>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <vector>

#include "runtime/operation.hpp"

namespace troupe::net {

struct operation_id {
  communicator_id communicator;
  troupe::epoch epoch;
  operation_number operation;

  friend constexpr bool operator==(const operation_id&, const operation_id&) = default;
};

constexpr operation_id operation_of(const transfer_id& id) {
  return {id.communicator, id.epoch, id.operation};
}

/// What is over: the epoch floor of each communicator, and the operations that were cancelled last,
/// here or at the peer.
///
/// Bound: 64 communicators and 256 operations in sets of four; a new one replaces the oldest of its
///        set. What is forgotten is not unsafe, since ids are never used again: a late message then
///        waits as unmatched until its owner cancels it.
class operation_memory {
 public:
  explicit operation_memory(std::pmr::memory_resource* memory = std::pmr::get_default_resource());

  void raise_floor(communicator_id communicator, epoch floor);
  bool is_below_floor(communicator_id communicator, epoch e) const;

  /// `here`: our owner cancelled it, else the peer did. Both stay known.
  void note_cancelled(const operation_id& operation, bool here);
  bool cancelled_here(const operation_id& operation) const;
  bool cancelled_by_peer(const operation_id& operation) const;

  /// Cancellations the peer must still hear of, oldest first. False if the oldest was dropped to
  /// make room.
  bool tell(const operation_id& operation);
  std::optional<operation_id> first_to_tell() const;
  void told_first();

 private:
  static constexpr std::uint32_t ways = 4;
  static constexpr std::uint32_t floor_sets = 16;
  static constexpr std::uint32_t cancelled_sets = 64;
  // Chosen: as many operations as a communicator may have outstanding by default.
  static constexpr std::uint32_t untold_max = 256;

  struct floor_entry {
    communicator_id communicator;
    epoch floor;
    std::uint64_t used = 0;
  };
  struct cancelled_entry {
    operation_id operation;
    bool here = false;
    bool by_peer = false;
    std::uint64_t used = 0;
  };

  const cancelled_entry* find(const operation_id& operation) const;

  std::array<floor_entry, floor_sets * ways> floors_{};
  std::array<cancelled_entry, cancelled_sets * ways> cancelled_{};
  std::pmr::vector<operation_id> untold_;
  std::uint32_t untold_first_ = 0;
  std::uint32_t untold_count_ = 0;
  std::uint64_t uses_ = 0;
};

}  // namespace troupe::net
