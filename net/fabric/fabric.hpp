#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "net/fabric/fabric_options.hpp"
#include "runtime/buffer_table.hpp"
#include "runtime/lane.hpp"

namespace troupe::net {

namespace detail {
class fabric_world;
}

/// A network that exists in memory only: virtual time, one event queue ordered by (time, sequence),
/// and every random choice from one seed. Equal seeds and equal calls give equal `trace_hash()`.
///
/// Wire model: a frame leaves through its sender's port (first posted, first served, payload and
/// `fabric_frame_overhead_bytes` at `bytes_per_second`), then takes `latency` and up to `jitter`.
/// Frames of one lane never overtake each other. Receiving ports have no limit, unless lanes have
/// ways through ports of switches (`set_routes`): then frames queue in front of each of these. A
/// write's bytes reach the target's memory at its arrival, as the keys stand then.
///
/// Bound:  a direction holds at most `2 * lane_depth` frames on the wire and `4 * lane_depth`
///         events that its receiver has not polled; then it stands still, and posts are `full`.
/// Cost:   about 0.4 KiB a lane; no allocation once the pools have reached their high-water mark.
/// Thread: one for the fabric and all its networks. The fabric outlives its networks.
class fabric {
 public:
  explicit fabric(const fabric_options& options);
  ~fabric();
  fabric(const fabric&) = delete;
  fabric& operator=(const fabric&) = delete;

  /// The network of endpoint `endpoint`. One network per number at a time; a number whose network
  /// ended, by a crash or otherwise, may get a new one. `buffers` outlives the network.
  std::unique_ptr<lane_network> make_network(std::uint32_t endpoint, buffer_table& buffers);

  /// The address that the network of `endpoint` reports.
  static lane_address address_of(std::uint32_t endpoint);

  // -- time ---------------------------------------------------------------------------------------

  instant now() const;

  /// When the next thing happens; `never` if nothing is on its way.
  instant next_event() const;

  /// Goes to the next event and lets it happen. False if there is none.
  bool run_next();

  /// Lets everything happen up to `until`, that moment included; `now()` is `until` afterwards.
  void run_until(instant until);

  /// Names an endpoint whose network wants a poll, in seeded order; false if none does. An endpoint
  /// is named once until something new happens to it; its driver polls the network until that
  /// returns nothing.
  bool take_ready(std::uint32_t& endpoint);

  // -- topology -----------------------------------------------------------------------------------

  /// Where an endpoint is, from its next frame on. Without places every wire is that of the
  /// options.
  void set_place(std::uint32_t endpoint, const fabric_place& place);

  /// The wires between endpoints of this distance that have places.
  void set_wires(fabric_distance how_far, const fabric_wire_kind& wires);

  /// Lanes are spread over so many planes, 1 to 32: a new one goes over the plane that both ends
  /// reach and that has the fewest lanes between them. Before the first dial.
  void set_planes(std::uint32_t count);

  /// The endpoint's port to this plane loses its link: what is sent over it, both ways, waits as in
  /// a partition, dials take other planes, and meet silence where there is none.
  void lose_port(std::uint32_t endpoint, std::uint32_t plane);
  void restore_port(std::uint32_t endpoint, std::uint32_t plane);

  // -- faults -------------------------------------------------------------------------------------

  /// Random faults of all frames whose pair has none of its own.
  void set_faults(const fabric_faults& faults);

  /// Random faults of the frames and dials from `from` to `to`, in that direction.
  void set_faults(std::uint32_t from, std::uint32_t to, const fabric_faults& faults);

  /// Random faults of all frames that the endpoint sends or gets, beside those of the pair.
  void set_endpoint_faults(std::uint32_t endpoint, const fabric_faults& faults);

  /// The next `count` writes of the endpoint land, and their `write_completed` never comes.
  void lose_completions(std::uint32_t endpoint, std::uint32_t count);

  /// A fault of the next frame posted on `sender`, a lane of this fabric.
  void inject(const lane& sender, lane_fault fault);

  /// The lane dies: at this end now, at the other after the latency.
  void lose_lane(const lane& end);

  /// All lanes between the two die at `a` now, at `b` after the latency.
  void lose_lanes(std::uint32_t a, std::uint32_t b);

  /// Of the lanes between the two, the `count` that were opened last.
  void lose_newest_lanes(std::uint32_t a, std::uint32_t b, std::uint32_t count);

  /// The endpoint ends. Its lanes say nothing more to it; its network is still to be destroyed.
  void crash(std::uint32_t endpoint, crash_kind how);

  /// A paused endpoint is not named by `take_ready`; its memory can still be written.
  void pause(std::uint32_t endpoint);
  void resume(std::uint32_t endpoint);

  /// Endpoints in different groups hear nothing of each other; all start in group 0. Frames wait
  /// for the groups to meet again; a lane with a waiting frame dies at its sender after
  /// `detection_delay`, and at the other end when the groups meet.
  void set_group(std::uint32_t endpoint, std::uint32_t group);

  /// As different groups, in one direction only.
  void block(std::uint32_t from, std::uint32_t to);
  void unblock(std::uint32_t from, std::uint32_t to);

  void refuse_dials(std::uint32_t endpoint);
  void admit_dials(std::uint32_t endpoint);

  // -- switches -----------------------------------------------------------------------------------

  /// A new port, in front of which frames queue without a bound, first come first served.
  std::uint32_t add_port(std::uint64_t bytes_per_second);

  /// Says which way a lane goes: asked for each direction of each lane now and when one opens.
  /// Frames under way keep theirs. `lane` tells lanes of one pair apart; both directions have one
  /// number.
  using route_choice =
      std::function<fabric_route(std::uint32_t from, std::uint32_t to, std::uint32_t lane)>;
  void set_routes(route_choice choose);

  /// The port since it was made or last watched anew.
  fabric_port_report report(std::uint32_t port) const;

  /// Bytes that wait in front of the port now.
  std::uint64_t queue_bytes(std::uint32_t port) const;
  void watch_ports_anew();

  // -- what happened ------------------------------------------------------------------------------

  fabric_counters totals() const;
  fabric_counters counters(std::uint32_t endpoint) const;

  /// Most lanes that any one endpoint had open at once.
  std::uint32_t largest_fan_in() const;

  /// Events that happened.
  std::uint64_t event_total() const;

  /// FNV-1a over everything delivered: when, to whom, what kind, immediate, length, message bytes.
  std::uint64_t trace_hash() const;

 private:
  std::unique_ptr<detail::fabric_world> world_;
};

/// Bytes that each frame takes on the wire beside its payload. Chosen: the header of a RoCE packet
/// is 58 to 74 bytes, that of a TCP frame here about as much.
inline constexpr std::uint64_t fabric_frame_overhead_bytes = 64;

}  // namespace troupe::net
