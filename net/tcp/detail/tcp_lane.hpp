#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "net/tcp/detail/epoll_target.hpp"
#include "net/tcp/detail/receive_stream.hpp"
#include "net/tcp/detail/send_queue.hpp"
#include "runtime/buffer_table.hpp"
#include "runtime/descriptor.hpp"
#include "runtime/lane.hpp"
#include "runtime/memory_ledger.hpp"

namespace troupe::net::detail {

class tcp_world;

/// One socket. May send when something is posted; everything else happens in `poll`, after the
/// network said that the lane is ready.
class tcp_lane final : public lane, public epoll_target {
 public:
  tcp_lane(tcp_world& world, descriptor socket, std::uint32_t depth);
  ~tcp_lane() override;
  tcp_lane(const tcp_lane&) = delete;
  tcp_lane& operator=(const tcp_lane&) = delete;

  lane_kind kind() const override { return lane_kind::tcp; }
  std::uint32_t depth() const override { return depth_; }
  post_status post_write(const lane_write& write) override;
  post_status post_message(std::span<const std::byte> message) override;
  std::size_t poll(std::span<lane_event> out) override;
  void close() override;
  std::string describe() const override;

  /// epoll said `events` of the socket.
  void on_events(std::uint32_t events);

 private:
  friend class lane_list;

  void flush_after_post(std::uint64_t payload_bytes);
  void flush();
  void send_failed(int code);
  void receive(std::uint64_t& budget);
  void lose(error cause);
  std::size_t show_completed(std::span<lane_event> out);
  std::size_t show_received(std::span<lane_event> out);
  bool wants_poll() const;

  tcp_world& world_;
  descriptor socket_;
  std::uint32_t depth_;
  lane_address local_;
  lane_address peer_;

  send_queue queue_;
  std::uint64_t posted_turn_ = 0;
  std::uint32_t writes_open_ = 0;  ///< taken, completion not polled
  context_ring completed_;
  bool send_blocked_ = false;  ///< until epoll says that the socket is writable
  bool send_dead_ = false;     ///< only what the peer sent before may still come

  receive_stream stream_;
  bool readable_ = false;  ///< the socket may have bytes
  bool parsable_ = false;  ///< the stream may hold another whole frame
  bool hung_up_ = false;   ///< the peer ended; read to the end whatever a short read says
  bool closed_ = false;
  bool lost_ = false;
  bool reported_ = false;
  error cause_{};

  bool ready_ = false;
  tcp_lane* ready_before_ = nullptr;
  tcp_lane* ready_after_ = nullptr;
  memory_charge held_;
};

}  // namespace troupe::net::detail
