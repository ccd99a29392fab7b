#pragma once

#include "actors/endpoint/endpoint_context.hpp"
#include "actors/work/operation_request.hpp"
#include "collectives/plan.hpp"

namespace troupe::actors {

/// The plan of one operation under the options of this endpoint.
result<collectives::plan> plan_operation(const operation_request& request, rank self,
                                         std::uint32_t size, const endpoint_context& context);

/// The signature that travels: the two sides of a point-to-point transfer call different
/// operations and mean the same one.
operation_signature wire_signature(const operation_signature& called);

}  // namespace troupe::actors
