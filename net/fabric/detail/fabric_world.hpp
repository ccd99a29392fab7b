#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "net/fabric/detail/byte_pool.hpp"
#include "net/fabric/detail/event_queue.hpp"
#include "net/fabric/detail/fabric_parts.hpp"
#include "net/fabric/fabric.hpp"
#include "net/fabric/fabric_options.hpp"
#include "net/fabric/port_queue.hpp"
#include "runtime/random.hpp"

namespace troupe::net::detail {

/// The state of a `fabric` and everything that happens in it. Lanes and networks are thin handles
/// that name an entry here.
class fabric_world {
 public:
  explicit fabric_world(const fabric_options& options);

  const fabric_options& options() const { return options_; }
  instant now() const { return now_; }
  instant next_event() const { return queue_.empty() ? never : queue_.top().at; }
  bool run_next();
  void run_until(instant until);
  bool take_ready(std::uint32_t& endpoint);

  // Networks. `incarnation` tells a network from the one that a crash left behind.
  std::uint32_t join(std::uint32_t endpoint, buffer_table& buffers);
  void leave(std::uint32_t endpoint, std::uint32_t incarnation);
  bool is_current(std::uint32_t endpoint, std::uint32_t incarnation) const;
  void dial(std::uint32_t endpoint, const lane_address& to, std::uint64_t context,
            instant deadline);
  void cancel_dial(std::uint32_t endpoint, std::uint64_t context);
  std::size_t poll_network(std::uint32_t endpoint, std::span<network_event> out);
  instant next_deadline(std::uint32_t endpoint) const;
  std::uint64_t refused_total(std::uint32_t endpoint) const {
    return endpoints_[endpoint].refused_total;
  }

  // Lanes.
  post_status post_write(std::uint32_t half, const lane_write& write);
  post_status post_message(std::uint32_t half, std::span<const std::byte> message);
  std::size_t poll_lane(std::uint32_t half, std::span<lane_event> out);
  void close(std::uint32_t half);
  void release(std::uint32_t half);
  std::uint32_t endpoint_of(std::uint32_t half) { return at(half).endpoint; }
  std::uint32_t peer_of(std::uint32_t half) { return at(half ^ 1u).endpoint; }

  // Topology.
  void set_place(std::uint32_t endpoint, const fabric_place& place);
  void set_wires(fabric_distance how_far, const fabric_wire_kind& wires);
  void set_planes(std::uint32_t count);
  void lose_port(std::uint32_t endpoint, std::uint32_t plane);
  void restore_port(std::uint32_t endpoint, std::uint32_t plane);

  // Faults.
  void set_faults(std::uint32_t from, std::uint32_t to, const fabric_faults& faults);
  void set_endpoint_faults(std::uint32_t endpoint, const fabric_faults& faults);
  void lose_completions(std::uint32_t endpoint, std::uint32_t count);
  void inject(std::uint32_t half, lane_fault fault);
  void lose(std::uint32_t half, error cause);
  void lose_between(std::uint32_t a, std::uint32_t b);
  void lose_newest_between(std::uint32_t a, std::uint32_t b, std::uint32_t count);
  void crash(std::uint32_t endpoint, crash_kind how);
  void pause(std::uint32_t endpoint);
  void resume(std::uint32_t endpoint);
  void set_group(std::uint32_t endpoint, std::uint32_t group);
  void block(std::uint32_t from, std::uint32_t to);
  void unblock(std::uint32_t from, std::uint32_t to);
  void set_refusing(std::uint32_t endpoint, bool refuses);

  // Switches.
  std::uint32_t add_port(std::uint64_t bytes_per_second);
  void set_routes(fabric::route_choice choose);
  fabric_port_report report(std::uint32_t port) const { return ports_[port].report(now_); }
  std::uint64_t queue_bytes(std::uint32_t port) const { return ports_[port].bytes_at(now_); }
  void watch_ports_anew();

  // What happened.
  const fabric_counters& totals() const { return totals_; }
  fabric_counters counters(std::uint32_t endpoint) const;
  std::uint32_t largest_fan_in() const;
  std::uint64_t event_total() const { return event_total_; }
  std::uint64_t trace_hash() const { return hash_; }

 private:
  enum class event_kind : std::uint8_t {
    arrival,          // subject: the sending half
    port_reached,     // subject: frame, generation: its passage
    completion_back,  // subject: the frame that becomes the sender's event
    loss,             // subject: the half that hears of it
    give_up,          // subject: the sending half, generation: its wait_stamp
    dial_arrived,     // subject: dial
    dial_refused,     // subject: dial
    dial_connected,   // subject: dial
    dial_deadline,    // subject: dial
  };

  fabric_half& at(std::uint32_t half) { return wires_[half >> 1].half[half & 1u]; }
  const fabric_half& at(std::uint32_t half) const { return wires_[half >> 1].half[half & 1u]; }
  fabric_endpoint& endpoint_at(std::uint32_t endpoint);

  // Time.
  void plan(instant when, event_kind what, std::uint32_t subject, std::uint32_t generation) {
    queue_.push(when, static_cast<std::uint8_t>(what), subject, generation);
  }
  bool is_stale(const planned_event& event) const;
  void drop_stale();
  void happen(const planned_event& event);
  const fabric_wire_kind& wires_between(std::uint32_t a, std::uint32_t b) const;
  duration wire_delay(std::uint32_t from, std::uint32_t to);
  duration wire_delay(const fabric_dial& dial);
  void hash(std::uint64_t word) { hash_ = (hash_ ^ word) * 0x100'0000'01b3ull; }
  void hash_delivery(std::uint32_t endpoint, const fabric_frame& frame);

