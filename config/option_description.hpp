#pragma once

#include "config/options.hpp"
#include "runtime/assert.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace troupe::config {

/// How an option is written.
enum class value_kind : std::uint8_t {
  text,         ///< characters
  bytes,        ///< a size: 262144 or "256KiB"
  count,        ///< a whole number of `option_description::unit`
  time_length,  ///< a duration with its unit: "150ms"
};

/// Whether ranks may have different values.
enum class agreement : std::uint8_t { per_rank, must_agree };

/// Whether a value may be shown. A secret never appears in output, error texts or the digest.
enum class visibility : std::uint8_t { shown, secret };

/// A further condition on a number.
enum class number_shape : std::uint8_t { any, power_of_two, multiple_of_64 };

/// The value of any option: bytes, counts, or nanoseconds for a duration, or text. An unsigned
/// field beyond the signed range reads as the largest number, which no range allows.
using option_value = std::variant<std::int64_t, std::string>;

/// Reads and writes one field of `options`.
struct field_access {
  option_value (*read)(const options& from) = nullptr;
  void (*write)(options& to, const option_value& value) = nullptr;
  std::int64_t largest = 0;  ///< what the field can hold; 0 for text
};

/// Everything there is to know about an option except its default, which the struct itself has.
struct option_description {
  std::string_view name{};  ///< "transport.segment_bytes"
  value_kind kind = value_kind::text;
  field_access field{};
  std::string_view unit{};  ///< what a number counts; empty for text
  std::int64_t low = 0;     ///< smallest number, in the unit of `option_value`; included
  std::int64_t high = 0;    ///< largest number; included
  number_shape shape = number_shape::any;
  std::string_view unset_means{};               ///< what 0 or "" stands for; empty: not allowed
  std::span<const std::string_view> choices{};  ///< the only texts allowed; empty: see `accepts`
  bool (*accepts)(std::string_view) = nullptr;  ///< form of a text; null: any printable one
  std::string_view form{};                      ///< that form in words
  agreement agrees = agreement::per_rank;
  visibility shows = visibility::shown;
  std::string_view sentence{};

  /// "transport".
  std::string_view section() const { return name.substr(0, name.find('.')); }
  /// "segment_bytes".
  std::string_view key() const { return name.substr(name.find('.') + 1); }
};

/// One table per section; options stand in the order of their struct.
struct section_description {
  std::string_view name;
  std::string_view sentence;
  std::span<const option_description> entries;
};

/// Every section, and in it every option, once.
std::span<const section_description> sections();

/// The option of that full name; null if there is none.
const option_description* find_option(std::string_view name);

/// "TROUPE_TRANSPORT_SEGMENT_BYTES".
std::string environment_name(const option_description& option);

/// Longest text of an option. Chosen: host names end at 253.
inline constexpr std::size_t option_text_bytes_max = 255;

namespace detail {

template <auto Section, auto Member>
option_value read_field(const options& from) {
  const auto& field = from.*Section.*Member;
  using field_type = std::remove_cvref_t<decltype(field)>;
  if constexpr (std::is_same_v<field_type, std::string>) {
    return field;
  } else if constexpr (std::is_same_v<field_type, duration>) {
    return static_cast<std::int64_t>(field.count());
  } else {
    constexpr auto signed_max =
        static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const std::uint64_t value = field;
    return static_cast<std::int64_t>(value > signed_max ? signed_max : value);
  }
}

template <auto Section, auto Member>
void write_field(options& to, const option_value& value) {
  auto& field = to.*Section.*Member;
  using field_type = std::remove_cvref_t<decltype(field)>;
  if constexpr (std::is_same_v<field_type, std::string>) {
    field = std::get<std::string>(value);
  } else if constexpr (std::is_same_v<field_type, duration>) {
    field = duration(std::get<std::int64_t>(value));
  } else {
    const std::int64_t number = std::get<std::int64_t>(value);
    TROUPE_ASSERT(number >= 0);
    TROUPE_ASSERT(static_cast<std::uint64_t>(number) <= std::numeric_limits<field_type>::max());
    field = static_cast<field_type>(number);
  }
}

template <class Field>
constexpr std::int64_t largest_of() {
  if constexpr (std::is_same_v<Field, std::string>) {
    return 0;
  } else if constexpr (std::is_same_v<Field, duration> || sizeof(Field) == 8) {
    return std::numeric_limits<std::int64_t>::max();
  } else {
    return std::numeric_limits<Field>::max();
  }
}

template <auto Section, auto Member>
inline constexpr field_access field{
    &read_field<Section, Member>, &write_field<Section, Member>,
    largest_of<std::remove_cvref_t<decltype(std::declval<options>().*Section.*Member)>>()};

}  // namespace detail

}  // namespace troupe::config
