#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/instant.hpp"
#include "runtime/result.hpp"
#include "runtime/work.hpp"

namespace troupe {

/// An operation that was called in a group and not launched yet. For communicators.
class grouped_operation {
 public:
  virtual ~grouped_operation() = default;

  virtual void launch() = 0;

  /// What was launched may begin on the calling thread, if nobody drives the endpoint.
  virtual void start_now() = 0;

  /// Ends the work with `why`; it is never launched.
  virtual void drop(const failure& why) = 0;

  virtual const work_handle& handle() const = 0;
};

/// Operations that are launched together: what ncclGroupStart and ncclGroupEnd are, with an object
/// in place of the thread's hidden state.
///
///     group g;
///     g.start();
///     c.send({.buffer = right, .count = n, .peer = next, .options = {.group = &g}});
///     c.receive({.buffer = left, .count = n, .peer = before, .options = {.group = &g}});
///     g.end();                              // both are launched here
///     g.wait(std::chrono::seconds(10));     // both are done
///
/// - A call whose `operation_options::group` is an open group is checked, gets its work and returns
///   at once; nothing of it is launched before the outermost `end`. Then all are launched in the
///   order of their calls, on each of their communicators. Sends and receives of one group need no
///   particular order among themselves: none waits for another.
/// - start and end nest: an inner pair changes nothing but the depth, so that a library may group
///   its own calls and be called in a group.
/// - All or nothing: if a call of the group failed, `end` launches none, ends the works of the
///   others with `aborted`, and returns the first failure. An operation that fails after it was
///   launched fails as any other: its work says so, `wait` returns the first.
/// - `split` waits for other members and cannot be grouped (bad_argument).
/// - A work of a group that has not ended cannot be waited for (bad_argument).
/// - Buffers belong to the runtime from the call on, as always. Communicators outlive the group's
///   end; operations of one that does not end with `aborted`.
///
/// Thread: one at a time. Groups of different threads do not notice each other, even on the same
///         communicator.
class group {
 public:
  group() = default;
  group(const group&) = delete;
  group& operator=(const group&) = delete;

  /// Drops what was not launched: those works end with `aborted`. Does not wait for the others.
  ~group();

  void start() { ++depth_; }

  /// Launches everything if it closes the outermost `start`.
  /// Errors: bad_argument without a start; the first failure of a call since then.
  outcome<void> end();

  /// Waits for the operations launched by the last outermost `end`, at most `limit` for all.
  /// Errors: the first, in the order of the calls, that failed; timed_out if `limit` passed (the
  ///         operations go on); bad_argument while the group is open.
  outcome<void> wait(duration limit);

  bool is_open() const { return depth_ != 0; }
  std::uint32_t depth() const { return depth_; }

  /// Works of the calls so far, or of the last group if none was called since; in their order.
  const std::vector<work_handle>& works() const { return works_; }

  // For communicators.

  /// Takes an operation into an open group.
  void add(std::unique_ptr<grouped_operation> operation);

  /// Notes that a call failed; the first one counts.
  void note(const failure& why);

 private:
  void drop_all(const failure& why);

  std::uint32_t depth_ = 0;
  bool is_new_ = true;  ///< `works_` are of an earlier group
  failure first_failure_;
  std::vector<std::unique_ptr<grouped_operation>> waiting_;
  std::vector<work_handle> works_;
};

}  // namespace troupe
