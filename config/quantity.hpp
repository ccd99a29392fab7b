#pragma once

#include <tl/expected.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::config {

/// A number read from text, or what is wrong with the text ("has no unit; write \"5s\"").
using quantity = tl::expected<std::int64_t, std::string>;

/// Digits with an optional minus sign.
quantity parse_whole_number(std::string_view text);

/// Bytes: a whole number, or one with B, KiB, MiB, GiB, TiB (powers of 1024) or kB, MB, GB, TB
/// (powers of 1000); one space may stand between.
quantity parse_bytes(std::string_view text);

/// Nanoseconds: a whole number with ns, us, ms, s, m or h; one space may stand between. A number
/// without unit is an error whose text offers seconds.
quantity parse_time_length(std::string_view text);

/// The shortest exact text that `parse_bytes` reads: "256KiB", "1000".
std::string format_bytes(std::int64_t bytes);

/// The shortest exact text that `parse_time_length` reads: "150ms", "0s".
std::string format_time_length(std::int64_t nanoseconds);

}  // namespace troupe::config
