#pragma once

#include <cstdint>

namespace troupe {

/// A seeded splitmix64: the only source of randomness inside a core. The same seed gives the same
/// numbers with every compiler and library (the distributions of std do not).
/// Source: Steele, Lea, Flood, OOPSLA 2014.
class random_stream {
 public:
  constexpr random_stream() = default;
  constexpr explicit random_stream(std::uint64_t seed) : state_(seed) {}

  constexpr std::uint64_t next() {
    state_ += 0x9e37'79b9'7f4a'7c15ull;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58'476d'1ce4'e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d0'49bb'1331'11ebull;
    return z ^ (z >> 31);
  }

  /// Uniform in [0, bound); 0 if bound is 0. The bias of the product is under 2^-32 for bounds
  /// below 2^32.
  constexpr std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((static_cast<uint128>(next()) * bound) >> 64);
  }

  /// Uniform in [low, high], both included.
  constexpr std::uint64_t between(std::uint64_t low, std::uint64_t high) {
    return low + below(high - low + 1);
  }

  /// True once in `n` calls on average.
  constexpr bool one_in(std::uint64_t n) { return below(n) == 0; }

  /// A stream of its own for a named part, so that an extra draw in one part shifts no other.
  constexpr random_stream fork(std::uint64_t name) const {
    random_stream child(state_ ^ (name * 0xd134'2543'de82'ef95ull));
    child.next();
    return child;
  }

 private:
  __extension__ using uint128 = unsigned __int128;

  std::uint64_t state_ = 0;
};

}  // namespace troupe
