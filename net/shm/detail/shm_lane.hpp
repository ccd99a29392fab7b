#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "net/shm/detail/segment.hpp"
#include "net/shm/detail/shared_ring.hpp"
#include "net/shm/detail/socket_target.hpp"
#include "net/shm/shm_frame_wire.hpp"
#include "runtime/buffer_table.hpp"
#include "runtime/descriptor.hpp"
#include "runtime/lane.hpp"
#include "runtime/memory_ledger.hpp"

namespace troupe::net::detail {

class shm_world;

/// How the bytes of a source write come to the receiver.
enum class source_path : std::uint8_t {
  direct,  ///< same process: one plain copy
  pulled,  ///< the receiver reads the sender's memory: one copy, by the system
  ring,    ///< through the bulk ring: two copies
};

const char* to_string(source_path path);

/// What a greeting led to.
struct shm_connection {
  descriptor socket;
  segment memory;
  int side = 0;  ///< 0: we dialled
  ::pid_t peer = 0;
  source_path path = source_path::ring;
};

/// One segment and the socket that rings its bell. Posting writes into the segment; everything else
/// happens in `poll`, after the network said that the lane is ready.
class shm_lane final : public lane, public socket_target {
 public:
  shm_lane(shm_world& world, shm_connection from);
  ~shm_lane() override;
  shm_lane(const shm_lane&) = delete;
  shm_lane& operator=(const shm_lane&) = delete;

  lane_kind kind() const override { return lane_kind::shm; }
  std::uint32_t depth() const override { return depth_; }
  post_status post_write(const lane_write& write) override;
  post_status post_message(std::span<const std::byte> message) override;
  std::size_t poll(std::span<lane_event> out) override;
  void close() override;
  std::string describe() const override;

  // For the network.
  const descriptor& socket() const { return socket_; }
  bool wants_poll();
  bool is_announced() const { return announced_; }
  void announce() { announced_ = true; }
  /// The socket said something: a bell, or the end of the peer.
  void on_socket();
  void arm_bell();
  void disarm_bell();

 private:
  /// A write whose bytes the peer has not taken yet.
  struct open_source {
    std::uint64_t context = 0;
    buffer_view view;
    std::uint64_t pushed = 0;  ///< bytes that went into the bulk ring
  };
  enum class step : std::uint8_t { event, nothing, broken };

  shm_side& mine() { return memory_.side(side_); }
  shm_side& theirs() { return memory_.side(1 - side_); }
  bool is_dead() const { return closed_ || lost_ || peer_gone_; }

  // Sending.
  void put_header(const shm_frame& frame, std::uint64_t ring_bytes);
  void write_inline(const lane_write& write);
  void write_source(const lane_write& write);
  open_source& source_at(std::uint32_t index) {
    return sources_[(first_source_ + index) % sources_.size()];
  }
  void push_bulk();
  void take_done();
  void ring_bell(std::uint32_t reason);
  std::size_t show_completed(std::span<lane_event> out);

  // Receiving.
  std::size_t show_received(std::span<lane_event> out);
  step next_frame(lane_event& out);
  step begin_frame(const shm_frame& frame, lane_event& out);
  step go_on_writing(lane_event& out);
  step finish_write(lane_event& out);
  std::uint64_t fetch(std::byte* to, std::uint64_t bytes);
  std::uint64_t fetch_bulk(std::byte* to, std::uint64_t bytes);
  bool copy_direct(std::byte* to, std::uint64_t bytes);
  bool source_was_alive();

  void lose(error cause);
  void withdraw_sources();

  shm_world& world_;
  descriptor socket_;
  segment memory_;
  int side_;
  ::pid_t peer_;
  source_path path_;
  std::uint32_t depth_;

  ring_writer frames_out_;
  ring_writer bulk_out_;
  std::uint32_t writes_open_ = 0;  ///< taken, completion not polled
  std::vector<std::uint64_t> completed_;
  std::uint32_t first_completed_ = 0;
  std::uint32_t completed_count_ = 0;
  std::vector<open_source> sources_;  ///< a ring, oldest first
  std::uint32_t first_source_ = 0;
  std::uint32_t source_count_ = 0;
  std::uint32_t pushed_count_ = 0;  ///< of the open sources, those wholly in the bulk ring
  std::uint64_t done_ = 0;          ///< source writes that the peer said it has
  bool full_said_ = false;

  ring_reader frames_in_;
  ring_reader bulk_in_;
  bool in_write_ = false;
  bool refused_ = false;
  shm_frame write_{};
  std::uint64_t placed_ = 0;
  std::uint64_t taken_ = 0;  ///< source writes that ended here
  std::uint64_t budget_ = 0;
  std::uint64_t budget_turn_ = 0;
  std::array<std::byte, lane_message_bytes_max> message_;

  bool announced_ = false;
  bool peer_gone_ = false;  ///< only what the peer wrote before may still come
  bool closed_ = false;
  bool lost_ = false;
  bool reported_ = false;
  error cause_{};
  memory_charge held_;
  memory_charge segment_held_;
};

}  // namespace troupe::net::detail
