#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "runtime/buffer_view.hpp"
#include "runtime/instant.hpp"
#include "runtime/result.hpp"

namespace troupe {

/// What a lane is made of. Numbers appear in traces: stable.
enum class lane_kind : std::uint8_t {
  none = 0,  ///< no lane: a communicator of one rank moves nothing
  fabric = 1,
  tcp = 2,
  shm = 3,
  verbs = 4,
  copy_engine = 5,
};

std::string_view to_string(lane_kind kind);

/// Longest control message of a lane, in bytes. Chosen: the largest control frame of `net/wire`
/// (an address book page of bootstrap) fits, and a lane may keep a few of them preallocated.
inline constexpr std::size_t lane_message_bytes_max = 1024;

/// One segment on its way into a peer's memory: write, then tell the peer `immediate`.
struct lane_write {
  buffer_view source;           ///< local bytes; stay valid until `write_completed`
  remote_region target;         ///< where they go; refused by the peer if the key is dead
  std::uint32_t immediate = 0;  ///< arrives with the write, after its bytes are in place
  std::uint64_t context = 0;    ///< comes back in `write_completed`
};

/// What a lane did since it was polled last.
struct lane_event {
  enum class kind : std::uint8_t {
    write_completed,  ///< `context`: the lane no longer reads the source bytes
    write_arrived,    ///< `immediate`, `bytes`: a peer's write is in place
    write_refused,  ///< `immediate`, `bytes`: a peer's write named a dead key; nothing was written
    message_arrived,  ///< `message`: valid until the next call on this lane
    lane_lost,        ///< `cause`: the lane is dead; nothing comes after this event
  };
  kind what = kind::lane_lost;
  std::uint32_t immediate = 0;
  std::uint64_t bytes = 0;
  std::uint64_t context = 0;
  std::span<const std::byte> message{};
  error cause{};
};

/// Answer of a post.
enum class post_status : std::uint8_t {
  accepted,
  full,  ///< no room; nothing was taken; poll and post again
  lost,  ///< the lane is dead; `lane_lost` was or will be polled
};

/// One ordered, reliable-or-lost channel to one peer. Writes and messages of one lane arrive in
/// the order in which they were posted, each once, or the lane is lost; what was in flight on a
/// lost lane may or may not have arrived. A key that is withdrawn in mid-write stops the write, and
/// may cost the lane. `write_completed` says that the source is no longer read, not that the bytes
/// arrived.
///
/// Bound:  at most `depth()` writes and `depth()` messages are taken and not completed; then
/// `full`. Cost:   no allocation in steady state; a call never blocks. Thread: the worker of the
/// endpoint only. Every kind passes `tests/conformance`.
class lane {
 public:
  virtual ~lane() = default;

  virtual lane_kind kind() const = 0;

  /// Writes (and messages) that may be in flight at once.
  virtual std::uint32_t depth() const = 0;

  virtual post_status post_write(const lane_write& write) = 0;

  /// Sends up to `lane_message_bytes_max` bytes. They are copied before the call returns.
  virtual post_status post_message(std::span<const std::byte> message) = 0;

  /// Moves bytes and fills `out` with what happened; returns how many. Call again while it
  /// returns `out.size()`. A `message_arrived` is always the last event of a call.
  virtual std::size_t poll(std::span<lane_event> out) = 0;

  /// Ends the lane at once: nothing more is read from sources or written to exposed memory after
  /// this call. Idempotent; no event follows.
  virtual void close() = 0;

  /// "tcp 127.0.0.1:40112 -> 127.0.0.1:4711", for errors and logs.
  virtual std::string describe() const = 0;

  /// A word of the lane's user, so that a ready lane leads to its owner without a look-up.
  std::uint64_t tag() const { return tag_; }
  void set_tag(std::uint64_t tag) { tag_ = tag; }

 private:
  std::uint64_t tag_ = 0;
};

/// Where a lane can be dialled. Bytes are in network order; IPv4 is mapped into IPv6 form
/// (::ffff:a.b.c.d), simulated endpoints use their number in the last four bytes.
struct lane_address {
  std::array<std::byte, 16> host{};
  std::uint16_t port = 0;

  friend constexpr bool operator==(const lane_address&, const lane_address&) = default;
};

/// "127.0.0.1:4711" or "[2001:db8::1]:4711".
std::string to_string(const lane_address& address);

/// What a network of lanes did since it was polled last.
struct network_event {
  enum class kind : std::uint8_t {
    accepted,     ///< `opened`: a peer dialled us; nothing is known of it yet
    connected,    ///< `opened`: our dial with `context` stands
    dial_failed,  ///< `cause`: our dial with `context` failed
    lane_ready,   ///< `ready`: poll this lane
  };
  kind what = kind::lane_ready;
  std::unique_ptr<lane> opened{};
  lane* ready = nullptr;
  std::uint64_t context = 0;
  error cause{};
};

/// Makes lanes of one kind for one endpoint and says which of them want to be polled.
///
/// Thread: the worker of the endpoint only. Lanes must not outlive their network.
class lane_network {
 public:
  virtual ~lane_network() = default;

  virtual lane_kind kind() const = 0;

  /// What lanes to `peer` are made of, as far as is known: a network of several kinds chooses.
  virtual lane_kind kind_to([[maybe_unused]] const lane_address& peer) const { return kind(); }

  /// Grows whenever an answer of `kind_to` may have changed.
  virtual std::uint64_t kind_changes() const { return 0; }

  /// What people should know that no error says: lanes are not of the kind that was wished, and
  /// why. One line; empty if there is nothing new.
  virtual std::string take_notice() { return {}; }

  /// Where peers reach this endpoint.
  virtual lane_address address() const = 0;

  /// Starts to open a lane to `to`; ends in `connected` or `dial_failed` (unreachable, timed_out)
  /// with the same context, at the latest at `deadline`.
  virtual void dial(const lane_address& to, std::uint64_t context, instant deadline) = 0;

  /// As `dial`, to a lane of the plainest kind there is: a socket. For the few messages that have
  /// to get through whatever becomes of devices and of the memory that data needs. A network of one
  /// kind has no other.
  virtual void dial_plain(const lane_address& to, std::uint64_t context, instant deadline) {
    dial(to, context, deadline);
  }

  /// Gives up a dial, plain or not: no event for `context` follows.
  virtual void cancel_dial(std::uint64_t context) = 0;

  /// Moves bytes that can move and fills `out`; returns how many. Never blocks.
  virtual std::size_t poll(instant now, std::span<network_event> out) = 0;

  /// The next moment at which `poll` has something to do though nothing arrives; `never` if none.
  virtual instant next_deadline() const = 0;

  /// As `next_deadline`, asked right before sleeping on `wait_descriptor`: from here to the next
  /// `poll` whatever comes makes the descriptor readable. In the past if something came already. A
  /// network whose peers ring a doorbell arms it here.
  virtual instant prepare_to_wait() { return next_deadline(); }

  /// A descriptor that, after `prepare_to_wait`, is readable (in the sense of poll(2)) when `poll`
  /// has something to do; -1 if this network has none and must be polled.
  virtual int wait_descriptor() const = 0;

  /// Connections refused by the network itself before a lane existed (backlog, descriptor limit).
  virtual std::uint64_t refused_total() const = 0;
};

}  // namespace troupe
