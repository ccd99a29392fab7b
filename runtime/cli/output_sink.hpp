#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace troupe::cli {

/// One of the launcher's own outputs, with a queue before it: a reader that stops reading (a pager)
/// holds up the ranks' output, never the supervision.
///
/// Bound: `has_room` turns false at `queue_bytes_max`; whoever appends asks first and then appends
///        at most one read of a rank, so the queue ends below twice that.
class output_sink {
 public:
  /// Chosen: a few reads; what waits here is not yet in the ranks' own pipes.
  static constexpr std::size_t queue_bytes_max = 256 * 1024;

  /// `number` stays open and belongs to the caller.
  explicit output_sink(int number);

  void append(std::string_view bytes);
  bool has_room() const { return queue_.size() - written_ < queue_bytes_max; }
  bool drained() const { return queue_.size() == written_; }

  /// The reader is gone: what is appended is dropped.
  bool broken() const { return broken_; }

  bool is_terminal() const { return is_terminal_; }

  /// Width of the terminal; 80 if it does not say.
  std::size_t columns() const;

  int number() const { return number_; }

  /// Writes what the other side takes now. Never blocks: a pipe that is ready takes 4096 bytes.
  void flush();

 private:
  int number_;
  bool is_terminal_;
  bool broken_ = false;
  std::string queue_;
  std::size_t written_ = 0;  ///< bytes of the queue that are out already
};

}  // namespace troupe::cli
