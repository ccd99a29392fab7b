#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/result.hpp"

namespace troupe {

/// Where a rank stands, by names, widest first. Empty: not known. A level is known only together
/// with all that are wider (`check_place`), except the host, which stands for itself.
struct place {
  std::string data_center{};
  std::string zone{};
  std::string rack{};
  std::string host{};

  friend bool operator==(const place&, const place&) = default;
};

/// Errors: bad_argument for a level without the one around it; the message names both.
outcome<void> check_place(const place& where);

/// A place as ranks tell it to each other: one number a level, 0 where it is not known. Numbers
/// are hashes of the names of a level and all wider ones, so racks of one name in two zones differ.
/// Two names of one level may have one number: with 6,000 racks, 160 of them in a zone, the chance
/// that some two of one zone do is below 1 in 5,000, and then these two count as one rack.
struct place_code {
  std::uint32_t data_center = 0;
  std::uint32_t zone = 0;
  std::uint32_t rack = 0;
  std::uint32_t host = 0;

  friend constexpr bool operator==(const place_code&, const place_code&) = default;
};

place_code code_of(const place& where);

/// Distance class of a peer. A peer whose place is not known is a class of its own, never near.
enum class tier : std::uint8_t {
  same_host = 0,
  same_rack = 1,
  same_zone = 2,
  cross_zone = 3,
  cross_data_center = 4,
  unknown = 5,
};

inline constexpr std::uint32_t tier_count = 6;

/// "same_rack".
std::string_view to_string(tier which);

/// The distance class between two places: that of the widest level at which they differ. A level
/// that one of them does not know counts as different; a data centre that one of them does not know
/// is `unknown`. The same in both directions. Ranks of one host are `same_host` if the rest of
/// their places agrees, known or not: a host of that name in another rack is another host.
tier tier_between(const place_code& here, const place_code& there);

}  // namespace troupe