  // Frames.
  std::uint32_t take_frame();
  void free_frame(std::uint32_t frame);
  void append(frame_list& list, std::uint32_t frame);
  std::uint32_t pop(frame_list& list);
  void drop_all(frame_list& list);

  // Sending.
  std::uint8_t draw_faults(std::uint32_t half);
  duration draw_delay(std::uint32_t half);
  void send(std::uint32_t half, std::uint32_t frame);
  void plan_arrival(std::uint32_t half);
  void fill_buffer(std::uint32_t half);
  void complete(std::uint32_t half, std::uint32_t write);
  void send_end(std::uint32_t half, error cause);

  // On the way through switches.
  void choose_way(std::uint32_t half);
  void set_out(std::uint32_t half, std::uint32_t frame, instant head, instant tail);
  void leave_port(std::uint32_t frame, instant head, instant tail);
  void on_port_reached(std::uint32_t frame);
  void send_back(std::uint32_t half, std::uint32_t write, std::uint32_t completion);
  void on_completion_back(std::uint32_t completion);

  // Arriving.
  void on_arrival(std::uint32_t half);
  bool may_arrive(std::uint32_t half);
  void arrive(std::uint32_t half, std::uint32_t frame);
  void arrive_write(std::uint32_t half, std::uint32_t frame);
  void arrive_message(std::uint32_t half, std::uint32_t frame);
  void place(const fabric_half& sender, const fabric_frame& frame, std::byte* target);
  void flip_bit(std::byte* bytes, std::uint64_t count);
  std::size_t show(std::uint32_t half, std::span<lane_event> out);

  // Ends.
  void plan_loss(std::uint32_t half, error cause, duration after);
  void on_loss(std::uint32_t half);
  void on_give_up(std::uint32_t half);
  void set_lost(std::uint32_t half, error cause);
  void stop_counting(fabric_half& half);
  void end_silently(std::uint32_t half);
  void free_if_over(std::uint32_t half);
  template <class Visit>
  void each_half(Visit visit);

  // Ready lanes and endpoints.
  void make_ready(std::uint32_t half);
  void unlink_ready(std::uint32_t half);
  void make_endpoint_ready(std::uint32_t endpoint);

  // Dials.
  void on_dial_arrived(std::uint32_t dial);
  void on_dial_refused(std::uint32_t dial);
  void on_dial_connected(std::uint32_t dial);
  void on_dial_deadline(std::uint32_t dial);
  void end_dial(std::uint32_t dial);
  void notify(std::uint32_t endpoint, const fabric_notice& notice);
  /// The plane that a new lane takes; none if no plane reaches both.
  std::optional<std::uint32_t> choose_plane(std::uint32_t from, std::uint32_t to);
  std::uint32_t open_wire(std::uint32_t from, std::uint32_t to);
  void open_half(std::uint32_t half, std::uint32_t endpoint, std::uint32_t peer);

  // Faults.
  template <class Visit>
  void each_rule(std::uint32_t half, Visit visit) const;
  std::uint16_t rule_of(std::uint32_t from, std::uint32_t to) const;
  bool hears(std::uint32_t from, std::uint32_t to) const;
  /// The peer hears what this half sends now, and the plane of the wire has its links.
  bool carries(std::uint32_t half) const;
  void on_hearing_changed();

  fabric_options options_;
  fabric_wire_kind usual_wires_;
  std::array<fabric_wire_kind, fabric_distance_count> wire_kinds_{};
  std::uint32_t plane_count_ = 1;
  std::uint64_t wire_total_ = 0;
  instant now_{};
  event_queue queue_;
  random_stream jitter_;
  random_stream faults_;
  random_stream order_;
  std::vector<fabric_wire> wires_;
  std::vector<std::uint32_t> free_wires_;
  std::vector<fabric_frame> frames_;
  std::uint32_t free_frames_ = no_index;
  byte_pool bytes_;
  std::vector<fabric_dial> dials_;
  std::vector<std::uint32_t> free_dials_;
  std::vector<fabric_endpoint> endpoints_;
  std::vector<std::uint32_t> ready_;
  std::vector<port_queue> ports_;
  std::vector<fabric_route> ways_;
  fabric::route_choice choose_;
  std::uint32_t next_passage_ = 1;
  std::vector<fault_rule> rules_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> blocked_;
  bool groups_differ_ = false;
  std::uint32_t next_stamp_ = 1;
  fabric_counters totals_;
  std::uint64_t event_total_ = 0;
  std::uint64_t hash_ = 0xcbf2'9ce4'8422'2325ull;
};

/// The faults that frames of this half may meet: those of the pair, of its sender and its receiver.
template <class Visit>
void fabric_world::each_rule(std::uint32_t half, Visit visit) const {
  visit(rules_[at(half).rule].faults);
  for (const auto end : {half, half ^ 1u})
    if (const auto& faults = endpoints_[at(end).endpoint].faults) visit(*faults);
}

template <class Visit>
void fabric_world::each_half(Visit visit) {
  for (std::uint32_t half = 0; half < 2 * wires_.size(); ++half)
    if (at(half).used) visit(half);
}

}  // namespace troupe::net::detail
