#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "net/verbs/detail/adapter.hpp"
#include "net/verbs/detail/queue_pair.hpp"
#include "net/verbs/detail/receive_queue.hpp"
#include "net/verbs/detail/slot_memory.hpp"
#include "net/verbs/region_directory.hpp"
#include "net/verbs/verbs_frame_wire.hpp"
#include "runtime/buffer_table.hpp"
#include "runtime/lane.hpp"
#include "runtime/result.hpp"

namespace troupe::net::detail {

/// What a lane sends: frames that wait, and requests that the device has. Frames leave in the order
/// in which they were posted, those that are ready as one chain with one doorbell, of which only
/// the last request is signalled.
///
/// A frame needs a credit, which is a posted receive of the peer. The last ones are kept for sends
/// that give credits back: two ends that are both out of credits free each other.
class request_queue {
 public:
  /// `peer_receives`: how many the peer has posted, the first credits.
  request_queue(adapter& where, const buffer_table& buffers, slot_memory& memory,
                region_directory& regions, std::uint32_t peer_receives);

  bool has_room_for_write() const { return writes_open_ < where_.sizes().depth; }
  bool has_room_for_message() const { return messages_ < where_.sizes().messages; }
  /// Whether places are missing because the device does not complete what the peer, as its credits
  /// say, took in long ago.
  bool misses_completions() const;
  void push_write(const lane_write& write);
  void push_message(std::span<const std::byte> message);

  void add_credits(std::uint32_t count) { credits_ += count; }

  /// Tells the peer what `key` exposes; none: nothing.
  void answer(std::uint64_t key, const std::optional<verbs_remote_memory>& memory);

  /// The peer answered. False: nobody asked that.
  bool on_answer(const verbs_frame& frame);

  /// Posts what can go, and tells the peer of receives that were posted again.
  /// Errors: resource_exhausted (a source cannot be registered), system_failure.
  result<void> flush(queue_pair& pair, std::uint64_t id, receive_queue& received);

  /// Request `number`, as it was in its id, and all before it are done.
  void on_completed(std::uint32_t number);

  /// Contexts of writes that are done.
  bool has_completed() const { return completed_count_ != 0; }
  std::uint64_t pop_completed();

  /// Messages of ours that the peer's queue pair has.
  std::uint64_t messages_delivered() const { return messages_delivered_; }

  /// Calls `take` with each message that may not be there, in order, up to the first write that
  /// may not be either.
  template <class Take>
  void each_undelivered(Take take) const {
    for (std::uint32_t i = 0; i < issued_count_; ++i) {
      const auto& request = issued_[(first_issued_ + i) % issued_.size()];
      if (request.what == request_kind::piece || request.what == request_kind::write_end) return;
      if (request.what == request_kind::message)
        take(message_in(request.slot, request.message_bytes));
    }
    for (std::size_t i = 0; i < count_; ++i) {
      const auto& frame = queue_[(first_ + i) % queue_.size()];
      if (frame.is_write) return;
      take(message_in(frame.slot, frame.message_bytes));
    }
  }

 private:
  // Requests of one doorbell. Chosen: beyond that the doorbell costs nothing any more.
  static constexpr std::size_t chain_max = 32;
  // Credits that only answers and only credits may use.
  static constexpr std::uint32_t credits_for_services = 2;
  static constexpr std::uint32_t credits_for_credits = 1;
  // Requests are numbered modulo this in their ids.
  static constexpr std::uint32_t number_mask = 0x7f'ffff;

  struct waiting {
    bool is_write = false;
    std::uint32_t slot = 0;  ///< of a message
    std::uint32_t message_bytes = 0;
    std::uint64_t placed = 0;  ///< bytes of a write that the device has
    lane_write write{};
  };
  enum class request_kind : std::uint8_t { piece, write_end, message, service };
  struct issued {
    request_kind what = request_kind::piece;
    std::uint32_t slot = 0;
    std::uint32_t message_bytes = 0;
    bool is_service = false;  ///< a send in a slot of its own
    std::uint64_t context = 0;
  };
  enum class progress : std::uint8_t { issued, blocked };

  waiting& front() { return queue_[first_]; }
  waiting& push();
  void pop_front();
  std::span<const std::byte> message_in(std::uint32_t slot, std::uint32_t bytes) const {
    return memory_.send_slot(slot).subspan(verbs_message_header_bytes, bytes);
  }
  bool has_request_room() const {
    return chained_ < chain_max && issued_count_ < where_.sizes().requests;
  }
  bool has_service_room() const {
    return has_request_room() && services_ < where_.sizes().services;
  }

  ibv_send_wr& next_request(const issued& record);
  void add_piece(ibv_send_wr& request, const std::byte* from, std::uint32_t bytes,
                 std::uint32_t local_key);
  void send_service(const verbs_frame& frame, issued record);
  void send_message(std::uint32_t owed);
  result<progress> send_write();
  result<progress> send_into(const verbs_remote_memory& memory);
  result<progress> send_next(std::uint32_t owed);
  result<void> post_chain(queue_pair& pair, std::uint64_t id);

  adapter& where_;
  const buffer_table& buffers_;
  slot_memory& memory_;
  region_directory& regions_;

  std::vector<waiting> queue_;  ///< a ring
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  std::uint32_t writes_open_ = 0;  ///< posted, completion not polled
  std::uint32_t messages_ = 0;     ///< that wait, or that the device has
  std::uint32_t services_ = 0;     ///< that the device has

  std::uint32_t peer_receives_;
  std::uint32_t credits_;
  bool asked_ = false;
  std::uint64_t asked_key_ = 0;  ///< of the question under way, or answered last
  bool answered_ = false;
  std::uint32_t answer_generation_ = 0;           ///< of the directory when the answer came
  std::optional<verbs_remote_memory> answer_in_;  ///< none: the key is dead
  bool answer_due_ = false;
  verbs_frame answer_out_;

  std::vector<issued> issued_;  ///< a ring
  std::size_t first_issued_ = 0;
  std::uint32_t issued_count_ = 0;
  std::uint32_t next_number_ = 0;         ///< of the next request
  std::vector<std::uint64_t> completed_;  ///< a ring
  std::size_t first_completed_ = 0;
  std::size_t completed_count_ = 0;
  std::uint64_t messages_delivered_ = 0;

  std::array<ibv_send_wr, chain_max> chain_{};
  std::array<ibv_sge, chain_max> pieces_{};
  std::size_t chained_ = 0;
};

}  // namespace troupe::net::detail
