#include "runtime/cli/config_table.hpp"

#include <algorithm>
#include <vector>

#include "config/option_text.hpp"

namespace troupe::cli {
namespace {

struct line {
  std::string name;
  std::string value;
  std::string origin;
};

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, text.size()), ' ');
}

}  // namespace

std::string config_table(const config::loaded_options& loaded) {
  std::vector<line> lines{{"OPTION", "VALUE", "ORIGIN"}};
  for (const config::section_description& section : config::sections()) {
    for (const config::option_description& option : section.entries) {
      std::string value = config::format_value(option, config::value_in(loaded.values, option));
      lines.push_back({std::string(option.name), value.empty() ? "\"\"" : value,
                       to_string(loaded.origin_of(option.name))});
    }
  }
  std::size_t name_width = 0;
  std::size_t value_width = 0;
  for (const line& each : lines) {
    name_width = std::max(name_width, each.name.size());
    value_width = std::max(value_width, each.value.size());
  }
  std::string text;
  for (const line& each : lines)
    text += padded(each.name, name_width) + "  " + padded(each.value, value_width) + "  " +
            each.origin + "\n";
  return text;
}

}  // namespace troupe::cli
