#pragma once

#include <sys/epoll.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "net/shm/detail/shm_lane.hpp"
#include "net/shm/detail/socket_target.hpp"
#include "net/shm/shm_greeting_wire.hpp"
#include "net/shm/shm_network.hpp"
#include "runtime/buffer_table.hpp"
#include "runtime/descriptor.hpp"
#include "runtime/lane.hpp"

namespace troupe::net::detail {

/// A connection on its way to a lane.
struct shm_opening final : socket_target {
  enum class stage : std::uint8_t {
    queueing,          ///< dialler: the listener's queue was full
    awaiting_answer,   ///< dialler: hello is said
    awaiting_hello,    ///< acceptor
    awaiting_segment,  ///< acceptor: answer is said
    over,              ///< goes at the end of the turn
  };

  shm_opening() : socket_target(socket_target::kind::greeting) {}

  bool is_dial() const { return side == 0; }

  stage at = stage::awaiting_hello;
  int side = 0;
  descriptor socket;
  lane_address to{};
  std::uint64_t context = 0;
  instant deadline = never;
  instant retry_at = never;
  ::pid_t peer = 0;
  bool may_pull = false;  ///< acceptor: it read the dialler's probe
};

/// The lanes of one endpoint, the sockets that ring their bells, and the epoll that watches those.
///
/// A poll looks at the rings, which costs no system call; it looks at the sockets when the endpoint
/// parked before, when a greeting is under way, and every `look_interval`.
class shm_world {
 public:
  shm_world(descriptor epoll, descriptor listener, const shm_network_options& options,
            buffer_table& buffers, std::uint64_t probe_value);

  // For the network.
  result<void> start();
  lane_address address() const { return options_.address; }
  void dial(const lane_address& to, std::uint64_t context, instant deadline);
  void cancel_dial(std::uint64_t context);
  std::size_t poll(instant now, std::span<network_event> out);
  instant next_deadline() const;
  instant prepare_to_wait();
  int wait_descriptor() const { return epoll_.number(); }
  std::uint64_t refused_total() const { return refused_total_; }
  const std::string& trouble() const { return trouble_; }
  std::string take_notice() { return std::exchange(notice_, {}); }

  // For the lanes.
  const buffer_table& buffers() const { return buffers_; }
  std::uint64_t inline_bytes() const { return options_.memory.inline_bytes; }
  std::uint64_t turn() const { return turn_; }
  memory_ledger* ledger() const { return options_.ledger; }
  void enrol(shm_lane& lane);
  void expel(shm_lane& lane);
  void unwatch(const descriptor& socket);
  void drop(descriptor& socket);

 private:
  struct notice {
    network_event::kind what = network_event::kind::connected;
    std::uint64_t context = 0;
    shm_connection opened;
    error cause{};
  };

  bool watch(const descriptor& socket, socket_target& target);
  void look_at_sockets();
  void disarm();
  network_event open(notice& from);

  void accept_some();
  void rest_or_listen();
  void begin_dial(shm_opening& opening);
  void on_opening(shm_opening& opening);
  void on_greeting(shm_opening& opening, const shm_greeting& said, descriptor file);
  void answer(shm_opening& opening, const shm_greeting& hello);
  void send_segment(shm_opening& opening, const shm_greeting& answer);
  void adopt_segment(shm_opening& opening, const shm_greeting& said, descriptor file);
  void finish(shm_opening& opening, segment memory, source_path path);
  void give_up(shm_opening& opening, error cause);
  void run_deadlines();
  bool may_pull(const shm_opening& opening, const shm_greeting& said);
  source_path path_of(const shm_opening& opening, bool pulls) const;

  shm_network_options options_;
  buffer_table& buffers_;
  descriptor epoll_;
  descriptor listener_;
  socket_target listener_target_{socket_target::kind::listener};
  std::uint64_t probe_;  ///< peers look for it in our memory
  instant now_{};
  instant looked_{};
  instant listen_again_{};
  bool listening_ = false;
  std::uint64_t turn_ = 1;
  bool armed_ = false;
  std::uint64_t refused_total_ = 0;
  std::string trouble_;
  std::string notice_;
  std::vector<shm_lane*> lanes_;
  std::size_t next_lane_ = 0;
  std::deque<notice> notices_;
  std::vector<std::unique_ptr<shm_opening>> openings_;
};

}  // namespace troupe::net::detail
