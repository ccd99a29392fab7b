#include "runtime/data_type.hpp"

#include <array>

namespace troupe {

namespace {

constexpr std::array<std::string_view, data_type_count> type_names{
    "int8",   "uint8",   "int16",    "uint16",  "int32",   "uint32",      "int64",
    "uint64", "float16", "bfloat16", "float32", "float64", "float8_e4m3", "float8_e5m2"};

constexpr std::array<std::string_view, reduction_count> reduction_names{
    "sum", "product", "minimum", "maximum", "average", "premultiplied_sum"};

template <class Value, std::size_t N>
std::optional<Value> find(const std::array<std::string_view, N>& names, std::string_view name) {
  for (std::size_t i = 0; i < N; ++i)
    if (names[i] == name) return static_cast<Value>(i);
  return std::nullopt;
}

}  // namespace

std::string_view to_string(data_type type) {
  const auto index = static_cast<std::size_t>(type);
  return index < data_type_count ? type_names[index] : "invalid";
}

std::string_view to_string(reduction op) {
  const auto index = static_cast<std::size_t>(op);
  return index < reduction_count ? reduction_names[index] : "invalid";
}

std::optional<data_type> data_type_from(std::string_view name) {
  return find<data_type>(type_names, name);
}

std::optional<reduction> reduction_from(std::string_view name) {
  return find<reduction>(reduction_names, name);
}

}  // namespace troupe
