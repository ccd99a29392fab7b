#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace troupe::net::emulation {

/// A registered region. The handle comes first: a program's `ibv_mr*` points at it.
struct region {
  ibv_mr handle{};
  std::uint64_t begin = 0;  ///< the address by which verbs name its first byte (iova)
  unsigned access = 0;
  std::uint32_t sends = 0;  ///< requests under way that read or fill it

  std::byte* at(std::uint64_t address) const {
    return static_cast<std::byte*>(handle.addr) + (address - begin);
  }
};

/// The registered regions of a device by key. Local and remote keys differ, so that one used for
/// the other is noticed, and a key is reused only after all others were.
class memory_table {
 public:
  /// Null with errno if the table is full.
  region* add(std::unique_ptr<region> what);
  void remove(region& what);

  /// The region of a local key, if it belongs to `pd`, holds the bytes and allows `access`.
  region* local(std::uint32_t key, const ibv_pd* pd, std::uint64_t address, std::uint64_t bytes,
                unsigned access) const;
  /// The same of a remote key.
  region* remote(std::uint32_t key, const ibv_pd* pd, std::uint64_t address, std::uint64_t bytes,
                 unsigned access) const;

  std::size_t count_of(const ibv_pd* pd) const;
  std::size_t count() const { return count_; }

 private:
  region* find(std::uint32_t key, const ibv_pd* pd, std::uint64_t address, std::uint64_t bytes,
               unsigned access) const;

  struct place {
    std::unique_ptr<region> held;
    std::uint8_t generation = 0;
  };
  std::vector<place> places_;
  std::deque<std::uint32_t> free_;
  std::size_t count_ = 0;
};

}  // namespace troupe::net::emulation
