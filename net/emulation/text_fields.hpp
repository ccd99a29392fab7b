#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/result.hpp"

namespace troupe::net::emulation {

// Numbers with units, as network files and fault commands write them. The errors say what was read
// and what may stand there.

/// The words of a line; a comment starts with '#'.
std::vector<std::string_view> words_of(std::string_view line);

/// "250ns", "5us", "1.5ms", "2s", "0": nanoseconds, at most one hour.
outcome<std::uint64_t> read_time(std::string_view text);
/// "400Gbit/s", "20Mbit/s": picoseconds that a byte takes.
outcome<std::uint64_t> read_rate(std::string_view text);
/// "4096", "64KiB", "16MiB", "1GiB": bytes.
outcome<std::uint64_t> read_bytes(std::string_view text);
/// "0.5%": parts per million.
outcome<std::uint32_t> read_share(std::string_view text);
/// "17", within limits.
outcome<std::uint32_t> read_count(std::string_view text, std::uint32_t least, std::uint32_t most);

}  // namespace troupe::net::emulation
