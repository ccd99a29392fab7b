#include "actors/collector/process_status.hpp"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

namespace troupe::actors {

namespace {

constexpr std::uint64_t bytes_per_kib = 1024;

std::string contents_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::uint64_t status_number(std::string_view text, std::string_view name) {
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    auto line = text.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with(name) || line.substr(name.size(), 1) != ":") continue;
    line.remove_prefix(name.size() + 1);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    std::uint64_t number = 0;
    std::from_chars(line.data(), line.data() + line.size(), number);
    return number;
  }
  return 0;
}

process_status read_process_status() {
  process_status out;
  const auto own = contents_of("/proc/self/status");
  out.threads = status_number(own, "Threads");
  out.resident_bytes = status_number(own, "VmRSS") * bytes_per_kib;
  std::error_code ignored;
  for ([[maybe_unused]] const auto& one :
       std::filesystem::directory_iterator("/proc/self/fd", ignored))
    ++out.descriptors;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", ignored))
    if (contents_of(task.path() / "comm") == "troupe.worker\n")
      out.worker_switches +=
          status_number(contents_of(task.path() / "status"), "nonvoluntary_ctxt_switches");
  return out;
}

}  // namespace troupe::actors
