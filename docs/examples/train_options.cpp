#include "docs/examples/train_options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace examples {
namespace {

using parse_result = tl::expected<train_options, std::string>;

struct number_flag {
  std::string_view name;
  std::size_t train_options::*value;
  std::size_t smallest;
  std::size_t largest;
  std::string_view meaning;
};

struct text_flag {
  std::string_view name;
  std::string train_options::*value;
  std::string_view meaning;
};

struct switch_flag {
  std::string_view name;
  bool train_options::*value;
  std::string_view meaning;
};

constexpr std::array number_flags{
    number_flag{"--steps", &train_options::steps, 1, 1'000'000, "training steps"},
    number_flag{"--batch", &train_options::batch, 1, 1 << 20, "rows of the global batch"},
    number_flag{"--context", &train_options::context, 1, 1024, "characters the model sees"},
    number_flag{"--width", &train_options::width, 1, 4096, "width of the model"},
    number_flag{"--seed", &train_options::seed, 0, SIZE_MAX, "of parameters and batches"},
    number_flag{"--groups", &train_options::groups, 1, 1 << 20,
                "replica groups (default 2 if at least 4 ranks)"},
    number_flag{"--ranks", &train_options::ranks, 1, 1 << 20,
                "with --single: ranks of the job to imitate"},
};

constexpr std::array text_flags{
    text_flag{"--data", &train_options::data, "text to learn (default the installed licences)"},
    text_flag{"--csv", &train_options::csv, "file to write the loss curve to"},
};

constexpr std::array switch_flags{
    switch_flag{"--single", &train_options::single, "train in this one process, without Troupe"},
    switch_flag{"--quiet", &train_options::quiet, "print the verdict and errors only"},
    switch_flag{"--break-sync", &train_options::break_sync,
                "test aid: leave out the all_reduce; the comparison must fail"},
    switch_flag{"--help", &train_options::help, "print this and stop"},
};

template <class Flags>
auto find_flag(const Flags& flags, std::string_view name) {
  return std::find_if(flags.begin(), flags.end(),
                      [name](const auto& flag) { return flag.name == name; });
}

std::optional<std::string> set_number(const number_flag& flag, std::string_view text,
                                      train_options& options) {
  std::size_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc{} && stopped == end && value >= flag.smallest && value <= flag.largest) {
    options.*flag.value = value;
    return {};
  }
  return std::string(flag.name) + " takes a number from " + std::to_string(flag.smallest) + " to " +
         std::to_string(flag.largest) + ", not '" + std::string(text) + "'";
}

/// A flag with a value. Empty: done; otherwise what is wrong.
std::optional<std::string> set_value(std::string_view name, std::string_view text,
                                     train_options& options) {
  if (const auto flag = find_flag(number_flags, name); flag != number_flags.end())
    return set_number(*flag, text, options);
  if (const auto flag = find_flag(text_flags, name); flag != text_flags.end()) {
    options.*flag->value = text;
    return {};
  }
  if (name != "--live") return "unknown flag " + std::string(name) + "; see --help";
  if (text == "auto")
    options.live = live_line::when_terminal;
  else if (text == "on")
    options.live = live_line::always;
  else if (text == "off")
    options.live = live_line::never;
  else
    return "--live takes auto, on or off, not '" + std::string(text) + "'";
  return {};
}

std::string line(std::string_view name, std::string_view value, std::string_view meaning) {
  std::string text = "  " + std::string(name) + " " + std::string(value);
  text.resize(std::max<std::size_t>(text.size() + 1, 18), ' ');
  return text + std::string(meaning) + "\n";
}

}  // namespace

parse_result parse_options(std::span<const char* const> arguments) {
  train_options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view name = arguments[i];
    if (const auto flag = find_flag(switch_flags, name); flag != switch_flags.end()) {
      options.*flag->value = true;
      continue;
    }
    const bool has_value = i + 1 < arguments.size();
    const auto wrong = set_value(name, has_value ? arguments[i + 1] : "", options);
    if (wrong) return tl::unexpected(*wrong);
    if (!has_value) return tl::unexpected(std::string(name) + " needs a value");
    ++i;
  }
  return options;
}

tl::expected<job_shape, std::string> shape_job(const train_options& options, std::size_t ranks) {
  const std::size_t chosen = ranks >= 4 && ranks % 2 == 0 ? 2 : 1;
  const std::size_t groups = options.groups == 0 ? chosen : options.groups;
  if (ranks % groups != 0) {
    return tl::unexpected("--groups " + std::to_string(groups) + " does not divide the " +
                          std::to_string(ranks) + " ranks of the job");
  }
  if (options.batch % ranks != 0) {
    return tl::unexpected("--batch " + std::to_string(options.batch) +
                          " is not a multiple of the " + std::to_string(ranks) +
                          " ranks of the job");
  }
  return job_shape{.ranks = static_cast<std::uint32_t>(ranks),
                   .groups = static_cast<std::uint32_t>(groups),
                   .rows_per_rank = options.batch / ranks};
}

std::string usage() {
  std::string text =
      "train_characters: trains a small language model on characters, on all ranks of a job\n"
      "(hybrid sharded data parallel), and compares with the same training in one process.\n\n"
      "  troupe launch -n 4 -- train_characters [flags]\n"
      "  train_characters --single [flags]\n\n";
  const train_options defaults;
  for (const number_flag& flag : number_flags) {
    std::string meaning(flag.meaning);
    if (const std::size_t value = defaults.*flag.value; value != 0)
      meaning += " (default " + std::to_string(value) + ")";
    text += line(flag.name, "N", meaning);
  }
  for (const text_flag& flag : text_flags)
    text += line(flag.name, "PATH", flag.meaning);
  text += line("--live", "WHEN", "rewrite one line in place: auto (on a terminal), on, off");
  for (const switch_flag& flag : switch_flags)
    text += line(flag.name, "", flag.meaning);
  return text +
         "\nExit code: 0 the curves agree, 1 they differ, 2 wrong usage or data,\n"
         "3 communication failed.\n";
}

}  // namespace examples
