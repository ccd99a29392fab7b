#pragma once

#include "config/option_description.hpp"

#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::config {

/// A value as somebody wrote it, before anyone knows which option it is for.
struct written_value {
  enum class form : std::uint8_t {
    plain,    ///< environment and code: text without a type
    string,   ///< quoted in a file
    integer,  ///< a number in a file
    other,    ///< something no option has (boolean, float, list, ...); `text` names it
  };
  form written_as = form::plain;
  std::string text;
};

/// The value that `written` means for the option, or what is wrong with it, without the option's
/// name: "is out of range; allowed: 4KiB to 64MiB; unit: bytes". Never contains a secret.
tl::expected<option_value, std::string> read_value(const option_description& option,
                                                   const written_value& written);

/// Why the option must not have this value; nothing if it may.
std::optional<std::string> find_problem(const option_description& option,
                                        const option_value& value);

/// The value in its canonical text ("256KiB", "5s", "tcp"); equal values have equal texts. A
/// secret is "(set)" or "(not set)".
std::string format_value(const option_description& option, const option_value& value);

/// The same as it stands in a TOML file: quoted where the format wants quotes.
std::string format_toml(const option_description& option, const option_value& value);

/// "4KiB to 64MiB", "one of: auto tcp shm", "host:port, or empty: MASTER_ADDR:MASTER_PORT".
std::string range_text(const option_description& option);

/// How the value is written, for people: "bytes", "time", "lanes", "text".
std::string_view unit_text(const option_description& option);

/// The value that the option has if nobody sets it.
option_value default_value(const option_description& option);

/// The field's value in these options.
inline option_value value_in(const options& all, const option_description& option) {
  return option.field.read(all);
}

}  // namespace troupe::config
