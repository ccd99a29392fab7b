#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <vector>

#include "runtime/errc.hpp"
#include "runtime/strong_types.hpp"

namespace troupe::net {

/// Names a member of one communicator for ever: a rank that leaves and comes back is another
/// member. Members of an epoch are numbered 0, 1, ... in the order of their names; that number is
/// their `rank` in the epoch.
struct member_id {
  std::uint32_t value = 0;

  friend constexpr auto operator<=>(const member_id&, const member_id&) = default;
};

inline constexpr member_id no_member{0xffff'ffffu};

/// Members, ascending, each once.
using member_list = std::vector<member_id>;

inline bool contains(const member_list& list, member_id one) {
  return std::binary_search(list.begin(), list.end(), one);
}

/// Adds `one` at its place in an ascending list; false if it was there.
template <class Item>
bool insert(std::vector<Item>& list, const Item& one) {
  const auto at = std::lower_bound(list.begin(), list.end(), one);
  if (at != list.end() && *at == one) return false;
  list.insert(at, one);
  return true;
}

/// One attempt of one leader to decide the next epoch. A higher one supersedes a lower one; the
/// leader breaks ties, so no two attempts are equal.
struct ballot {
  std::uint32_t round = 0;  ///< 0: no ballot
  member_id leader = {};

  friend constexpr auto operator<=>(const ballot&, const ballot&) = default;
};

/// `by` believes that `accused` is gone, or cannot reach it.
struct accusation {
  member_id accused;
  member_id by;

  friend constexpr auto operator<=>(const accusation&, const accusation&) = default;
};

/// A rank that was let in, and the member that it is from now on.
struct admission {
  std::uint64_t token = 0;
  member_id member;

  friend bool operator==(const admission&, const admission&) = default;
};

/// What a member knows of its operations when it closes an epoch. Operations that keep the promise
/// of docs/protocols/ftar.md run one after the other and are numbered from 1.
struct operation_progress {
  /// This member holds the whole result of every promised operation up to this one.
  std::uint64_t completed_through = 0;
  /// Last operation called here, promised or not.
  std::uint64_t called_through = 0;
  /// The promised operation after `completed_through` failed here for this reason; ok: it did not.
  errc failed = errc::ok;

  friend bool operator==(const operation_progress&, const operation_progress&) = default;
};

/// One epoch as its predecessor's members decided it.
struct epoch_record {
  epoch number{};
  member_list members;
  /// Where each member runs, as whoever drives the machine numbers processes; parallel to members.
  std::vector<std::uint32_t> processes;
  /// Members that do not vote yet: nobody who may have missed their coming may decide without
  /// them, and they may not decide without those.
  member_list guests;
  /// Left out at some time without proof that they ended. While there are any, guests stay guests.
  member_list unproven;
  /// Suspected in the epoch before, and kept because they answered. Once only.
  member_list doubted;
  std::vector<admission> admitted;  ///< who is new in this epoch
  member_id next_member;            ///< first name that was never given away

  /// What is decided of the operations of earlier epochs: up to `completed_through` the result
  /// stands, over the members of the epoch before; if `failed` is set the next one ended with it
  /// everywhere; later ones are done again in this epoch. Operations without the promise that were
  /// called before and have not ended by themselves have failed.
  operation_progress decided;

  friend bool operator==(const epoch_record&, const epoch_record&) = default;
};

/// The process that a rank from outside runs in: its token says so.
constexpr std::uint32_t process_of(std::uint64_t token) {
  return static_cast<std::uint32_t>(token >> 32);
}

/// The process of a member of the epoch.
std::uint32_t process_of(const epoch_record& record, member_id member);

/// The first epoch of a communicator of `size` ranks: members 0 to size - 1, all voting, member i
/// in process i.
epoch_record first_epoch(std::uint32_t size);

}  // namespace troupe::net
