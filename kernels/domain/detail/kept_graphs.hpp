#pragma once

#include <cstddef>
#include <list>
#include <thread>
#include <utility>

#include "kernels/detail/cuda_status.hpp"
#include "kernels/device/stream.hpp"

namespace troupe::kernels::detail {

/// The graphs of the operations that were started last, by what they do: a trainer repeats its
/// operations on the same buffers.
template <class Plan>
class kept_graphs {
 public:
  /// A trainer repeats a few dozen buffers; a graph is some kilobytes.
  static constexpr std::size_t count_max = 64;

  /// The graph of a plan: kept, or captured from what `enqueue` puts into `recording`.
  template <class Enqueue>
  outcome<const graph*> find_or_capture(const Plan& plan, const stream& recording,
                                        const Enqueue& enqueue) {
    for (auto at = kept_.begin(); at != kept_.end(); ++at)
      if (at->plan == plan) {
        kept_.splice(kept_.begin(), kept_, at);
        return &kept_.front().ready;
      }
    auto made = capture(recording, enqueue);
    for (int again = 0; again < retries_max && is_invalidated(made); ++again) {
      std::this_thread::yield();
      made = capture(recording, enqueue);
    }
    if (!made) return fail(made.error());
    if (kept_.size() == count_max) kept_.pop_back();
    kept_.push_front({plan, std::move(*made)});
    return &kept_.front().ready;
  }

 private:
  /// Another thread that loads a kernel or waits for the GPU may invalidate a capture, whatever its
  /// mode (seen beside a thread that does nothing else; a trainer does it now and then).
  static constexpr int retries_max = 10'000;

  static bool is_invalidated(const outcome<graph>& made) {
    return !made && made.error().what.native == cudaErrorStreamCaptureInvalidated;
  }

  template <class Enqueue>
  static outcome<graph> capture(const stream& recording, const Enqueue& enqueue) {
    return graph::capture(recording, [&]() -> outcome<void> {
      if (const result<void> done = enqueue(); !done)
        return fail(named(done.error(), "capturing an operation between GPUs"));
      return {};
    });
  }

  struct kept {
    Plan plan;
    graph ready;
  };
  std::list<kept> kept_;  ///< the latest first
};

}  // namespace troupe::kernels::detail
