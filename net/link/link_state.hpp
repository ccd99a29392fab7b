#pragma once
// Contract draft: the machine's author fills this in.
#include <cstddef>
#include <cstdint>

namespace troupe::net {
inline constexpr std::size_t control_bytes_max = 256;
inline constexpr std::size_t notice_bytes_max = 192;
inline constexpr std::size_t eager_header_bytes = 64;
inline constexpr std::size_t link_effects_max = 64;
class link_state;
}
