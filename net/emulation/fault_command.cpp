#include "net/emulation/fault_command.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "net/emulation/text_fields.hpp"

namespace troupe::net::emulation {

namespace {

using words = std::span<const std::string_view>;

enum class argument : std::uint8_t { none, time, share, count };

struct verb {
  std::string_view name;
  fault what;
  argument takes;
};

constexpr std::array verbs{
    verb{"down", fault::down, argument::none},
    verb{"up", fault::up, argument::none},
    verb{"delay", fault::delay, argument::time},
    verb{"reorder", fault::reorder, argument::time},
    verb{"loss", fault::loss, argument::share},
    verb{"duplicate", fault::duplicate, argument::share},
    verb{"lose_completions", fault::lose_completions, argument::count},
    verb{"slow_registration", fault::slow_registration, argument::time},
    verb{"fail_registrations", fault::fail_registrations, argument::count},
    verb{"change_gid", fault::change_gid, argument::none},
    verb{"break_qps", fault::break_qps, argument::none},
    verb{"clear", fault::clear, argument::none},
    verb{"status", fault::status, argument::none},
};

constexpr std::uint32_t count_max = 1'000'000;
constexpr std::uint32_t flap_max = 1000;
constexpr std::uint32_t device_max = 15;

tl::unexpected<failure> bad(std::string text) {
  return fail(errc::bad_configuration, std::move(text));
}

std::string verb_names() {
  std::string text = "flap";
  for (const auto& known : verbs)
    text += ", " + std::string(known.name);
  return text;
}

outcome<std::optional<std::uint32_t>> read_device(std::string_view text) {
  if (text == "all") return std::optional<std::uint32_t>();
  if (!text.starts_with("emu")) return bad("\"" + std::string(text) + "\" must be emuN or all");
  const auto index = read_count(text.substr(3), 0, device_max);
  if (!index) return fail(index.error());
  return std::optional(*index);
}

outcome<std::uint64_t> read_argument(argument takes, words line) {
  if (takes == argument::none) {
    if (line.size() != 2)
      return bad("takes a device and nothing else: " + std::string(line[0]) + " emuN|all");
    return 0;
  }
  if (line.size() != 3)
    return bad("takes a device and one value: " + std::string(line[0]) + " emuN|all VALUE");
  if (takes == argument::time) return read_time(line[2]);
  if (takes == argument::count) return read_count(line[2], 1, count_max);
  return read_share(line[2]);
}

// flap emuN down TIME up TIME count N
outcome<void> read_flap(words line, std::uint64_t after_ns, std::vector<fault_command>& out) {
  if (line.size() != 8 || line[2] != "down" || line[4] != "up" || line[6] != "count")
    return bad("flap emuN|all down TIME up TIME count NUMBER");
  const auto device = read_device(line[1]);
  if (!device) return fail(device.error());
  const auto down_ns = read_time(line[3]);
  if (!down_ns) return fail(down_ns.error());
  const auto up_ns = read_time(line[5]);
  if (!up_ns) return fail(up_ns.error());
  const auto count = read_count(line[7], 1, flap_max);
  if (!count) return fail(count.error());
  for (std::uint32_t i = 0; i < *count; ++i) {
    out.push_back({.what = fault::down, .device = *device, .after_ns = after_ns});
    out.push_back({.what = fault::up, .device = *device, .after_ns = after_ns + *down_ns});
    after_ns += *down_ns + *up_ns;
  }
  return {};
}

outcome<void> read_command(words line, std::vector<fault_command>& out) {
  std::uint64_t after_ns = 0;
  if (line[0] == "after") {
    if (line.size() < 3) return bad("after TIME COMMAND");
    const auto time = read_time(line[1]);
    if (!time) return fail(time.error());
    after_ns = *time;
    line = line.subspan(2);
  }
  if (line[0] == "flap") return read_flap(line, after_ns, out);
  const auto* const known =
      std::find_if(verbs.begin(), verbs.end(), [&](const verb& v) { return v.name == line[0]; });
  if (known == verbs.end())
    return bad("\"" + std::string(line[0]) + "\" must be one of " + verb_names());
  if (known->what == fault::status && line.size() == 1) {
    out.push_back({.what = fault::status, .after_ns = after_ns});
    return {};
  }
  const auto amount = read_argument(known->takes, line);
  if (!amount) return fail(amount.error());
  const auto device = read_device(line[1]);
  if (!device) return fail(device.error());
  out.push_back({.what = known->what, .device = *device, .amount = *amount, .after_ns = after_ns});
  return {};
}

}  // namespace

outcome<std::vector<fault_command>> read_fault_commands(std::string_view text) {
  std::vector<fault_command> commands;
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of(";\n"), text.size());
    const auto command = text.substr(0, end);
    const auto line = words_of(command);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    if (const auto read = read_command(line, commands); !read)
      return bad("fault command \"" + std::string(command) + "\": " + read.error().message);
  }
  return commands;
}

}  // namespace troupe::net::emulation
