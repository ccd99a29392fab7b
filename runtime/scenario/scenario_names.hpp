#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/scenario/scenario.hpp"

namespace troupe::scenario {

// The words of the language.

std::string_view to_string(world_kind value);
std::string_view to_string(distance value);
std::string_view to_string(fault_kind value);
std::string_view to_string(event_kind value);
std::string_view to_string(phase_kind value);
std::string_view to_string(leak_kind value);
std::string_view to_string(process_lanes value);
std::string to_string(const rank_outcome& value);

std::span<const std::string_view> world_names();
std::span<const std::string_view> distance_names();
std::span<const std::string_view> fault_names();
std::span<const std::string_view> event_names();
std::span<const std::string_view> phase_names();
std::span<const std::string_view> leak_names();
std::span<const std::string_view> lanes_names();
/// "ok", every error code, "killed", "stopped".
std::vector<std::string_view> outcome_names();

/// Nothing if no outcome has this name.
std::optional<rank_outcome> parse_outcome(std::string_view name);

/// "rank 3", "ranks 0, 2", "2 random ranks", "rack 1", "the link between ranks 0 and 1".
std::string describe(const selector& whom);

/// "2.5ms", "every step with probability 10%": when a fault strikes.
std::string describe(const trigger& when);

}  // namespace troupe::scenario
