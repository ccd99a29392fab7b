#pragma once

#include "config/option_description.hpp"
#include "config/options.hpp"
#include "runtime/result.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::config {

/// Names and values of environment variables, as a value that tests make up.
using environment_variables = std::map<std::string, std::string, std::less<>>;

/// The variables of this process, now.
/// Thread: must not run while another thread changes the environment.
environment_variables process_environment();

/// Names the file if the request does not.
inline constexpr std::string_view config_file_variable = "TROUPE_CONFIG";
/// Verbosity of the log; read by the log itself, allowed here.
inline constexpr std::string_view log_variable = "TROUPE_LOG";

/// Variables that steer the simulation tests (docs/testing.md), not an endpoint: allowed here.
inline constexpr std::string_view simulation_prefix = "TROUPE_SIM_";

/// Variables of the emulated NIC (docs/emulation.md), which lies under programs as their libibverbs
/// and reads these itself.
inline constexpr std::string_view emulation_prefix = "TROUPE_EMULATION_";

/// Where options come from. Code goes before environment, environment before file, file before
/// default; an error in any of them is an error, also where another goes before it.
struct load_request {
  std::string config_file{};  ///< path of a TOML file; empty: TROUPE_CONFIG, or none
  /// By full name: {"transport.segment_bytes", "256KiB"}; text without quotes. The last of two
  /// settings of one option holds.
  std::vector<std::pair<std::string, std::string>> settings{};
  std::optional<environment_variables> environment{};  ///< unset: the process's
};

/// Who set a value.
enum class source : std::uint8_t { built_in, file, environment, code };

struct origin {
  source from = source::built_in;
  std::string where;  ///< "troupe.toml:12" or "TROUPE_TRANSPORT_SEGMENT_BYTES"; else empty

  friend bool operator==(const origin&, const origin&) = default;
};

/// "default", "troupe.toml:12", "environment TROUPE_TRANSPORT_SEGMENT_BYTES", "code".
std::string to_string(const origin& o);

/// Options that were validated, and who set each.
struct loaded_options {
  options values;
  std::map<std::string_view, origin> origins;  ///< by full name; an option not in it is a default
  std::string config_file;                     ///< the file that was read; empty if none

  origin origin_of(std::string_view name) const;
};

/// Reads and validates the configuration.
/// Errors: bad_configuration for a file that cannot be read, an unknown name, a wrong type, a value
///         out of range or two values that contradict each other. The message names the place, the
///         nearest valid name, range and unit; it never has a secret in it.
outcome<loaded_options> load(const load_request& request);

/// The same from the text of a file alone, which errors call `file_name`.
outcome<loaded_options> load_text(std::string_view toml, std::string_view file_name);

}  // namespace troupe::config
