#pragma once

#include <pthread.h>

#include <string>

#include "runtime/result.hpp"

namespace troupe::actors {

/// Keeps a thread on the processors of `cpus`, a list as in "0-3,8". Empty: nothing is done.
/// Errors: bad_configuration if the list cannot be read, or names no processor that this process
///         may use; the text lists those it may.
/// Cost:   loads the machine's topology (hwloc): tens of milliseconds, once an endpoint.
outcome<void> bind_thread(pthread_t thread, const std::string& cpus);

}  // namespace troupe::actors
