#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <unordered_map>
#include <vector>

#include "net/link/link_machine.hpp"
#include "runtime/buffer_table.hpp"
#include "runtime/random.hpp"
#include "tests/sim/net/link_options_of_seed.hpp"

namespace troupe::sim {

using side_index = std::uint32_t;  // 0 or 1

/// One write or message on its way.
struct transit {
  bool is_message = false;
  lane_write write;
  std::vector<std::byte> bytes;  ///< message, or what was read from the source
  bool read = false;             ///< the lane has the bytes
  bool gone = false;             ///< will not arrive
  bool arrived = false;
  bool completed = false;
};

/// One life of a lane: two ends, two flows.
struct wire {
  std::uint8_t lane = 0;
  std::uint32_t depth = 0;
  std::array<bool, 2> opened{};  ///< the end was told to its link
  std::array<bool, 2> closed{};  ///< by its link, or its link was told that it failed
  bool broken = false;
  std::array<bool, 2> black{};              ///< what this side sends vanishes
  std::array<std::deque<transit>, 2> flow;  ///< by sending side
  std::array<instant, 2> last_arrival{};
  std::array<std::uint32_t, 2> writes_in_flight{};
  std::array<std::uint32_t, 2> messages_in_flight{};
};

/// A transfer as the two owners mean it.
struct story {
  transfer_id id;
  side_index putter = 0;
  std::array<operation_signature, 2> signature;  ///< of the put, of the accept
  std::array<std::uint64_t, 2> bytes{};
  std::array<instant, 2> at{};          ///< when each side asks; `never`: not at all
  std::array<buffer_view, 2> memory{};  ///< source, target
  std::uint64_t key = 0;
  std::array<bool, 2> asked{};
  std::array<bool, 2> ended{};      ///< reported, released or silent by cancellation
  std::array<bool, 2> cancelled{};  ///< by the own owner
  std::array<error, 2> outcome{};
  bool key_withdrawn = false;
  bool refused_later = false;
  bool touched = false;  ///< its operation was cancelled, or its epoch ended, on some side
};

/// Most puts into windows in one run.
inline constexpr std::uint32_t window_put_count_max = 8;

/// A put into a window of its own.
struct window_put {
  transfer_id id;
  side_index putter = 0;
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;
  buffer_view source;
  buffer_view target;  ///< the window
  std::uint64_t key = 0;
  bool asked = false;
  bool ended = false;  ///< reported or released
  bool cancelled = false;
  bool closed = false;  ///< the window, by its owner
  bool told = false;    ///< the window's owner
  bool refused_later = false;
  error outcome{};
  error told_as{};
};

struct happening {
  enum class kind : std::uint8_t {
    open_end,
    fail_end,
    read,
    complete,
    arrive,
    repeat,
    timer,
    put,
    accept,
    cancel,
    advance_epoch,
    notice,
    unmatched,
    grant,
    fault,
    reopen,
    crash,
    abandon,
    window_put,
    window_cancel,
    window_close,
    heal,
  };
  instant at{};
  std::uint64_t order = 0;
  kind what = kind::heal;
  side_index side = 0;
  std::uint32_t wire = 0;
  std::uint64_t item = 0;

  bool operator>(const happening& other) const {
    return at != other.at ? at > other.at : order > other.order;
  }
};

/// Everything of one rank's end that is not the link itself.
struct owner {
  std::unique_ptr<net::link_state> link;
  buffer_table buffers{512};
  std::vector<std::byte> memory, ring, staging;
  buffer_view memory_view, ring_view, staging_view;
  std::uint64_t memory_used = 0;
  std::vector<std::vector<std::byte>> places;
  std::vector<std::uint32_t> current_wire;  ///< by lane; none: 0xffffffff
  std::unordered_map<std::uint64_t, std::uint32_t> accept_by_offset;
  std::map<std::uint64_t, std::uint32_t> put_by_offset;
  std::uint64_t budget_out = 0;     ///< granted and not returned
  std::uint64_t budget_wanted = 0;  ///< asked for and not granted
  std::vector<std::uint32_t> notices_heard;
  std::uint32_t notices_sent = 0;
  bool lost = false;
  bool crashed = false;
  std::uint64_t steps = 0;
};

/// Two links joined by simulated lanes under virtual time.
class link_world {
 public:
  explicit link_world(std::uint64_t seed);

  /// Plays the seed. Empty if everything held; else what did not.
  const std::string& run();

