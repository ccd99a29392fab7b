#include "runtime/cli/setting_options.hpp"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace troupe::cli {

outcome<algorithm> parse_algorithm(std::string_view name) {
  std::string known;
  for (std::size_t i = 0; i < algorithm_count; ++i) {
    const auto a = static_cast<algorithm>(i);
    if (name == to_string(a)) return a;
    known += (known.empty() ? "" : ", ") + std::string(to_string(a));
  }
  return fail(errc::bad_argument,
              "algorithm '" + std::string(name) + "' is unknown; there are: " + known);
}

void add_settings(CLI::App& command, setting_list& settings) {
  command
      .add_option_function<std::vector<std::string>>(
          "--set",
          [&settings](const std::vector<std::string>& words) {
            for (const std::string& word : words) {
              const std::size_t equals = word.find('=');
              if (equals == std::string::npos)
                throw CLI::ValidationError("--set", "'" + word + "' is no section.name=value");
              settings.emplace_back(word.substr(0, equals), word.substr(equals + 1));
            }
          },
          "Option of the configuration, section.name=value; may come several times")
      ->type_name("OPTION=VALUE")
      ->allow_extra_args(false);
}

void add_algorithm(CLI::App& command, std::optional<algorithm>& wanted) {
  command.add_option_function<std::string>(
      "--algorithm",
      [&wanted](const std::string& name) {
        auto read = parse_algorithm(name);
        if (!read) throw CLI::ValidationError("--algorithm", read.error().message);
        wanted = *read;
      },
      "Take this algorithm instead of the table's choice (ring, recursive_doubling, ...)");
}

}  // namespace troupe::cli
