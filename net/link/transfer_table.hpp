#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "net/link/send_window.hpp"
#include "net/wire/control_wire.hpp"
#include "runtime/buffer_view.hpp"
#include "runtime/error.hpp"
#include "runtime/instant.hpp"
#include "runtime/operation.hpp"

namespace troupe::net {

/// Where a transfer stands. `put_*` and `ready_early` are transfers to the peer, the others
/// transfers from it.
enum class transfer_phase : std::uint8_t {
  put_starved,       ///< eager, waits for a slot
  put_granted,       ///< eager, the peer named a slot for it
  put_unready,       ///< waits for the peer's ready
  put_queued,        ///< ready, waits for a channel
  put_sending,       ///< has a channel and bytes to post
  put_flushing,      ///< everything is posted, the peer has not all of it
  ready_early,       ///< the peer's accept, no put here
  accept_waiting,    ///< eager, nothing heard of the put
  accept_announced,  ///< our ready is (or waits to be) sent
  accept_receiving,  ///< the peer began
  accept_granting,   ///< the peer asked; waits for a granted slot
  accept_granted,    ///< the grant is (or waits to be) sent
  request_early,     ///< the peer's put, no accept here
  eager_parked,      ///< the peer's put in a parking place, no accept here
  eager_in_slot,     ///< the peer's put in its slot, no accept here
  ended,             ///< nothing left but what is to be said
};

/// What is still to be said about a transfer: to the peer when the control stream has room, to the
/// owner (`release`) when the step has room.
enum class transfer_notice : std::uint8_t { none, ready, request, grant, refuse, release };

/// What the owner hears when a transfer of its own ends.
enum class transfer_closing : std::uint8_t {
  report,   ///< `report_put` or `report_accept`
  release,  ///< cancelled put: `release_source`
  silent,   ///< cancelled, and everything was said
};

/// Chains that a transfer can wait in, at most one at a time.
enum class transfer_list : std::uint8_t {
  none,
  starved,
  granted,
  unannounced,  ///< put_unready, not yet told to the peer; oldest first
  queued,
  sending,  ///< round robin
  granting,
  unreported,  ///< early ones that `report_unmatched` has not named; oldest first
  ending,
};
inline constexpr std::size_t transfer_list_count = 9;

struct transfer {
  transfer_id id;
  operation_signature signature;  ///< ours; of an early or mismatched transfer the peer's
  buffer_view memory;             ///< source or target; of an early transfer only its bytes
  std::uint64_t token = 0;
  std::uint64_t key = 0;  ///< exposure of the target: of an accept ours, of a put the peer's
  std::uint64_t target_offset = 0;  ///< of a put into a window: where in that exposure
  std::uint64_t cursor = 0;         ///< next byte to post
  instant since{};
  std::uint32_t unretired = 0;     ///< writes of it that are not done
  std::uint32_t reading = 0;       ///< of those, how many have lanes that still read the source
  std::uint32_t place = no_index;  ///< parking place
  std::uint32_t hash_next = no_index;
  std::uint32_t all_previous = no_index, all_next = no_index;
  std::uint32_t list_previous = no_index, list_next = no_index;
  std::uint32_t tell_previous = no_index, tell_next = no_index;
  error failed{};
  operation_signature refused_with;  ///< ours, for the refuse that is to be sent
  transfer_phase phase = transfer_phase::ended;
  transfer_list list = transfer_list::none;
  transfer_notice tell = transfer_notice::none;
  transfer_side side = transfer_side::put;
  transfer_closing closing = transfer_closing::report;

  /// Cancelled, and its owner waits until no lane reads the source.
  bool is_held() const { return stopped && closing == transfer_closing::release && reading > 0; }
  std::uint8_t channel = 0;  ///< or eager slot
  bool local = false;        ///< our owner asked for it
  bool stopped = false;      ///< post no more bytes of it
  bool asked = false;        ///< a request of it is in the control stream
  std::uint32_t ask_number = 0;

  std::uint64_t bytes() const { return memory.bytes; }
};

/// All transfers of a link, found by id and side, and the chains they wait in. Indices are stable;
/// memory grows up to the bound on first use and never after.
class transfer_table {
 public:
  transfer_table(std::uint32_t capacity, std::uint32_t local_max,
                 std::pmr::memory_resource* memory = std::pmr::get_default_resource());

  transfer& operator[](std::uint32_t index) { return items_[index]; }
  const transfer& operator[](std::uint32_t index) const { return items_[index]; }

  std::uint32_t find(const transfer_id& id, transfer_side side) const;

  /// No room for another transfer of the owner.
  bool local_full() const { return local_count_ >= local_max_; }

  /// No room for another announcement of the peer: it broke its promise.
  bool early_full() const { return live_count_ - local_count_ >= capacity_ - local_max_; }

  std::uint32_t live_count() const { return live_count_; }
  std::uint32_t local_count() const { return local_count_; }

  /// A new transfer that `find` finds. The caller checked that the table is not full.
  std::uint32_t add(const transfer_id& id, transfer_side side);

  /// Counts the transfer as the owner's.
  void make_local(std::uint32_t index);

  /// `find` no longer finds it.
  void hide(std::uint32_t index);

  /// Gives the place back. The transfer is hidden and in no chain.
  void remove(std::uint32_t index);

  // -- chains
  void move_to(transfer_list list, std::uint32_t index);
  std::uint32_t first(transfer_list list) const { return chain(list).first; }
  std::uint32_t last(transfer_list list) const { return chain(list).last; }
  std::uint32_t next_in_list(std::uint32_t index) const { return items_[index].list_next; }
  std::uint32_t count(transfer_list list) const { return chain(list).count; }
  bool empty(transfer_list list) const { return chain(list).first == no_index; }

  void tell(transfer_notice what, std::uint32_t index);
  void untell(std::uint32_t index);
  std::uint32_t first_for_peer() const { return for_peer_.first; }
  std::uint32_t first_for_owner() const { return for_owner_.first; }

  /// Every live transfer, oldest first: first_live(), then next_live(i).
  std::uint32_t first_live() const { return all_first_; }
  std::uint32_t next_live(std::uint32_t index) const { return items_[index].all_next; }

 private:
  struct chain_ends {
    std::uint32_t first = no_index;
    std::uint32_t last = no_index;
    std::uint32_t count = 0;
  };

  std::uint32_t bucket_of(const transfer_id& id, transfer_side side) const;
  chain_ends& tell_chain(transfer_notice what) {
    return what == transfer_notice::release ? for_owner_ : for_peer_;
  }
  chain_ends& chain(transfer_list list) { return chains_[static_cast<std::size_t>(list)]; }
  const chain_ends& chain(transfer_list list) const {
    return chains_[static_cast<std::size_t>(list)];
  }

  std::pmr::vector<transfer> items_;
  std::pmr::vector<std::uint32_t> free_;
  std::pmr::vector<std::uint32_t> buckets_;
  std::array<chain_ends, transfer_list_count> chains_{};
  std::uint32_t all_first_ = no_index, all_last_ = no_index;
  chain_ends for_peer_, for_owner_;  ///< through `tell_next`
  std::uint32_t live_count_ = 0;
  std::uint32_t local_count_ = 0;
  std::uint32_t local_max_;
  std::uint32_t capacity_;
};

}  // namespace troupe::net
