#pragma once

#include "actors/endpoint/endpoint_context.hpp"
#include "collectives/plan.hpp"

#include <string>

namespace troupe::actors {

/// A transfer as a text about it needs it.
struct transfer_ends {
  rank self;
  rank peer;
  bool was_put = false;
};

/// The plan of one operation under the options of this endpoint.
result<collectives::plan> plan_operation(const operation_entry& entry, endpoint_context& context);

/// The signature that travels with a transfer to (`was_put`) or from member `peer`: the two sides
/// of a point-to-point transfer call different operations and mean the same one, and a pair of an
/// all_to_all_v says how many elements it is that the one sends and the other expects.
operation_signature wire_signature(const operation_request& request, rank peer, bool was_put);

/// "operation 3: rank 0 called ..., rank 1 called ..." for a transfer whose two ends disagree.
std::string describe_mismatch(const operation_request& request, operation_number number,
                              const operation_signature& theirs, const transfer_ends& ends);

}  // namespace troupe::actors
