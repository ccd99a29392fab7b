#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/rank_dump.hpp"
#include "runtime/result.hpp"

namespace troupe {

/// Version of the format below; raised when a reader of the old one would be wrong about the new
/// one. New fields do not raise it: readers skip what they do not know.
inline constexpr std::uint32_t rank_dump_version = 1;

/// The dump as one line of JSON; every field in `docs/protocols/dump.md`.
std::string to_json(const rank_dump& dump);

/// Reads what `to_json` writes. Fields that are missing keep their defaults.
/// Errors: malformed (no JSON, no dump, a field of another type, a word that is not known),
///         version_mismatch (a newer format); the text names the field.
outcome<rank_dump> parse_rank_dump(std::string_view text);

}  // namespace troupe
