#include <cstddef>
#include <cstdint>
#include <string_view>

#include "config/load.hpp"
#include "config/print.hpp"
#include "runtime/assert.hpp"

// Any text is a configuration or an error of one line, and what is loaded prints to a file that
// loads again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto loaded = troupe::config::load_text(text, "fuzz.toml");
  if (loaded) {
    const std::string printed = troupe::config::print_effective(*loaded);
    const auto again = troupe::config::load_text(printed, "printed.toml");
    TROUPE_ASSERT(again.has_value());
  } else {
    TROUPE_ASSERT(loaded.error().code() == troupe::errc::bad_configuration);
    TROUPE_ASSERT(loaded.error().message.find('\n') == std::string::npos);
  }
  return 0;
}
