#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/device/memory.hpp"
#include "kernels/mailbox/host_mailbox.hpp"
#include "kernels/stream_ref.hpp"
#include "runtime/data_type.hpp"
#include "runtime/result.hpp"

namespace troupe::kernels {

/// target[i] = left[i] (op) right[i]. All three are memory that the GPU reaches; `target` may be an
/// operand.
struct reduction_chunk {
  std::byte* target = nullptr;
  const std::byte* left = nullptr;
  const std::byte* right = nullptr;
  std::uint64_t count = 0;  ///< in elements
};

/// The operation that the chunks are of.
struct served_operation {
  data_type type = data_type::float32;
  reduction op = reduction::sum;
  double scalar = 1.0;        ///< premultiplied_sum: both operands are multiplied by it first
  std::uint32_t divisor = 1;  ///< average: what each sum is divided by
  std::uint32_t blocks = 2;   ///< of 512 threads, 1 to 32
};

/// A reduce kernel that stays on the GPU for the time of one operation and gets its chunks through
/// a mailbox: between `start` and the end of the kernel nothing enters CUDA, so that nobody's lock
/// on the GPU can stop the operation.
///
/// Thread: one at a time.
class served_reduction {
 public:
  /// Errors: resource_exhausted.
  static outcome<served_reduction> create(int device);

  /// Starts the kernel. The one before has ended (`finish`, and its stream is over).
  /// Errors: bad_argument; system_failure if the launch is refused.
  result<void> start(stream_ref in, const served_operation& operation);

  /// Gives the kernel a chunk. False if `mailbox_depth` chunks are under way.
  bool post(const reduction_chunk& chunk);
  /// Takes note of a chunk that is done. Chunks are done in the order in which they were posted.
  bool take_done();
  /// No more chunks: the kernel ends after those that were posted. False if the mailbox is full.
  bool finish();
  /// The kernel ends as soon as it can, whatever is posted.
  void abort();

  std::uint64_t posted() const { return posted_; }
  std::uint64_t done() const { return done_; }

 private:
  mailbox_layout& ring(int number) const;
  reduction_chunk& slot(std::uint64_t number) const;

  pinned_memory shared_;   ///< mailbox to the kernel, mailbox from it, chunks
  device_memory between_;  ///< what the blocks of the kernel tell each other
  std::optional<host_mailbox_writer> writer_;
  std::optional<host_mailbox_reader> reader_;
  std::uint64_t posted_ = 0;
  std::uint64_t done_ = 0;
};

/// Loads the kernels onto the current GPU.
result<void> load_served_reductions();

}  // namespace troupe::kernels
