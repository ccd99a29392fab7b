#include "config/validate.hpp"

#include "config/option_text.hpp"
#include "config/staging_need.hpp"
#include "runtime/place.hpp"

#include <array>
#include <optional>

namespace troupe::config {
namespace {

/// `smaller` times `factor` may not be above `larger`.
struct rule {
  std::string_view smaller;
  std::int64_t factor;
  std::string_view larger;
  std::string_view reason;
};

constexpr std::array rules{
    rule{"bootstrap.port_first", 1, "bootstrap.port_last", "the port range would be empty"},
    rule{"transport.eager_bytes", 1, "transport.segment_bytes", "an eager message is one segment"},
    rule{"transport.eager_bytes", 1, "transport.parked_bytes",
         "no early message could be kept aside"},
    rule{"transport.ack_delay", 1, "transport.write_timeout",
         "writes would time out before they are acknowledged"},
    rule{"transport.heartbeat_interval", 2, "transport.silence_timeout",
         "one late heartbeat would lose an idle peer"},
    rule{"fault_tolerance.patience", 2, "fault_tolerance.succession",
         "a leader would be given up while it waits for others"},
    rule{"fault_tolerance.succession", 1, "fault_tolerance.decision",
         "nobody could take over before all give up"},
    rule{"transport.segment_bytes", 1, "dqplb.lease_bytes", "no lease would allow a whole segment"},
};

const option_description& described(std::string_view name) {
  const option_description* option = find_option(name);
  TROUPE_ASSERT(option != nullptr);
  return *option;
}

std::int64_t number_in(const options& values, std::string_view name) {
  return std::get<std::int64_t>(value_in(values, described(name)));
}

/// "transport.eager_bytes = 512KiB (troupe.toml:3)".
std::string with_origin(const options& values, std::string_view name,
                        const describe_origin& origin_of) {
  const option_description& option = described(name);
  const std::string from = origin_of ? origin_of(name) : std::string();
  return std::string(name) + " = " + format_value(option, value_in(values, option)) +
         (from.empty() ? "" : " (" + from + ")");
}

outcome<void> check_ranges(const options& values, const describe_origin& origin_of) {
  for (const section_description& section : sections()) {
    for (const option_description& option : section.entries) {
      const auto problem = find_problem(option, value_in(values, option));
      if (problem)
        return fail(errc::bad_configuration,
                    with_origin(values, option.name, origin_of) + ' ' + *problem);
    }
  }
  return {};
}

outcome<void> check_rule(const options& values, const rule& r, const describe_origin& origin_of) {
  // Ranges were checked: the product does not overflow.
  if (number_in(values, r.smaller) * r.factor <= number_in(values, r.larger)) return {};
  std::string text = with_origin(values, r.smaller, origin_of);
  if (r.factor != 1) text += " times " + std::to_string(r.factor);
  text += " is above " + with_origin(values, r.larger, origin_of) + ": ";
  return fail(errc::bad_configuration, text.append(r.reason));
}

outcome<void> check_staging(const options& values, const describe_origin& origin_of) {
  const std::uint64_t need = staging_bytes_max(values.collective);
  if (need <= values.worker.scratch_bytes) return {};
  return fail(errc::bad_configuration,
              with_origin(values, "collective.chunk_bytes", origin_of) + " and " +
                  with_origin(values, "collective.pipeline_chunk_count", origin_of) + " need " +
                  format_value(described("worker.scratch_bytes"), static_cast<std::int64_t>(need)) +
                  " of staging memory for one operation, above " +
                  with_origin(values, "worker.scratch_bytes", origin_of) +
                  ": raise that, or make chunks smaller or fewer");
}

/// A tier's bytes, and those of its lanes if they are set, have room for one of its segments.
outcome<void> check_tier(const options& values, tier which, const describe_origin& origin_of) {
  const std::string section = "tier_" + std::string(to_string(which));
  const std::string segment = section + ".segment_bytes";
  for (const std::string& room : {section + ".bytes", section + ".lane_bytes"}) {
    const bool unset = number_in(values, room) == 0;
    const rule r{segment, 1, room, "it could not carry one segment"};
    if (unset) continue;
    if (const auto valid = check_rule(values, r, origin_of); !valid) return valid;
  }
  return {};
}

outcome<void> check_ports(const options& values, const describe_origin& origin_of) {
  if ((values.bootstrap.port_first == 0) == (values.bootstrap.port_last == 0)) return {};
  return fail(errc::bad_configuration,
              with_origin(values, "bootstrap.port_first", origin_of) + " and " +
                  with_origin(values, "bootstrap.port_last", origin_of) +
                  " do not go together: set both, or neither for any port");
}

}  // namespace

outcome<void> validate(const options& values, const describe_origin& origin_of) {
  if (const auto valid = check_ranges(values, origin_of); !valid) return valid;
  if (const auto valid = check_ports(values, origin_of); !valid) return valid;
  if (const auto valid = check_staging(values, origin_of); !valid) return valid;
  for (const rule& r : rules)
    if (const auto valid = check_rule(values, r, origin_of); !valid) return valid;
  for (std::uint32_t i = 0; i < tier_count; ++i)
    if (const auto valid = check_tier(values, tier{static_cast<std::uint8_t>(i)}, origin_of);
        !valid)
      return valid;
  return {};
}

outcome<void> validate(const options& values) {
  return validate(values, describe_origin{});
}

}  // namespace troupe::config
