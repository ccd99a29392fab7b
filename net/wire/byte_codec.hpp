#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/assert.hpp"

namespace troupe::net {

/// Writes little-endian integers one after the other. The caller sizes the frame; running over its
/// end is a broken invariant.
class byte_writer {
 public:
  explicit constexpr byte_writer(std::span<std::byte> out) : out_(out) {}

  template <class Integer>
  constexpr void put(Integer value) {
    TROUPE_ASSERT(sizeof(Integer) <= out_.size() - at_);
    const auto bits = static_cast<std::uint64_t>(value);
    for (std::size_t i = 0; i < sizeof(Integer); ++i) {
      out_[at_++] = static_cast<std::byte>(bits >> (8 * i));
    }
  }

  constexpr void put_bytes(std::span<const std::byte> bytes) {
    TROUPE_ASSERT(bytes.size() <= out_.size() - at_);
    for (const auto b : bytes)
      out_[at_++] = b;
  }

  /// Zeros up to position `end`: reserved bytes are sent as zeros.
  constexpr void pad_to(std::size_t end) {
    TROUPE_ASSERT(end <= out_.size());
    while (at_ < end)
      out_[at_++] = std::byte{0};
  }

  constexpr std::size_t written() const { return at_; }

 private:
  std::span<std::byte> out_;
  std::size_t at_ = 0;
};

/// Reads little-endian integers one after the other. Reading past the end gives zeros and sets
/// `failed()`; nothing outside the span is touched.
class byte_reader {
 public:
  explicit constexpr byte_reader(std::span<const std::byte> in) : in_(in) {}

  template <class Integer>
  constexpr Integer get() {
    if (sizeof(Integer) > in_.size() - at_) {
      failed_ = true;
      at_ = in_.size();
      return Integer{};
    }
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < sizeof(Integer); ++i) {
      bits |= static_cast<std::uint64_t>(in_[at_++]) << (8 * i);
    }
    return static_cast<Integer>(bits);
  }

  constexpr std::span<const std::byte> get_bytes(std::size_t count) {
    if (count > in_.size() - at_) {
      failed_ = true;
      at_ = in_.size();
      return {};
    }
    const auto bytes = in_.subspan(at_, count);
    at_ += count;
    return bytes;
  }

  constexpr std::size_t left() const { return in_.size() - at_; }
  constexpr bool failed() const { return failed_; }

  /// True if everything was read and nothing was missing.
  constexpr bool complete() const { return !failed_ && left() == 0; }

 private:
  std::span<const std::byte> in_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace troupe::net
