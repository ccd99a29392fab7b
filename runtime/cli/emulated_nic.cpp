#include "runtime/cli/emulated_nic.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

namespace troupe::cli {

namespace {

// From the directory of the program: as built, and as installed.
constexpr std::array<const char*, 2> places{"../lib/emulation", TROUPE_INSTALLED_EMULATION};

}  // namespace

outcome<std::string> find_emulation_directory() {
  std::error_code problem;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", problem);
  if (problem)
    return fail(errc::system_failure, "cannot find the path of this program in /proc/self/exe");
  std::string looked_at;
  for (const char* const place : places) {
    const auto directory = (program.parent_path() / place).lexically_normal();
    if (std::filesystem::exists(directory / "libibverbs.so.1", problem)) return directory.string();
    looked_at += (looked_at.empty() ? "" : " and ") + directory.string();
  }
  return fail(errc::not_available, "there is no emulated NIC in " + looked_at +
                                       "; build Troupe with libibverbs-dev installed");
}

std::vector<variable> emulation_environment(const emulation_request& request,
                                            const std::string& directory, const job_place& place,
                                            std::uint32_t rank,
                                            const config::environment_variables& inherited) {
  const auto before = inherited.find("LD_LIBRARY_PATH");
  const bool has_path = before != inherited.end() && !before->second.empty();
  const std::uint64_t host = std::uint64_t{rank} * request.host_count / place.rank_count;
  std::vector<variable> all{
      {"LD_LIBRARY_PATH", has_path ? directory + ':' + before->second : directory},
      {"TROUPE_EMULATION_JOB", "job-" + place.run_id, variable::rule::unless_set},
      {"TROUPE_EMULATION_HOST", std::to_string(host)},
  };
  if (!request.network_file.empty())
    all.push_back({"TROUPE_EMULATION_NETWORK",
                   std::filesystem::absolute(request.network_file).lexically_normal().string()});
  return all;
}

}  // namespace troupe::cli
