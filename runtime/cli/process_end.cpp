#include "runtime/cli/process_end.hpp"

#include <array>
#include <cstdio>
#include <cstring>

namespace troupe::cli {

int shell_code(const process_end& end) {
  return end.how == process_end::kind::exited ? end.number : 128 + end.number;
}

std::string signal_name(int number) {
  const char* name = sigabbrev_np(number);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(number);
}

std::string describe(const process_end& end) {
  if (end.how == process_end::kind::exited) return "exit code " + std::to_string(end.number);
  return "killed by " + signal_name(end.number) + (end.core_dumped ? " (core dumped)" : "");
}

std::string describe_ranks(std::span<const std::uint32_t> ranks) {
  constexpr int range_count_max = 8;  // chosen: fits one line of a terminal
  std::string text;
  int range_count = 0;
  for (std::size_t i = 0; i < ranks.size();) {
    if (range_count++ == range_count_max)
      return text + " and " + std::to_string(ranks.size() - i) + " more";
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1)
      ++last;
    if (!text.empty()) text += ", ";
    text += std::to_string(ranks[i]);
    if (last > i) text += "-" + std::to_string(ranks[last]);
    i = last + 1;
  }
  return text;
}

std::string count_ranks(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " rank" : " ranks");
}

std::string describe_seconds(duration d) {
  const double seconds = std::chrono::duration<double>(d).count();
  std::array<char, 32> text{};
  const bool whole = d % std::chrono::seconds(1) == duration::zero();
  std::snprintf(text.data(), text.size(), whole ? "%.0f s" : "%.3f s", seconds);
  return text.data();
}

}  // namespace troupe::cli
