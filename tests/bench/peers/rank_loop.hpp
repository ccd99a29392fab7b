#pragma once

#include <string>

#include "tests/bench/peers/measured_library.hpp"

namespace troupe::peers {

/// Where the driver listens, and how long one of its commands may take.
struct driver_options {
  std::string control_path;   ///< socket of the driver
  unsigned deadline_s = 120;  ///< a rank that is longer in one command ends itself
};

/// Reads `--control PATH --deadline SECONDS`; says what is wrong on standard error and ends the
/// program with 2 otherwise. Other words stay for the caller. First of all in main(): from here on
/// the program ends when its launcher does.
driver_options driver_options_of(int argument_count, char** arguments);

/// Does what the driver says, one line each way, until it hangs up or says quit:
///
///   > hello RANK PID
///   < prepare OPERATION BYTES   fill, call once, compare each element, warm up
///   > ready NANOSECONDS         the mean of the calls that warmed up
///   < time CALLS                that many calls, one right after the other, each timed
///   > timed MEDIAN TOTAL        nanoseconds
///   < release                   give the memory back
///   > released
///
/// Instead of its answer a rank says `failed REASON` or `wrong REASON`. Between commands a rank
/// sleeps in read(2), so that jobs of several libraries can wait for their turn side by side.
/// The status to end the program with.
int serve(measured_library& library, const driver_options& options);

}  // namespace troupe::peers
