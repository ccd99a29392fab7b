#include "config/config_file.hpp"

#include "config/toml_items.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace troupe::config {

outcome<std::string> read_file(const std::string& path, std::string_view named_by) {
  std::error_code problem;
  const auto status = std::filesystem::status(path, problem);
  if (!problem && !std::filesystem::is_regular_file(status))
    problem = std::make_error_code(std::filesystem::exists(status)
                                       ? std::errc::invalid_argument
                                       : std::errc::no_such_file_or_directory);
  std::string text;
  if (!problem) {
    errno = 0;
    std::ifstream in(path, std::ios::binary);
    // One byte beyond the limit, so that the parser's check sees that there is more.
    text.resize(config_file_bytes_max + 1);
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    if (in.bad() || (!in.eof() && in.fail()))
      problem = std::error_code(errno != 0 ? errno : EIO, std::generic_category());
  }
  if (problem)
    return fail(errc::bad_configuration,
                path + ": the file, named by " + std::string(named_by) + ", cannot be read: " +
                    (problem == std::errc::invalid_argument ? "it is not a regular file"
                                                            : problem.message()));
  return text;
}

}  // namespace troupe::config
