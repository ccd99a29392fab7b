#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <utility>

#include "runtime/memory_ledger.hpp"

namespace troupe {

/// Small blocks cut from pages and kept for reuse: what control objects (messages, works, records
/// of operations) live in. In the steady state nothing is taken from the heap.
///
/// Bound:  `limit_bytes` of blocks in use is where `is_full()` begins: whoever admits new work asks
///         first and refuses with queue_full. What was admitted is served past the limit, because a
///         message of a running operation cannot be refused; `peak_bytes()` says how far it went.
/// Cost:   a block is taken and given back in a few ns; pages are never given back before the end.
///         A block of more than `block_bytes_max` comes from the pages' own resource each time.
/// Thread: one at a time, see `shared_slab`.
class slab final : public std::pmr::memory_resource {
 public:
  static constexpr std::size_t block_bytes_max = 2048;

  slab(std::pmr::memory_resource* pages, std::uint64_t limit_bytes)
      : pages_(pages), limit_bytes_(limit_bytes) {}
  ~slab() override;
  slab(const slab&) = delete;
  slab& operator=(const slab&) = delete;

  bool is_full() const { return used_bytes_ >= limit_bytes_; }
  std::uint64_t limit_bytes() const { return limit_bytes_; }
  std::uint64_t used_bytes() const { return used_bytes_; }
  std::uint64_t peak_bytes() const { return peak_bytes_; }

 private:
  /// The first bytes of a page, and of a block that nobody uses.
  struct link {
    link* next = nullptr;
  };

  static constexpr std::size_t page_bytes = 16 * 1024;
  static constexpr std::size_t smallest_block_bytes = 64;
  static constexpr std::size_t class_count = 6;  ///< 64 to 2,048

  void* do_allocate(std::size_t size, std::size_t alignment) override;
  void do_deallocate(void* memory, std::size_t size, std::size_t alignment) override;
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }
  void cut_page(std::size_t size_class);

  std::pmr::memory_resource* pages_;
  std::uint64_t limit_bytes_;
  std::uint64_t used_bytes_ = 0;
  std::uint64_t peak_bytes_ = 0;
  link* first_page_ = nullptr;
  std::array<link*, class_count> free_{};
};

/// A slab that several threads take from and give back to. Objects that outlive whoever made the
/// slab share it (`slab_allocator`).
class shared_slab {
 public:
  shared_slab(std::shared_ptr<memory_ledger> ledger, memory_purpose purpose,
              std::uint64_t limit_bytes)
      : ledger_(std::move(ledger)), blocks_(ledger_->of(purpose), limit_bytes) {}

  void* take(std::size_t size, std::size_t alignment);
  void give_back(void* memory, std::size_t size, std::size_t alignment);

  bool is_full() const;
  std::uint64_t limit_bytes() const { return blocks_.limit_bytes(); }
  std::uint64_t used_bytes() const;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<memory_ledger> ledger_;  // dropped last by whatever object outlives its endpoint
  slab blocks_;
};

/// For `std::allocate_shared`: the object and the last allocator keep the slab.
template <class T>
class slab_allocator {
 public:
  using value_type = T;

  explicit slab_allocator(std::shared_ptr<shared_slab> from) : from_(std::move(from)) {}
  template <class Other>
  slab_allocator(const slab_allocator<Other>& other)  // implicit: allocators convert
      : from_(other.from()) {}

  T* allocate(std::size_t count) {
    return static_cast<T*>(from_->take(count * sizeof(T), alignof(T)));
  }
  void deallocate(T* memory, std::size_t count) {
    from_->give_back(memory, count * sizeof(T), alignof(T));
  }

  const std::shared_ptr<shared_slab>& from() const { return from_; }
  friend bool operator==(const slab_allocator&, const slab_allocator&) = default;

 private:
  std::shared_ptr<shared_slab> from_;
};

}  // namespace troupe
