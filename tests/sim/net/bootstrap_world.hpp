#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "net/bootstrap/bootstrap_machine.hpp"
#include "runtime/random.hpp"

namespace troupe::sim {

/// A keyed hash that stands in for HMAC: fast, and as good against accidents.
void quick_mac(std::span<const std::byte> key, std::span<const std::byte> data,
               std::span<std::byte, 32> out);
bool quick_equal(std::span<const std::byte> left, std::span<const std::byte> right);

lane_address address_of(std::uint32_t host);

/// What a process without the secret does with a connection it made.
enum class stranger_act : std::uint8_t {
  say_nothing,
  send_garbage,
  speak_http,
  hang_up,
  send_other_format,
  guess_proof,
  send_hello_then_garbage,
};
inline constexpr std::uint32_t stranger_act_count = 7;

/// What answers at an address where no rank listens yet.
enum class squatter_act : std::uint8_t { none, answer_garbage, answer_other_format, fake_verdict };

/// How the network of one run behaves.
struct weather {
  duration delay_min = std::chrono::microseconds(20);
  duration delay_max = std::chrono::microseconds(200);
  std::uint64_t cut_one_in = 0;      ///< a connection not in the ring breaks; 0: never
  std::uint64_t corrupt_one_in = 0;  ///< a message after a handshake has a wrong byte; 0: never
};

/// A lane that bootstrap handed over.
struct handed_lane {
  std::uint32_t wire = 0;
  rank peer;
  std::uint8_t lane = 0;
  std::uint8_t lane_count = 0;
  std::uint64_t instance = 0;
  bool up = true;
};

/// One process of the simulated job and everything that its owner heard.
struct sim_process {
  explicit sim_process(net::bootstrap_options options) : state(std::move(options)) {}

  net::bootstrap_state state;
  lane_address address{};
  bool running = false;
  bool stopped = false;  ///< alive, and does nothing
  bool ended = false;
  instant joined_at = never;
  instant failed_at = never;
  failure reason{};
  std::vector<rank> deaths;
  std::vector<net::report_unreachable> unreachable;
  std::vector<instant> unreachable_at;
  std::vector<handed_lane> lanes;
  std::uint64_t timer_generation = 0;
  std::uint64_t dial_count = 0;
  std::uint64_t accept_count = 0;
  std::uint64_t stranger_count = 0;
};

/// Processes, connections and virtual time. Everything that happens comes from the seed.
class bootstrap_world {
 public:
  bootstrap_world(std::uint64_t seed, const weather& conditions);

  /// A process that listens and joins at `start`; returns its index.
  std::uint32_t add_process(net::bootstrap_options options, std::uint32_t host, instant start);
  void add_stranger(std::uint32_t host, instant at, stranger_act act);
  void add_squatter(std::uint32_t host, squatter_act act);
  /// Dials to it are never answered.
  void add_black_hole(std::uint32_t host) { black_holes_.insert(host); }
  /// From now on nothing breaks by itself.
  void calm_down() { weather_.cut_one_in = 0; }
  void at(instant when, std::function<void()> action);

  void crash(std::uint32_t process);
  void stop(std::uint32_t process) { processes_[process]->stopped = true; }
  void feed(std::uint32_t process, const net::bootstrap_event& event);
  /// The owner leaves, and the process ends a little later.
  void leave(std::uint32_t process);
  /// Breaks a handed-over lane; both owners drop the whole link.
  void break_link(std::uint32_t process, rank peer);

  /// From now on owners keep a link while any of its lanes is up, and want the others again.
  void keep_links() { links_kept_ = true; }
  /// The owner lets the link go, of its own accord.
  void end_link(std::uint32_t process, rank peer);
  /// Breaks one handed-over lane to the peer, whichever.
  void break_lane(std::uint32_t process, rank peer);

  /// Breaks the ring connection of a process to its successor, both of them alive.
  void break_ring_after(std::uint32_t process);

