#pragma once

#include <cstddef>
#include <list>
#include <utility>

#include "kernels/detail/cuda_status.hpp"
#include "kernels/detail/recorder.hpp"
#include "kernels/device/stream.hpp"

namespace troupe::kernels::detail {

/// The graphs of the operations that were started last, by what they do: a trainer repeats its
/// operations on the same buffers.
template <class Plan>
class kept_graphs {
 public:
  /// A trainer repeats a few dozen buffers; a graph is some kilobytes.
  static constexpr std::size_t count_max = 64;

  /// The graph of a plan: kept, or made of what `enqueue(recorder)` records.
  template <class Enqueue>
  outcome<const graph*> find_or_make(const Plan& plan, const driver_calls& calls, stream_ref upload,
                                     const Enqueue& enqueue) {
    for (auto at = kept_.begin(); at != kept_.end(); ++at)
      if (at->plan == plan) {
        kept_.splice(kept_.begin(), kept_, at);
        return &kept_.front().ready;
      }
    graph_recorder recording(calls, upload.device);
    if (const result<void> done = enqueue(recording); !done)
      return fail(named(done.error(), "making the graph of an operation between GPUs"));
    auto made = recording.finish(upload);
    if (!made) return fail(made.error());
    if (kept_.size() == count_max) kept_.pop_back();
    kept_.push_front({plan, std::move(*made)});
    return &kept_.front().ready;
  }

 private:
  struct kept {
    Plan plan;
    graph ready;
  };
  std::list<kept> kept_;  ///< the latest first
};

}  // namespace troupe::kernels::detail
