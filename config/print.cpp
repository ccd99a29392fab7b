#include "config/print.hpp"

#include "config/option_text.hpp"
#include "config/text_forms.hpp"

#include <algorithm>

namespace troupe::config {
namespace {

void pad_to(std::string& line, std::size_t width) {
  if (line.size() < width) line.append(width - line.size(), ' ');
}

/// `key = value` with the equals signs of a section below each other.
std::string print_assignment(const options& values, const option_description& option,
                             std::size_t key_width) {
  const option_value value = value_in(values, option);
  const bool secret = option.shows == visibility::secret;
  std::string line = secret ? "# " : "";
  line += option.key();
  pad_to(line, key_width);
  return line + " = " + (secret ? format_value(option, value) : format_toml(option, value));
}

std::string print_section(const loaded_options& loaded, const section_description& section) {
  std::size_t key_width = 0;
  for (const option_description& option : section.entries)
    key_width = std::max(key_width, option.key().size());
  std::vector<std::string> lines;
  std::size_t line_width = 0;
  for (const option_description& option : section.entries) {
    lines.push_back(print_assignment(loaded.values, option, key_width));
    line_width = std::max(line_width, lines.back().size());
  }
  std::string out = "\n[" + std::string(section.name) + "]\n";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    pad_to(lines[i], line_width);
    out +=
        lines[i] + "  # " + printable(to_string(loaded.origin_of(section.entries[i].name))) + '\n';
  }
  return out;
}

/// Sentence, range and default as comments of at most 100 columns, broken between words.
std::string wrap_comment(std::string_view text) {
  constexpr std::size_t width = 98;
  std::string out;
  while (!text.empty()) {
    std::size_t end = text.size();
    if (end > width) end = std::min(text.rfind(' ', width), text.size());
    out.append("# ").append(text.substr(0, end)) += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string example_option(const option_description& option) {
  std::string out = wrap_comment(option.sentence);
  std::string facts =
      "Unit: " + std::string(unit_text(option)) + ". Range: " + range_text(option) + ".";
  if (option.agrees == agreement::must_agree) facts += " Must agree on all ranks.";
  out += wrap_comment(facts);
  // The text of a secret says only whether it is set; the default is that it is not.
  const std::string value =
      option.shows == visibility::secret ? "\"\"" : format_toml(option, default_value(option));
  return out.append(option.key()) + " = " + value + '\n';
}

}  // namespace

std::string print_effective(const loaded_options& loaded) {
  std::string out = "# Effective options. Code goes before environment, file, default.\n# File: " +
                    (loaded.config_file.empty() ? "none" : printable(loaded.config_file)) + '\n';
  for (const section_description& section : sections())
    out += print_section(loaded, section);
  return out;
}

std::string example_file() {
  std::string out =
      "# Every option of Troupe at its default. Copy what you change; name the file in\n"
      "# TROUPE_CONFIG, or in the options of the call. docs/configuration.md explains the rest.\n";
  for (const section_description& section : sections()) {
    out.append("\n# ").append(section.sentence).append("\n[").append(section.name).append("]\n");
    for (const option_description& option : section.entries) {
      if (&option != &section.entries.front()) out += '\n';
      out += example_option(option);
    }
  }
  return out;
}

}  // namespace troupe::config
