#pragma once

#include <cstdint>
#include <memory>

#include "runtime/operation_options.hpp"
#include "runtime/result.hpp"
#include "runtime/strong_types.hpp"
#include "runtime/work.hpp"

namespace troupe {

/// Memory that a member opens to the others. Null base with 0 bytes opens none.
struct window_arguments {
  void* base = nullptr;
  std::uint64_t bytes = 0;
  operation_options options = {};
};

/// source[bytes] -> the peer's window at `offset`. `notify`: the peer counts it, once these bytes
/// and those of all earlier puts to that peer are in place.
struct window_put_arguments {
  const void* source = nullptr;
  std::uint64_t bytes = 0;
  rank peer{0};
  std::uint64_t offset = 0;
  bool notify = false;
  operation_options options = {};
};

/// The peer's window at `offset` -> target[bytes].
struct window_get_arguments {
  void* target = nullptr;
  std::uint64_t bytes = 0;
  rank peer{0};
  std::uint64_t offset = 0;
  operation_options options = {};
};

/// The next `count` notifications of `peer` that no earlier wait took.
struct notification_arguments {
  rank peer{0};
  std::uint64_t count = 1;
  operation_options options = {};
};

/// One-sided access to memory of the members of a communicator (remote memory access): a put or get
/// needs no call of the other side.
///
/// The work of a put ends when its bytes are in the peer's memory, that of a get when they are in
/// `target`. Operations run at the same time, in any order, save that a notification comes after
/// everything that was put to that peer before it. Where two of them touch the same bytes, what
/// comes out is undefined; notifications and barriers order them.
///
/// A window ends before its communicator. Its end is local: later puts of others are refused, which
/// fails the communicator; its memory must stay valid until gets of others have ended; a wait that
/// is outstanding ends by its timeout. So members meet in a barrier before the first of them
/// destroys it.
///
/// Errors of every call: as of a communicator's; bad_argument also for bytes beyond the peer's
/// window. Put into a window that is gone: mismatch.
/// Cost:   16 bytes for each member on each member.
/// Thread: any.
class window {
 public:
  virtual ~window() = default;

  /// Bytes that a member opened.
  virtual std::uint64_t bytes_of(rank member) const = 0;

  virtual outcome<work_handle> put(const window_put_arguments& arguments) = 0;
  virtual outcome<work_handle> get(const window_get_arguments& arguments) = 0;
  virtual outcome<work_handle> wait_notifications(const notification_arguments& arguments) = 0;

  /// Waits until every put and get called so far through this window has ended, at most `limit`.
  /// Errors: timed_out; the failure of the first that failed.
  virtual outcome<void> flush(duration limit) = 0;
};

}  // namespace troupe
