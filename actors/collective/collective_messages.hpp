#pragma once

#include <cstdint>
#include <memory>

#include "actors/caf_compat.hpp"
#include "actors/collective/operation_slot.hpp"
#include "runtime/error.hpp"
#include "runtime/operation.hpp"

namespace troupe::actors {

/// Run the operation of `slot`.
struct collective_start {
  operation_slot slot;

  friend bool operator==(const collective_start&, const collective_start&) = default;
};

/// A put to, or an accept from, `peer` (a world rank) ended.
struct transfer_ended {
  operation_slot slot;
  rank peer;
  std::uint32_t step = 0;
  bool was_put = false;
  error failed{};
  operation_signature theirs{};

  friend bool operator==(const transfer_ended&, const transfer_ended&) = default;
};

/// A copy or reduction ended.
struct bytes_moved {
  operation_slot slot;
  std::uint32_t token = 0;

  friend bool operator==(const bytes_moved&, const bytes_moved&) = default;
};

/// End the operation of `slot` with this failure.
struct collective_stop {
  operation_slot slot;
  std::shared_ptr<const failure> why;

  friend bool operator==(const collective_stop&, const collective_stop&) = default;
};

/// Put the saved input of the promised operation of `slot` back into its buffer.
struct collective_restore {
  operation_slot slot;

  friend bool operator==(const collective_restore&, const collective_restore&) = default;
};

/// The link to `peer` (a world rank) neither reads nor writes the operation's buffers any more.
struct cancel_ended {
  operation_slot slot;
  rank peer;

  friend bool operator==(const cancel_ended&, const cancel_ended&) = default;
};

using collective_actor =
    caf::typed_actor<TROUPE_HANDLES(collective_start), TROUPE_HANDLES(transfer_ended),
                     TROUPE_HANDLES(bytes_moved), TROUPE_HANDLES(collective_stop),
                     TROUPE_HANDLES(collective_restore), TROUPE_HANDLES(cancel_ended)>;

}  // namespace troupe::actors

TROUPE_LOCAL_MESSAGE(troupe::actors::collective_start)
TROUPE_LOCAL_MESSAGE(troupe::actors::transfer_ended)
TROUPE_LOCAL_MESSAGE(troupe::actors::bytes_moved)
TROUPE_LOCAL_MESSAGE(troupe::actors::collective_stop)
TROUPE_LOCAL_MESSAGE(troupe::actors::collective_restore)
TROUPE_LOCAL_MESSAGE(troupe::actors::cancel_ended)
