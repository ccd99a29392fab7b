#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/instant.hpp"
#include "runtime/result.hpp"

namespace troupe::cli {

/// Bytes as nccl-tests takes them: a whole number, or one with K, M, G or T (powers of 1024). Also
/// what the configuration takes: KiB, MiB, ..., and kB, MB, ... (powers of 1000).
/// Errors: bad_argument.
outcome<std::uint64_t> parse_size(std::string_view text);

/// A length of time: "500ms", "5us" as in the configuration, or seconds: "10", "0.5".
/// Errors: bad_argument.
outcome<duration> parse_duration(std::string_view text);

/// Bytes per second: "25GB/s", "100MiB/s", or with bits: "200Gbit/s" (powers of 1000).
/// Errors: bad_argument.
outcome<std::uint64_t> parse_rate(std::string_view text);

/// "8", "64K", "128M": the shortest text that `parse_size` reads as this number.
std::string format_size(std::uint64_t bytes);

}  // namespace troupe::cli
