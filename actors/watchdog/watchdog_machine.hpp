#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/instant.hpp"

namespace troupe::actors {

/// What the watchdog sees of one running operation.
struct watched_operation {
  std::uint32_t slot = 0;  ///< the caller's name for it
  instant deadline = never;
  bool stopping = false;  ///< told to stop already
};

struct watchdog_state {
  duration interval{};
  duration mismatch_after{};
  instant unmatched_asked{};  ///< when links were asked for unmatched transfers last
};

/// What to do after a look.
struct watchdog_verdict {
  std::vector<std::uint32_t> expired;  ///< slots whose deadline passed
  /// Links are to report transfers that match nothing and are older than this; `never`: not now.
  instant ask_unmatched_older_than = never;
  instant next_look = never;
};

/// One look at everything that runs. `unmatched_waiting`: some link holds a transfer that no call
/// of ours matches and that was not reported yet; our part of that operation may have ended already
/// (nothing to move for us), so links are asked even if nothing runs. It never waits and calls
/// nothing that could block.
void look(watchdog_state& state, std::span<const watched_operation> running, bool unmatched_waiting,
          instant now, watchdog_verdict& out);

}  // namespace troupe::actors
