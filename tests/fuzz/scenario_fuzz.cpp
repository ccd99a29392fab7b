#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/assert.hpp"
#include "runtime/scenario/check_scenario.hpp"
#include "runtime/scenario/explain_scenario.hpp"
#include "runtime/scenario/print_scenario.hpp"
#include "runtime/scenario/read_scenario.hpp"

// Any text is a script or an error of one line with file and line, and what is read prints to a
// script that reads to the same text again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace troupe;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = scenario::read_scenario(text, "fuzz.toml");
  if (!read) {
    TROUPE_ASSERT(read.error().code() == errc::bad_configuration);
    TROUPE_ASSERT(read.error().message.starts_with("fuzz.toml:"));
    TROUPE_ASSERT(read.error().message.find('\n') == std::string::npos);
    return 0;
  }
  const std::string printed = scenario::print_scenario(*read);
  const auto again = scenario::read_scenario(printed, "printed.toml");
  TROUPE_ASSERT(again.has_value());
  TROUPE_ASSERT(scenario::print_scenario(*again) == printed);
  // A million ranks are looked over fault by fault: nothing to be fuzzed.
  if (read->machines.ranks > 1000) return 0;
  if (scenario::check_scenario(*read)) scenario::explain_scenario(*read);
  return 0;
}
