#include "runtime/diagnosis.hpp"

namespace troupe {

std::string_view to_string(verdict_kind kind) {
  switch (kind) {
    case verdict_kind::all_good: return "all_good";
    case verdict_kind::mismatched_call: return "mismatched_call";
    case verdict_kind::process_dead: return "process_dead";
    case verdict_kind::lane_dead: return "lane_dead";
    case verdict_kind::rank_silent: return "rank_silent";
    case verdict_kind::never_joined: return "never_joined";
    case verdict_kind::stuck_in_operation: return "stuck_in_operation";
    case verdict_kind::communicator_deadlock: return "communicator_deadlock";
    case verdict_kind::stuck_outside: return "stuck_outside";
    case verdict_kind::slow_rank: return "slow_rank";
    case verdict_kind::join_incomplete: return "join_incomplete";
  }
  return "invalid";
}

}  // namespace troupe
