#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "runtime/buffer_view.hpp"
#include "runtime/result.hpp"

namespace troupe {

/// Why an exposure ends.
enum class exposure_end : std::uint8_t {
  finished,  ///< everything that was to be written has arrived: nobody writes any more
  revoked,   ///< peers may be writing: from now on nothing may land
};

/// Memory that a key exposes.
struct exposed_memory {
  buffer_id buffer;
  std::byte* base = nullptr;  ///< null: the key is dead
  std::uint64_t bytes = 0;
};

/// Who has made memory known to a device, and has to know when it ends. Set by a network of lanes
/// whose devices write on their own.
///
/// Thread: the worker of the endpoint only.
class memory_watcher {
 public:
  virtual ~memory_watcher() = default;

  /// The buffer is forgotten after this call, and its memory may be gone.
  virtual void on_buffer_released(buffer_id id) = 0;

  /// A key of the buffer is revoked: nothing may land under it after this call.
  virtual void on_key_revoked(buffer_id id, std::uint64_t key) = 0;
};

/// The buffers of one endpoint, and which pieces of them peers may write.
///
/// Cost:   add, release, expose, withdraw and resolve are O(1); no allocation once the table has
///         reached its high-water mark.
/// Errors: resource_exhausted when `capacity` buffers or exposures are live.
/// Thread: the worker of the endpoint only.
class buffer_table {
 public:
  explicit buffer_table(std::uint32_t capacity,
                        std::pmr::memory_resource* memory = std::pmr::get_default_resource());

  /// Makes [base, base + bytes) known and returns a view of all of it. The memory stays the
  /// caller's and must outlive `release`.
  result<buffer_view> add(void* base, std::uint64_t bytes, memory_space space = memory_space::host);

  /// Forgets the buffer; views of it no longer resolve. Exposures of it must be withdrawn before.
  void release(buffer_id id);

  /// First byte of the view; null if the buffer was released or the view leaves it.
  std::byte* resolve(const buffer_view& view) const;

  /// Lets peers write the view under the returned key. Keys are never 0 and never reused.
  result<std::uint64_t> expose(const buffer_view& view);

  /// Ends the exposure: later writes under the key are refused. Unknown keys are ignored.
  void withdraw(std::uint64_t key, exposure_end how = exposure_end::revoked);

  /// Where a peer's write of `bytes` at `target` lands; null if the key is dead or the range leaves
  /// the exposed view.
  std::byte* resolve(const remote_region& target, std::uint64_t bytes) const;

  /// What the key exposes now.
  exposed_memory exposed(std::uint64_t key) const;

  /// All of a buffer; empty if it was released.
  std::span<std::byte> memory_of(buffer_id id) const;

  /// Tells `watcher` of ends from now on; null: nobody.
  void set_watcher(memory_watcher* watcher) { watcher_ = watcher; }

  std::uint32_t live_buffers() const { return live_buffers_; }
  std::uint32_t live_exposures() const { return live_exposures_; }

 private:
  struct buffer {
    std::byte* base = nullptr;
    std::uint64_t bytes = 0;
    std::uint32_t generation = 0;
    bool live = false;
  };
  struct exposure {
    buffer_view view;
    std::uint32_t generation = 0;
    bool live = false;
  };

  const exposure* find(std::uint64_t key) const;

  std::uint32_t capacity_;
  memory_watcher* watcher_ = nullptr;
  std::uint32_t live_buffers_ = 0;
  std::uint32_t live_exposures_ = 0;
  std::pmr::vector<buffer> buffers_;
  std::pmr::vector<exposure> exposures_;
  std::pmr::vector<std::uint32_t> free_buffers_;
  std::pmr::vector<std::uint32_t> free_exposures_;
};

}  // namespace troupe