  std::uint64_t trace_hash() const { return trace_; }
  std::uint64_t steps() const { return owners_[0].steps + owners_[1].steps; }
  const net::link_counters& counters(side_index side) const { return owners_[side].link->counters; }
  static std::uint64_t allocations_in_steps();

 private:
  // -- link_world.cpp: clock, driver
  void make_owner(side_index side);
  void schedule(instant at, happening what);
  void happen(const happening& what);
  void drive(side_index side, const net::link_event& event);
  void apply(side_index side, const net::link_effect& effect);
  void trace(std::uint64_t word);
  void fail(const std::string& text);
  bool over() const { return !failure_.empty(); }
  void play(instant until);

  // -- link_wires.cpp: lanes
  void add_wire(std::uint8_t lane, instant now);
  void open_end(const happening& h);
  void fail_end(const happening& h);
  void on_post(side_index side, const net::post_segment& effect);
  void on_post(side_index side, const net::post_control& effect);
  void launch(side_index side, std::uint32_t wire_index, transit item);
  void read(const happening& h);
  void complete(const happening& h);
  void arrive(const happening& h);
  void deliver(side_index side, const wire& w, transit& item, bool repeated);
  void repeat(const happening& h);
  void break_wire(std::uint32_t wire_index);
  void on_close(side_index side, std::uint8_t lane);
  void cause_fault();
  void reopen(std::uint8_t lane);
  void crash();
  duration delay();
  wire* wire_of(side_index side, std::uint8_t lane);

  // -- link_owners.cpp: requests, reports, checks
  void write_stories();
  void ask_put(std::uint32_t index);
  void ask_accept(std::uint32_t index);
  void cancel(side_index side, operation_number operation, epoch e);
  void advance_epoch(side_index side);
  void send_notice(side_index side);
  void grant_budget(side_index side);
  void on_stage(side_index side, const net::stage_eager& effect);
  void on_drain(side_index side, const net::drain_eager& effect);
  void on_unpark(side_index side, const net::unpark_eager& effect);
  void on_park(side_index side, const net::park_eager& effect);
  void on_report(side_index side, std::uint64_t token, std::uint32_t end, error failed,
                 const operation_signature& theirs);
  void on_release(side_index side, std::uint64_t token);
  void on_refused(side_index side, const net::report_refused& effect);
  void on_withdraw(side_index side, std::uint64_t key);
  void on_notice(side_index side, const net::deliver_notice& effect);
  void on_lost(side_index side);
  void abandon(side_index side);
  void write_target(side_index side, const buffer_view& target, const std::byte* from,
                    std::uint64_t bytes);
  void end_silently(side_index side, std::uint32_t index);
  std::byte pattern(std::uint32_t index, std::uint64_t at) const;
  bool target_is_right(std::uint32_t index) const;
  void check_source(side_index side, const buffer_view& source);
  void poison(side_index side, const buffer_view& view, std::byte with);
  void check_step(side_index side);
  void clean_up();
  bool everything_ended() const;
  std::string what_is_left() const;
  void check_outcomes();
  void check_nothing_left();
  void check_work();
  bool disturbed(const story& s) const;

  // -- link_windows.cpp: puts into windows
  static bool is_window_token(std::uint64_t token);
  void write_window_puts();
  void ask_window_put(std::uint32_t index);
  void cancel_window_put(std::uint32_t index);
  void close_window(std::uint32_t index);
  bool window_is_right(std::uint32_t index) const;
  bool window_source_is_free(std::uint32_t token) const;
  void on_window_report(side_index side, std::uint64_t token, error failed);
  void on_window_release(side_index side, std::uint64_t token);
  void on_written(side_index side, const net::report_written& effect);
  bool window_puts_ended() const;
  void check_window_outcomes();
  void close_windows();

  std::uint64_t seed_;
  seed_plan plan_;
  random_stream net_, faults_, owners_random_;
  instant now_{};
  std::uint64_t order_ = 0;
  std::priority_queue<happening, std::vector<happening>, std::greater<>> agenda_;
  std::vector<wire> wires_;
  std::array<owner, 2> owners_;
  std::vector<story> stories_;
  std::vector<window_put> window_puts_;
  std::array<epoch, 2> epochs_{};
  bool healed_ = false;
  bool cleaning_ = false;  ///< the run is over, what never met is cancelled
  std::uint32_t lives_ = 0;
  std::uint64_t trace_ = 0xcbf2'9ce4'8422'2325ull;
  net::link_effects effects_;
  std::string failure_;
};

inline constexpr std::uint32_t no_wire = 0xffff'ffffu;

}  // namespace troupe::sim
