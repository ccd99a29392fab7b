#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string_view>
#include <utility>

namespace troupe {

/// What an endpoint holds memory for. The names appear in metrics and in `troupe bench memory`.
enum class memory_purpose : std::uint8_t {
  endpoint,      ///< what all actors share: tables of buffers and lanes, counters, the context
  actors,        ///< the actors themselves with their state, idle runners included
  messages,      ///< slab of messages on their way and of what an operation is known by
  works,         ///< slab of works, which trainers hold
  operations,    ///< table of running operations
  histories,     ///< signatures of past calls, kept to name the one that differs
  traces,        ///< records of operations that run and that ended, for dumps
  links,         ///< windows, transfer tables and control streams, by peer that was talked to
  rings,         ///< slots of small messages, by peer that was talked to
  lanes,         ///< buffers of sockets and books of open writes, by connection
  segments,      ///< shared memory, by connection; its two ends count half each
  address_book,  ///< where the ranks of the world are; the one thing that grows with their number
  scratch,       ///< staging memory of running operations, and what is kept for the next ones
};

inline constexpr std::size_t memory_purpose_count = 13;

std::string_view to_string(memory_purpose purpose);

/// Bytes held, by purpose.
struct memory_usage {
  std::array<std::uint64_t, memory_purpose_count> bytes{};

  std::uint64_t operator[](memory_purpose purpose) const {
    return bytes[static_cast<std::size_t>(purpose)];
  }
  std::uint64_t total() const;
};

/// Bytes that one endpoint holds, counted where they are taken and given back. Containers take
/// theirs from `of(purpose)`; what is no container's (mappings, actors) is a `memory_charge`.
///
/// What is counted is what was asked for. The allocator's own overhead is not in here, nor is what
/// libraries take; a page that was never touched counts and costs no memory yet.
///
/// Thread: any. Must outlive everything that took memory under it.
class memory_ledger {
 public:
  memory_ledger();
  memory_ledger(const memory_ledger&) = delete;
  memory_ledger& operator=(const memory_ledger&) = delete;

  /// Memory from the heap, counted under `purpose`.
  std::pmr::memory_resource* of(memory_purpose purpose) {
    return &accounts_[static_cast<std::size_t>(purpose)];
  }

  void add(memory_purpose purpose, std::uint64_t bytes);
  void subtract(memory_purpose purpose, std::uint64_t bytes);

  memory_usage usage() const;

 private:
  class account final : public std::pmr::memory_resource {
   public:
    std::atomic<std::uint64_t> bytes{0};

   private:
    void* do_allocate(std::size_t size, std::size_t alignment) override;
    void do_deallocate(void* memory, std::size_t size, std::size_t alignment) override;
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
      return this == &other;
    }
  };

  std::array<account, memory_purpose_count> accounts_;
};

/// `bytes` that its owner holds, for as long as it lives.
class memory_charge {
 public:
  memory_charge() = default;

  /// Null: nobody counts.
  memory_charge(memory_ledger* ledger, memory_purpose purpose, std::uint64_t bytes)
      : ledger_(ledger), purpose_(purpose), bytes_(bytes) {
    if (ledger_ != nullptr) ledger_->add(purpose_, bytes_);
  }

  ~memory_charge() { release(); }
  memory_charge(memory_charge&& other) noexcept { swap(other); }
  memory_charge& operator=(memory_charge&& other) noexcept {
    release();
    swap(other);
    return *this;
  }

  void release() {
    if (ledger_ != nullptr) ledger_->subtract(purpose_, bytes_);
    ledger_ = nullptr;
  }

 private:
  void swap(memory_charge& other) noexcept {
    std::swap(ledger_, other.ledger_);
    std::swap(purpose_, other.purpose_);
    std::swap(bytes_, other.bytes_);
  }

  memory_ledger* ledger_ = nullptr;
  memory_purpose purpose_ = memory_purpose::endpoint;
  std::uint64_t bytes_ = 0;
};

}  // namespace troupe
