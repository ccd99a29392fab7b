#pragma once

#include <sys/epoll.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "net/tcp/detail/epoll_target.hpp"
#include "net/tcp/detail/tcp_lane.hpp"
#include "net/tcp/tcp_network.hpp"
#include "runtime/buffer_table.hpp"
#include "runtime/descriptor.hpp"
#include "runtime/lane.hpp"

namespace troupe::net::detail {

/// Lanes that want a poll though epoll does not say so (any more), each once, oldest first.
class lane_list {
 public:
  bool empty() const { return first_ == nullptr; }
  void insert(tcp_lane& lane);
  void remove(tcp_lane& lane);
  tcp_lane& pop();

 private:
  tcp_lane* first_ = nullptr;
  tcp_lane* last_ = nullptr;
};

struct tcp_dial final : epoll_target {
  tcp_dial() : epoll_target(epoll_target::kind::dial) {}

  descriptor socket;
  std::uint64_t context = 0;
  instant deadline = never;
};

/// A socket whose lane was closed: sends what is left, then waits for the peer's end, so that
/// unread bytes do not turn the end into a reset that eats what was sent.
struct tcp_farewell final : epoll_target {
  tcp_farewell() : epoll_target(epoll_target::kind::farewell) {}

  descriptor socket;
  std::vector<std::byte> rest;
  std::size_t rest_sent = 0;
  bool shut_down = false;
  instant deadline = never;
};

/// The sockets of one endpoint and the epoll that watches them.
///
/// Lanes are registered once, edge-triggered, for both directions: a level-triggered socket needs
/// two more system calls whenever its sender waits for room.
class tcp_world {
 public:
  tcp_world(descriptor epoll, descriptor listener, const tcp_network_options& options,
            buffer_table& buffers);

  // For the network.
  result<void> start();
  lane_address address() const { return address_; }
  void dial(const lane_address& to, std::uint64_t context, instant deadline);
  void cancel_dial(std::uint64_t context);
  std::size_t poll(instant now, std::span<network_event> out);
  instant next_deadline() const;
  int wait_descriptor() const { return epoll_.number(); }
  std::uint64_t refused_total() const { return refused_total_; }

  // For the lanes.
  const buffer_table& buffers() const { return buffers_; }
  std::span<std::byte> scratch() { return scratch_; }
  lane_list& ready() { return ready_; }
  memory_ledger* ledger() const { return options_.ledger; }
  std::uint64_t turn() const { return turn_; }  ///< polls of the network so far
  void drop(descriptor& socket);
  void say_farewell(descriptor socket, std::vector<std::byte> rest);

 private:
  struct notice {
    network_event::kind what = network_event::kind::connected;
    std::uint64_t context = 0;
    descriptor socket;
    error cause{};
  };

  bool watch(int socket, epoll_target& target, std::uint32_t events);
  void unwatch(const descriptor& socket);
  void on_event(const epoll_event& event);

  // Accepting.
  void accept_some();
  void refuse_one();
  void pause_accepting();
  void resume_accepting();

  // Dials.
  void on_dial_event(tcp_dial& dial);
  void end_dial(tcp_dial& dial);
  void end_late_dials();
  void fail_dial(std::uint64_t context, error cause);
  network_event open(notice& from);

  // Farewells.
  void on_farewell_event(tcp_farewell& farewell);
  void end_farewell(tcp_farewell& farewell);
  void end_late_farewells();

  tcp_network_options options_;
  buffer_table& buffers_;
  descriptor epoll_;
  descriptor listener_;
  epoll_target listener_target_{epoll_target::kind::listener};
  descriptor reserve_;  ///< given up for a moment to refuse a connection at the descriptor limit
  lane_address address_;
  instant now_{};
  std::uint64_t turn_ = 1;
  instant accept_again_ = never;
  bool accepting_ = false;
  std::uint64_t refused_total_ = 0;
  lane_list ready_;
  std::deque<notice> notices_;
  std::vector<std::unique_ptr<tcp_dial>> dials_;
  std::vector<std::unique_ptr<tcp_farewell>> farewells_;
  std::vector<std::byte> scratch_;
  memory_charge held_;
};

}  // namespace troupe::net::detail
