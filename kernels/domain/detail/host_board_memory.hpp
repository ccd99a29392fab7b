#pragma once

#include <cstdint>

#include "kernels/domain/domain_layout.hpp"
#include "runtime/result.hpp"

namespace troupe::kernels::detail {

/// The host memory that the members of a domain share. It has no name in any file system: the first
/// member makes it, others open the descriptor of the first, and it ends with the last of them.
/// Every GPU reads and writes it.
class host_board_memory {
 public:
  static outcome<host_board_memory> create();
  /// Memory that another process, or this one, created.
  static outcome<host_board_memory> open(std::int64_t process, std::int32_t descriptor);

  host_board_memory() = default;
  ~host_board_memory() { reset(); }
  host_board_memory(host_board_memory&& other) noexcept;
  host_board_memory& operator=(host_board_memory&& other) noexcept;

  host_board& board() const { return *board_; }
  std::int32_t descriptor() const { return descriptor_; }
  /// The descriptor is not needed once everybody has the memory.
  void forget_descriptor();

  void reset();

 private:
  outcome<void> map();

  host_board* board_ = nullptr;
  std::int32_t descriptor_ = -1;
  bool pinned_ = false;
};

}  // namespace troupe::kernels::detail
