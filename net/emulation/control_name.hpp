#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::net::emulation {

/// Whose control channel it is.
struct control_owner {
  std::uint32_t user = 0;
  std::string job;
  std::uint32_t process = 0;
  std::string rank;  ///< empty if it has none

  friend bool operator==(const control_owner&, const control_owner&) = default;
};

/// The name of its abstract socket, without the zero in front.
std::string control_name(const control_owner& owner);

/// What a name says; nothing if it is that of something else.
std::optional<control_owner> read_control_name(std::string_view name);

}  // namespace troupe::net::emulation
