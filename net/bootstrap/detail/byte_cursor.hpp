#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/assert.hpp"
#include "runtime/lane.hpp"

namespace troupe::net::detail {

/// Writes little-endian integers and bytes one after the other. The caller keeps within the span.
class byte_writer {
 public:
  explicit byte_writer(std::span<std::byte> out) : out_(out) {}

  template <class Integer>
  void integer(Integer value) {
    TROUPE_ASSERT(at_ + sizeof(Integer) <= out_.size());
    for (std::size_t i = 0; i < sizeof(Integer); ++i)
      out_[at_++] = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i));
  }

  void bytes(std::span<const std::byte> source) {
    TROUPE_ASSERT(source.size() <= out_.size() - at_);
    std::copy(source.begin(), source.end(), out_.begin() + static_cast<std::ptrdiff_t>(at_));
    at_ += source.size();
  }

  std::size_t written_bytes() const { return at_; }

 private:
  std::span<std::byte> out_;
  std::size_t at_ = 0;
};

/// Reads what `byte_writer` wrote. A read past the end yields zeros and clears `good()`.
class byte_reader {
 public:
  explicit byte_reader(std::span<const std::byte> in) : in_(in) {}

  template <class Integer>
  void integer(Integer& value) {
    value = 0;
    const auto source = take(sizeof(Integer));
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < source.size(); ++i)
      sum |= std::to_integer<std::uint64_t>(source[i]) << (8 * i);
    value = static_cast<Integer>(sum);
  }

  void bytes(std::span<std::byte> target) {
    const auto source = take(target.size());
    std::copy(source.begin(), source.end(), target.begin());
  }

  std::span<const std::byte> take(std::size_t count) {
    if (count > in_.size()) {
      good_ = false;
      in_ = {};
      return {};
    }
    const auto taken = in_.first(count);
    in_ = in_.subspan(count);
    return taken;
  }

  std::span<const std::byte> rest() { return take(in_.size()); }

  /// True if every read was in bounds and nothing is left.
  bool finished() const { return good_ && in_.empty(); }
  bool good() const { return good_; }

 private:
  std::span<const std::byte> in_;
  bool good_ = true;
};

inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline std::span<const std::byte> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

}  // namespace troupe::net::detail