  /// Runs until nothing is left to happen, `limit`, or `event_count_max` events of processes; true
  /// if nothing was left.
  bool run(instant limit, std::uint64_t event_count_max);

  instant now() const { return now_; }
  sim_process& process(std::uint32_t i) { return *processes_[i]; }
  std::uint32_t process_count() const { return static_cast<std::uint32_t>(processes_.size()); }
  std::uint64_t trace_hash() const { return hash_; }
  std::uint64_t event_count() const { return event_count_; }
  std::uint32_t deepest_lane() const { return deepest_lane_; }
  /// The process at the other end of the wire, and its id for it.
  std::uint32_t other_end(std::uint32_t wire, std::uint32_t process) const;
  random_stream& random() { return random_; }

 private:
  static constexpr std::uint32_t nobody = 0xffff'ffffu;

  struct wire_end {
    std::uint32_t process = nobody;
    std::uint64_t id = 0;
    bool up = false;
    instant last_arrival{};
    std::uint32_t in_flight_count = 0;
  };
  struct wire {
    wire_end ends[2];  // dialer, acceptor
    bool cut = false;
    bool handshake_over = false;
    bool is_lane = false;  ///< dialled to become a lane of a link
    stranger_act act = stranger_act::say_nothing;
    squatter_act squat = squatter_act::none;
    std::uint32_t heard_count = 0;
  };
  struct happening {
    enum class kind : std::uint8_t { start, arrive, opened, refused, message, lost, timer, action };
    instant at;
    std::uint64_t order = 0;
    kind what = kind::action;
    std::uint32_t process = nobody;
    std::uint32_t wire = 0;
    std::uint8_t end = 0;
    std::uint64_t number = 0;
    errc code = errc::ok;
    std::vector<std::byte> bytes{};
    std::function<void()> action{};
  };

  void push(happening h);
  void happen(happening& h);
  void apply(std::uint32_t process);
  void dial(std::uint32_t process, const net::dial_connection& effect);
  void send(std::uint32_t process, std::uint64_t id, std::span<const std::byte> bytes);
  void close(std::uint32_t process, std::uint64_t id);
  void hand_over(std::uint32_t process, const net::hand_over_lane& effect);
  void arrive(happening& h);
  void send_on_wire(std::uint32_t wire, std::uint8_t from, std::span<const std::byte> bytes);
  void detach(std::uint32_t wire, std::uint8_t end, bool in_flight_lost);
  void end_process(std::uint32_t process, bool in_flight_lost);
  void cut_wire(std::uint32_t wire);
  void break_wire(std::uint32_t wire);
  void deliver_late(const happening& h, const wire_end& end);
  bool in_ring(const wire_end& end);
  void stranger_turn(std::uint32_t wire, std::uint8_t end, std::span<const std::byte> bytes);
  void drop_link(std::uint32_t process, rank peer, std::uint64_t instance);
  void lose_lane(std::uint32_t process, handed_lane& lane);
  duration some_delay();
  void mix(std::uint64_t value);
  void deliver(std::uint32_t process, const net::bootstrap_event& event);

  random_stream random_;
  weather weather_;
  instant now_{};
  std::uint64_t order_ = 0;
  std::uint64_t event_count_ = 0;
  std::uint64_t hash_ = 0;
  std::uint64_t next_accepted_ = 0;
  std::uint32_t deepest_lane_ = 0;
  bool links_kept_ = false;
  std::vector<std::unique_ptr<sim_process>> processes_;
  std::vector<std::uint32_t> host_process_;
  std::deque<wire> wires_;  // references outlive growth
  std::vector<happening> heap_;
  std::vector<std::pair<std::uint32_t, squatter_act>> squatters_;
  std::set<std::uint32_t> black_holes_;
  std::vector<std::vector<std::pair<std::uint64_t, std::uint32_t>>> wire_of_;  // by process
  net::bootstrap_effects effects_;
};

}  // namespace troupe::sim
