#pragma once

#include <utility>

#include "kernels/stream_ref.hpp"
#include "runtime/result.hpp"

struct CUgraph_st;
struct CUgraphExec_st;

namespace troupe::kernels {

enum class stream_priority { normal, high };

/// A stream that does not wait for the null stream.
class stream {
 public:
  static outcome<stream> create(int device, stream_priority priority = stream_priority::normal);

  stream() = default;
  ~stream() { reset(); }
  stream(stream&& other) noexcept { *this = std::move(other); }
  stream& operator=(stream&& other) noexcept;

  stream_ref ref() const { return ref_; }
  /// Waits on the host until all work is done.
  /// Errors: system_failure with the CUDA error of work that failed.
  outcome<void> wait() const;
  /// Whether all work is done; does not wait.
  outcome<bool> idle() const;
  /// Orders what is enqueued here later after all that is in `other` now, another stream of the
  /// same process.
  outcome<void> after(stream_ref other) const;

  void reset();

 private:
  stream_ref ref_;
};

/// `later` waits for all that is in `earlier` now. No host wait; legal in capture, where it joins
/// `later` to the capture of `earlier`.
result<void> order(stream_ref earlier, stream_ref later);

/// A point in a stream whose time was taken.
class event {
 public:
  static outcome<event> create(int device);

  event() = default;
  ~event() { reset(); }
  event(event&& other) noexcept { *this = std::move(other); }
  event& operator=(event&& other) noexcept;

  outcome<void> record(stream_ref in);
  /// Milliseconds from this event to a later one; both are over.
  outcome<double> milliseconds_until(const event& later) const;

  void reset();

 private:
  void* native_ = nullptr;
  int device_ = 0;
};

/// Work that was captured from a stream and is started as a whole by one call.
class graph {
 public:
  /// Captures what `enqueue` puts into `into` (and into streams that it joins to it) and makes it
  /// ready to launch. Calls that capture forbids fail inside `enqueue`, with other threads
  /// unaffected.
  template <class Enqueue>
  static outcome<graph> capture(const stream& into, Enqueue&& enqueue) {
    if (auto begun = begin(into.ref()); !begun) return fail(begun.error());
    auto done = std::forward<Enqueue>(enqueue)();
    auto made = end(into.ref());
    if (!done) return fail(failure(done.error()));
    return made;
  }

  graph() = default;
  ~graph() { reset(); }
  graph(graph&& other) noexcept { *this = std::move(other); }
  graph& operator=(graph&& other) noexcept;

  /// Makes a graph of CUDA ready to launch, which stays its owner's.
  static outcome<graph> from(CUgraph_st* native, stream_ref upload);

  result<void> launch(stream_ref in) const;
  bool valid() const { return native_ != nullptr; }

  void reset();

 private:
  static outcome<void> begin(stream_ref into);
  static outcome<graph> end(stream_ref into);

  CUgraphExec_st* native_ = nullptr;
};

/// Whether the stream is being captured into a graph of the caller.
result<bool> is_capturing(stream_ref in);

}  // namespace troupe::kernels
