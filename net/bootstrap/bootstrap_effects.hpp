#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>

#include "runtime/error.hpp"
#include "runtime/inline_list.hpp"
#include "runtime/instant.hpp"
#include "runtime/lane.hpp"

namespace troupe::net {

/// Most effects of one step. What a step has beyond that waits in the state and leaves with the
/// next step; the timer is then armed for `now`.
inline constexpr std::size_t bootstrap_effects_max = 32;

/// Open a connection for bootstrap's own messages, on the plainest kind of lane there is: the end
/// of a ring connection counts as a death, and a device that breaks is none. Answered by
/// `connection_opened` or `connection_refused`, at the latest at `deadline`.
struct dial_connection {
  std::uint64_t connection = 0;
  lane_address to{};
  instant deadline = never;
};

/// Open a connection that is to be a lane of a link; otherwise as `dial_connection`.
struct dial_lane {
  std::uint64_t connection = 0;
  lane_address to{};
  instant deadline = never;
};

/// At most `bootstrap_lane_depth_min` of these are under way on one connection.
struct send_on_connection {
  std::uint64_t connection = 0;
  std::uint16_t length = 0;
  std::array<std::byte, lane_message_bytes_max> frame{};

  std::span<const std::byte> bytes() const { return {frame.data(), length}; }
};

/// Close after what was sent on it left; give up a dial that was not answered yet. Later events of
/// this connection are ignored.
struct close_connection {
  std::uint64_t connection = 0;
};

/// The connection is authenticated and is now lane `lane` of `lane_count` of the link to `peer`:
/// it belongs to the link, bootstrap forgets it. `link_instance` is equal for all lanes of one
/// link and new for every link.
struct hand_over_lane {
  std::uint64_t connection = 0;
  rank peer;
  std::uint8_t lane = 0;
  std::uint8_t lane_count = 0;
  std::uint64_t link_instance = 0;
};

/// Every rank is known: `bootstrap_state::book` is complete.
struct report_joined {};

/// Joining failed. `text` names peer, address, phase and cause.
struct report_join_failed {
  error cause{};
  std::string text;
};

/// No link to `peer`. `text` names peer, address, phase and cause. Lanes of it that were handed
/// over before belong to no link: close them.
struct report_unreachable {
  rank peer;
  error cause{};
  std::string text;
};

/// World rank `dead` ended without leaving: its ring neighbour saw it, or somebody told us. Comes
/// once for each rank.
struct report_death {
  rank dead;
};

/// A stranger was refused: count it and log one line. `reason` is a literal.
struct count_stranger {
  std::uint64_t connection = 0;
  const char* reason = "";
};

/// Wake the machine at `deadline` with `bootstrap_timer_fired{generation}`; replaces the timer
/// before. A deadline that has passed means: as soon as these effects are applied.
struct arm_bootstrap_timer {
  instant deadline = never;
  std::uint64_t generation = 0;
};

using bootstrap_effect =
    std::variant<dial_connection, dial_lane, send_on_connection, close_connection, hand_over_lane,
                 report_joined, report_join_failed, report_unreachable, report_death,
                 count_stranger, arm_bootstrap_timer>;

using bootstrap_effects = inline_list<bootstrap_effect, bootstrap_effects_max>;

}  // namespace troupe::net
