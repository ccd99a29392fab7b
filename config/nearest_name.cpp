#include "config/nearest_name.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace troupe::config {
namespace {

// Beyond this a name is garbage, and the table of distances would be as large as it.
constexpr std::size_t compared_bytes_max = 128;

template <class Distance>
const option_description& nearest_by(Distance distance) {
  const option_description* best = nullptr;
  std::size_t best_distance = std::numeric_limits<std::size_t>::max();
  for (const section_description& section : sections()) {
    for (const option_description& option : section.entries) {
      const std::size_t d = distance(option);
      if (d >= best_distance) continue;
      best_distance = d;
      best = &option;
    }
  }
  TROUPE_ASSERT(best != nullptr);
  return *best;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  a = a.substr(0, compared_bytes_max);
  b = b.substr(0, compared_bytes_max);
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j)
    last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::string_view nearest_of(std::string_view unknown_name,
                            std::span<const std::string_view> known) {
  TROUPE_ASSERT(!known.empty());
  return *std::ranges::min_element(
      known, {}, [&](std::string_view name) { return edit_distance(unknown_name, name); });
}

const option_description& nearest_option(std::string_view unknown_name) {
  const std::size_t dot = unknown_name.find('.');
  const std::string_view key =
      dot == std::string_view::npos ? unknown_name : unknown_name.substr(dot + 1);
  return nearest_by([&](const option_description& option) {
    // Distances are below 2 * compared_bytes_max: a right key goes before every other name.
    const std::size_t wrong_key = option.key() == key ? 0 : 2 * compared_bytes_max;
    return wrong_key + edit_distance(unknown_name, option.name);
  });
}

const option_description& nearest_variable(std::string_view unknown_name) {
  return nearest_by([&](const option_description& option) {
    return edit_distance(unknown_name, environment_name(option));
  });
}

const section_description& nearest_section(std::string_view unknown_name) {
  return *std::ranges::min_element(sections(), {}, [&](const section_description& section) {
    return edit_distance(unknown_name, section.name);
  });
}

}  // namespace troupe::config
