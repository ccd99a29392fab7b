#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/buffer_table.hpp"
#include "runtime/memory_ledger.hpp"
#include "runtime/result.hpp"

namespace troupe::actors {

/// Staging memory of running operations: page-aligned blocks in powers of two, kept for reuse.
///
/// Bound:  `limit_bytes` for `take`; `take_always` goes past it, because the oldest operation of a
///         communicator must never wait for memory that another communicator holds. So at most
///         `limit_bytes` plus one block per communicator.
/// Thread: the worker only.
class scratch_pool {
 public:
  scratch_pool(buffer_table& buffers, std::uint64_t limit_bytes, memory_ledger& ledger)
      : buffers_(buffers), limit_bytes_(limit_bytes), ledger_(ledger) {}
  ~scratch_pool();

  struct block {
    buffer_view view;
    std::uint32_t size_class = 0;
    std::byte* memory = nullptr;
  };

  /// Errors: queue_full if the limit is reached; resource_exhausted if memory is.
  result<block> take(std::uint64_t bytes);
  result<block> take_always(std::uint64_t bytes);

  void give_back(const block& b);

  std::uint64_t taken_bytes() const { return taken_bytes_; }
  std::uint64_t kept_bytes() const { return kept_bytes_; }

 private:
  struct free_memory {
    void operator()(std::byte* p) const noexcept;
  };
  using memory = std::unique_ptr<std::byte[], free_memory>;

  void forget(std::uint64_t bytes) { ledger_.subtract(memory_purpose::scratch, bytes); }

  static constexpr std::size_t class_count = 64;

  buffer_table& buffers_;
  std::uint64_t limit_bytes_;
  memory_ledger& ledger_;
  std::uint64_t taken_bytes_ = 0;
  std::uint64_t kept_bytes_ = 0;
  std::array<std::vector<memory>, class_count> kept_;
};

}  // namespace troupe::actors
