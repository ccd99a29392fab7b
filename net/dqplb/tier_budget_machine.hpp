#pragma once

#include <cstdint>
#include <deque>
#include <variant>
#include <vector>

namespace troupe::net {

// -- events ---------------------------------------------------------------------------------------

/// The link with this id wants the right to have `bytes` more in flight.
struct lease_wanted {
  std::uint64_t link = 0;
  std::uint64_t bytes = 0;
};

/// The link has `bytes` less in flight and gives them back.
struct lease_returned {
  std::uint64_t link = 0;
  std::uint64_t bytes = 0;
};

/// The link is gone: all it holds comes back, what it waits for is dropped.
struct link_gone {
  std::uint64_t link = 0;
};

using tier_event = std::variant<lease_wanted, lease_returned, link_gone>;

// -- effects --------------------------------------------------------------------------------------

struct grant_lease {
  std::uint64_t link = 0;
  std::uint64_t bytes = 0;
};

/// One event can satisfy many waiting links: a returned lease is handed out in slices.
using tier_effects = std::vector<grant_lease>;

// -- the machine ----------------------------------------------------------------------------------

/// The bytes that all links of one tier may have in flight together, leased in slices of at most
/// `lease_bytes`, first come first served.
///
/// A link that holds nothing always gets one slice of at least one lease even when the cap is
/// smaller: a cap throttles, it never stops a link for good. So in flight stays below
/// `cap_bytes` + one lease per link.
struct tier_state {
  std::uint64_t cap_bytes = 0;
  std::uint64_t lease_bytes = 0;

  struct holder {
    std::uint64_t link = 0;
    std::uint64_t held_bytes = 0;
  };
  std::vector<holder> holders;       ///< links that hold something, ascending
  std::deque<lease_wanted> waiting;  ///< at most one entry per link
  std::uint64_t held_bytes = 0;

  std::uint64_t granted_total = 0;    ///< bytes
  std::uint64_t throttled_total = 0;  ///< requests that had to wait
};

/// Total: every event is defined in every state.
/// Bound: `waiting` and `holders` have at most one entry per link.
void step(tier_state& state, const tier_event& event, tier_effects& out);

}  // namespace troupe::net
