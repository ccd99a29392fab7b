#include "runtime/cli/rank_environment.hpp"

#include <sys/random.h>

#include <cerrno>
#include <cstring>
#include <string_view>

namespace troupe::cli {

std::vector<variable> rank_environment(const job_place& place, std::uint32_t rank) {
  const std::string number = std::to_string(rank);
  const std::string size = std::to_string(place.rank_count);
  std::vector<variable> all{
      {"RANK", number},
      {"LOCAL_RANK", number},
      {"ROLE_RANK", number},
      {"GROUP_RANK", "0"},
      {"WORLD_SIZE", size},
      {"LOCAL_WORLD_SIZE", size},
      {"ROLE_WORLD_SIZE", size},
      {"GROUP_WORLD_SIZE", "1"},
      {"ROLE_NAME", "default"},
      {"MASTER_ADDR", place.host},
      {"MASTER_PORT", std::to_string(place.port)},
      {"TORCHELASTIC_RESTART_COUNT", "0"},
      {"TORCHELASTIC_MAX_RESTARTS", "0"},
      {"TORCHELASTIC_RUN_ID", place.run_id},
      // Rank 0 opens its own store; there is no agent that would.
      {"TORCHELASTIC_USE_AGENT_STORE", "False"},
      {"TROUPE_BOOTSTRAP_SECRET", place.secret, variable::rule::unless_set},
  };
  // As torchrun: several ranks on one host must not each take all cores for OpenMP.
  if (place.rank_count > 1) all.push_back({"OMP_NUM_THREADS", "1", variable::rule::unless_set});
  if (!place.config_file.empty()) all.push_back({"TROUPE_CONFIG", place.config_file});
  return all;
}

std::vector<std::string> merge_environment(config::environment_variables inherited,
                                           const std::vector<variable>& set) {
  for (const variable& v : set) {
    if (v.when == variable::rule::always)
      inherited[v.name] = v.value;
    else
      inherited.emplace(v.name, v.value);
  }
  std::vector<std::string> entries;
  for (const auto& [name, value] : inherited)
    entries.push_back(name + "=" + value);
  return entries;
}

outcome<std::string> random_text(std::size_t byte_count) {
  std::string bytes(byte_count, '\0');
  // Up to 256 bytes come whole or not at all (getrandom(2)).
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(byte_count))
    return fail(errc::system_failure, std::string("getrandom: ") + std::strerror(errno));
  std::string text;
  for (const char c : bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    const auto value = static_cast<unsigned char>(c);
    text += digits[value >> 4];
    text += digits[value & 15u];
  }
  return text;
}

}  // namespace troupe::cli
