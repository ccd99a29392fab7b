#pragma once

#include <string>

#include "runtime/instant.hpp"
#include "runtime/simulation.hpp"

namespace troupe::cli {

/// "1.234 ms": a length of virtual time in the unit that fits.
std::string describe_time(duration d);

/// What a simulated run did, one fact a line. `wall` is real time.
std::string describe_report(const simulation_options& options, const simulation_report& report,
                            duration wall);

/// The same for programs: one object.
std::string report_json(const simulation_options& options, const simulation_report& report,
                        duration wall);

}  // namespace troupe::cli
