#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "actors/collective/collective_messages.hpp"
#include "runtime/buffer_table.hpp"
#include "runtime/result.hpp"

namespace troupe::actors {

/// Names a window of this process: its communicator, and which of the communicator's windows.
struct window_name {
  communicator_id communicator;
  std::uint32_t number = 0;

  friend constexpr auto operator<=>(const window_name&, const window_name&) = default;
};

/// The windows that this endpoint's members opened, and who waits for notifications in them.
///
/// Bound:  a wait is a running operation, so there are no more than the operation table holds.
/// Thread: the worker only.
class window_table {
 public:
  explicit window_table(buffer_table& buffers) : buffers_(buffers) {}

  /// Opens memory to the peers; answers the key of its exposure, 0 for a window without bytes.
  /// Errors: resource_exhausted.
  result<std::uint64_t> open(const window_name& name, void* base, std::uint64_t bytes);

  /// Later writes of peers are refused. A name that is not open is fine.
  void close(const window_name& name);
  void close_all(communicator_id communicator);

  /// None if the window is not open or the range leaves it.
  std::optional<buffer_view> part(const window_name& name, std::uint64_t offset,
                                  std::uint64_t bytes) const;

  /// World rank `from` put something and notifies. The wait that now has its count, if there is
  /// one; it is forgotten.
  std::optional<operation_slot> note(const window_name& name, rank from);

  /// Takes `count` notifications of `from`, after those that wait already; true if they are there.
  /// Otherwise `slot` comes out of a later `note`, or of none if the window is closed before: then
  /// the wait ends by its deadline.
  bool take(const window_name& name, rank from, std::uint64_t count, operation_slot slot);

  /// The wait ended otherwise: what it would have taken stays.
  void forget(operation_slot slot);

 private:
  struct wait {
    operation_slot slot;
    std::uint64_t count = 0;
  };
  struct notifications {
    std::uint64_t arrived = 0;  ///< and not taken
    std::deque<wait> waits;     ///< oldest first; the first lacks some
  };
  struct open_window {
    std::optional<buffer_view> memory;  ///< none: it has no bytes
    std::uint64_t key = 0;
    std::map<rank, notifications> from;
  };

  void release(const open_window& one);

  buffer_table& buffers_;
  std::map<window_name, open_window> windows_;
};

}  // namespace troupe::actors
