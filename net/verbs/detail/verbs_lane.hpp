#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "net/verbs/detail/adapter.hpp"
#include "net/verbs/detail/announced_lane.hpp"
#include "net/verbs/detail/queue_pair.hpp"
#include "net/verbs/detail/receive_queue.hpp"
#include "net/verbs/detail/request_queue.hpp"
#include "net/verbs/detail/side_owner.hpp"
#include "net/verbs/detail/slot_memory.hpp"
#include "net/verbs/region_directory.hpp"
#include "runtime/instant.hpp"
#include "runtime/lane.hpp"

namespace troupe::net::detail {

class verbs_world;

/// One queue pair and the TCP connection beside it. Posting may ring the doorbell; everything else
/// happens in `poll`, after the network said that the lane is ready.
class verbs_lane final : public announced_lane, public side_owner {
 public:
  /// With all receives posted. Errors: resource_exhausted, system_failure with errno.
  static result<std::unique_ptr<verbs_lane>> make(verbs_world& world, adapter& where);
  ~verbs_lane() override;
  verbs_lane(const verbs_lane&) = delete;
  verbs_lane& operator=(const verbs_lane&) = delete;

  lane_kind kind() const override { return lane_kind::verbs; }
  std::uint32_t depth() const override { return where_.sizes().depth; }
  post_status post_write(const lane_write& write) override;
  post_status post_message(std::span<const std::byte> message) override;
  std::size_t poll(std::span<lane_event> out) override;
  void close() override;
  std::string describe() const override;

  // For the network.
  adapter& where() const { return where_; }
  outcome<verbs_queue_pair_name> name(std::uint16_t device_count) {
    return pair_.name(device_count);
  }
  /// What the peer said of itself and its pair, and what is known of its memory. Errors:
  /// system_failure with errno.
  result<void> connect(const verbs_greeting& said, std::shared_ptr<region_directory> regions);
  void adopt_side(std::unique_ptr<lane> side);
  void on_completion(const ibv_wc& done);
  void on_side_ready() override;
  void on_event(error cause);  ///< the device says that the pair is broken
  instant deadline() const { return deadline_; }
  void on_deadline();
  bool is_over() const { return closed_ || lost_; }
  bool owns(const ibv_qp* pair) const { return pair_.handle() == pair; }
  bool is_open() const { return side_ && !closed_ && !lost_ && !ending_ && !broken_; }
  std::uint64_t peer_instance() const { return peer_instance_; }
  /// A number that both ends have for it.
  std::uint64_t mutual_number() const;
  void give_way();  ///< ends, so that another is made in its place

 private:
  verbs_lane(verbs_world& world, adapter& where, slot_memory memory, queue_pair pair);

  bool cannot_send() const { return closed_ || lost_ || ending_ || broken_; }
  void flush_after_post(std::uint64_t payload_bytes);
  void flush();
  void on_received(std::uint32_t slot, const ibv_wc& done);
  void on_frame(std::uint32_t slot, std::span<const std::byte> bytes);
  void on_message(std::uint32_t slot, std::size_t bytes);
  void answer(std::uint64_t key);
  void lose(error cause);
  void set_deadline(duration from_now);
  std::size_t show_completed(std::span<lane_event> out);
  std::size_t show_arrived(std::span<lane_event> out);
  std::size_t show_end(std::span<lane_event> out);
  bool can_end() const { return ending_ && messages_received_ >= messages_announced_; }
  bool wants_poll() const;
  void update_ready();

  verbs_world& world_;
  adapter& where_;
  slot_memory memory_;
  queue_pair pair_;
  std::uint64_t id_;  ///< upper bits of the ids of its requests
  std::uint64_t peer_instance_ = 0;
  verbs_queue_pair_name peer_{};
  std::unique_ptr<lane> side_;
  std::string side_name_;

  std::shared_ptr<region_directory> regions_;  ///< of the device of the peer; once it is known
  receive_queue received_;
  std::optional<request_queue> sends_;  ///< once the peer is known
  std::uint64_t posted_turn_ = 0;
  std::uint32_t posted_count_ = 0;  ///< since the last doorbell
  bool flush_due_ = false;

  std::uint64_t messages_received_ = 0;     ///< in the queue pair
  std::uint64_t messages_announced_ = 0;    ///< of those that the peer's last words count
  std::uint64_t messages_repeated_ = 0;     ///< number of the next message that comes beside it
  std::optional<std::uint32_t> held_slot_;  ///< of the message shown last

  bool side_readable_ = false;
  bool ending_ = false;  ///< the peer said bye, or its process ended
  bool broken_ = false;  ///< the queue pair failed; the peer may still tell why
  bool closed_ = false;
  bool lost_ = false;
  bool reported_ = false;
  error cause_{};
  instant deadline_ = never;
};

}  // namespace troupe::net::detail
