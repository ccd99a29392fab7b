#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace troupe::net::detail {

inline constexpr std::uint32_t no_block = 0xffff'ffffu;

/// Blocks of bytes for what is on a wire, in powers of two from 64, kept for the next frame.
class byte_pool {
 public:
  std::uint32_t take(std::uint64_t bytes) {
    const auto size_class = class_of(bytes);
    auto& spare = spare_[size_class];
    if (!spare.empty()) {
      const auto block = spare.back();
      spare.pop_back();
      return block;
    }
    const auto size = std::size_t{64} << size_class;
    blocks_.push_back({std::make_unique_for_overwrite<std::byte[]>(size), size_class});
    return static_cast<std::uint32_t>(blocks_.size() - 1);
  }

  void give_back(std::uint32_t block) { spare_[blocks_[block].size_class].push_back(block); }

  std::byte* at(std::uint32_t block) { return blocks_[block].bytes.get(); }

 private:
  struct block_entry {
    std::unique_ptr<std::byte[]> bytes;
    std::uint32_t size_class = 0;
  };

  static std::uint32_t class_of(std::uint64_t bytes) {
    return bytes <= 64 ? 0 : static_cast<std::uint32_t>(std::bit_width((bytes - 1) >> 6));
  }

  std::vector<block_entry> blocks_;
  std::array<std::vector<std::uint32_t>, 58> spare_;
};

}  // namespace troupe::net::detail
