#pragma once

#include <cstddef>

namespace troupe::conformance {

/// Calls of the global `operator new`, by all threads, since the program began. Only in programs
/// that link counted_allocation.cpp.
std::size_t allocation_count();

}  // namespace troupe::conformance
