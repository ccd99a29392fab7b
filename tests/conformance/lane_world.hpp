#pragma once

#include <cstdint>

#include "runtime/buffer_table.hpp"
#include "runtime/instant.hpp"
#include "runtime/lane.hpp"

namespace troupe::conformance {

/// Two endpoints, 0 and 1, that can reach each other with lanes of one kind, and their clock. The
/// cases of the suite know nothing else of a kind: a new one joins by a class like this.
class lane_world {
 public:
  virtual ~lane_world() = default;

  virtual lane_kind kind() const = 0;
  virtual lane_network& network(int side) = 0;
  virtual buffer_table& buffers(int side) = 0;

  virtual instant now() = 0;

  /// Returns when something may have happened at either endpoint, at `until` at the latest.
  virtual void wait(instant until) = 0;

  /// A dial to it is refused.
  virtual lane_address nobody() = 0;

  /// A dial to it is never answered.
  virtual lane_address silence() = 0;

  /// Length of a write that the network cannot hold in flight: it has a middle.
  virtual std::uint64_t large_bytes() const = 0;

  /// Whether a device writes on its own: a key that is withdrawn in mid-write then costs the lane.
  virtual bool loses_lane_with_key() const { return false; }

  /// How long to wait for what must come.
  virtual duration patience() const = 0;

  /// How long to wait to believe that nothing comes.
  virtual duration quiet() const = 0;
};

}  // namespace troupe::conformance
