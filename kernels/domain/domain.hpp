#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/domain/meeting.hpp"
#include "kernels/stream_ref.hpp"
#include "runtime/data_type.hpp"
#include "runtime/result.hpp"

namespace troupe::kernels {

/// Who a member is.
struct domain_options {
  int device = 0;  ///< of this process, current nowhere else for this member
  std::uint32_t rank = 0;
  std::uint32_t size = 1;  ///< members, at most `domain_ranks_max`
  /// Bytes of a chunk of a pipelined all-reduce, the same at every member; 0: 16 MiB over `size`.
  /// Staging memory is three times that for each peer.
  std::uint64_t chunk_bytes = 0;
};

enum class all_reduce_path : std::uint8_t {
  automatic = 0,  ///< small up to 256 KiB, two_shot above
  small = 1,      ///< one step, flags in the data; any memory of the GPU
  two_shot = 2,   ///< kernels read and write shared memory of peers
  pipelined =
      3,  ///< copy engines move, two to four blocks reduce, beside a computation; two members
};

/// An all-reduce on device memory. Every member calls with the same count, type, operator, path and
/// blocks.
struct all_reduce_call {
  const void* send = nullptr;
  void* receive = nullptr;  ///< may be `send`
  std::uint64_t count = 0;  ///< in elements
  data_type type = data_type::float32;
  reduction op = reduction::sum;
  double scalar = 1.0;  ///< premultiplied_sum
  all_reduce_path path = all_reduce_path::automatic;
  std::uint32_t blocks = 0;  ///< of two_shot and pipelined; 0: as the size asks for
};

/// Bytes that copy engines move between shared memory of the members. `send` and `receive` lie in
/// shared memory, at the same place of it at every member.
struct copy_call {
  const void* send = nullptr;
  void* receive = nullptr;
  std::uint64_t bytes = 0;  ///< of one block
};

/// GPUs of one machine that reach each other's memory: one member for each GPU, in one process or
/// in many. What is called is ordered in the stream of the caller, returns at once, and may be
/// captured into a graph of the caller and replayed. Every member calls the same operations in the
/// same order.
///
/// An operation enters its GPU as a whole: one kernel, or one launch of a graph. Whatever another
/// thread does to the GPU meanwhile (a cudaFree, which waits for all that runs; the first launch of
/// a kernel, which loads it) waits for operations that are complete, so they end
/// (docs/decisions/0012-one-launch-an-operation.md).
///
/// Thread: one at a time, except `abort` and `aborted`. Streams of different calls are ordered by
/// the domain; the stream of the last call must still exist at the next.
class domain {
 public:
  /// Meets the other members, shares what operations need and loads all kernels. Collective.
  /// Errors: not_available without a driver or without peer access between two of the GPUs;
  ///         bad_argument; resource_exhausted; what the meeting says.
  static outcome<std::unique_ptr<domain>> form(const domain_options& options, meeting& others);

  ~domain();
  domain(const domain&) = delete;
  domain& operator=(const domain&) = delete;

  /// Lets all members reach this memory of cudaMalloc, which lives as long as the domain.
  /// Collective: every member shares as many bytes. Errors: bad_argument for memory that cannot be
  /// shared (the text says why) or sizes that differ;
  ///         what the meeting says.
  outcome<void> share(void* data, std::uint64_t bytes, meeting& others);

  /// Errors: bad_argument for a stream of another GPU or an invalid type; not_available if the path
  /// needs shared memory and a buffer is not; aborted; system_failure if CUDA refuses.
  outcome<void> all_reduce(stream_ref in, const all_reduce_call& call);

  /// receive[rank * bytes] of every member gets `send` of `rank`. No multiprocessor takes part.
  outcome<void> all_gather(stream_ref in, const copy_call& call);
  /// receive[rank * bytes] of `peer` gets send[peer * bytes] of `rank`. Not in place.
  outcome<void> all_to_all(stream_ref in, const copy_call& call);
  /// `receive` of every member gets `send` of the root.
  outcome<void> broadcast(stream_ref in, const copy_call& call, std::uint32_t root);
  /// `receive` of `to` gets `send` of this member, while `from` sends to this one.
  outcome<void> send_receive(stream_ref in, const copy_call& call, std::uint32_t to,
                             std::uint32_t from);

  /// Ends every wait of every member, now and later; what they waited for is not there. Stores one
  /// word: legal from any thread and with everything in flight, enters no CUDA. Operations that
  /// were enqueued behind others may need a call each: call until streams are idle.
  void abort();
  bool aborted() const;

  /// Memory of the GPU that the domain holds; shared memory of the caller is not in it.
  std::uint64_t device_bytes() const;

 private:
  struct state;
  explicit domain(std::unique_ptr<state> formed);

  std::unique_ptr<state> state_;
};

}  // namespace troupe::kernels
