#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace troupe::peers {

enum class operation { all_reduce, all_gather, reduce_scatter, all_to_all, barrier, ping_pong };

/// One operation at one size, with the memory it works on: float32, out of place, the same buffers
/// at each call. `count` is in elements, as the libraries' calls take it: all_reduce and ping_pong
/// the whole buffer, the others what one rank contributes, receives or sends to each peer.
struct planned_call {
  operation what = operation::barrier;
  std::uint64_t count = 0;
  std::span<float> send;
  std::span<float> receive;
};

/// What the measuring loop needs of a library. A call returns false when it failed; `reason` then
/// says why. Used by one thread.
class measured_library {
 public:
  virtual ~measured_library() = default;

  virtual std::uint32_t rank() const = 0;
  virtual std::uint32_t size() const = 0;

  /// Everything that need not be done at each call. Collective.
  virtual bool prepare(const planned_call& planned) = 0;
  /// The operation, waited for. ping_pong: there and back between ranks 0 and 1.
  virtual bool call() = 0;
  virtual bool barrier() = 0;
  /// Where the last call left its result.
  virtual const float* result() const = 0;
  /// Forgets what `prepare` set up.
  virtual void release() {}
  /// Leaves the job. Collective.
  virtual void finish() {}

  const std::string& reason() const { return reason_; }

 protected:
  bool failed(std::string reason) {
    reason_ = std::move(reason);
    return false;
  }

 private:
  std::string reason_;
};

}  // namespace troupe::peers
