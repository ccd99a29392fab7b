#pragma once

#include "actors/endpoint/endpoint_context.hpp"
#include "runtime/error.hpp"

namespace troupe::actors {

/// The operation of `slot` is over; null: well. Its record is of the past now, and it is counted.
void note_end(endpoint_context& context, operation_slot slot, const failure* why);

}  // namespace troupe::actors
