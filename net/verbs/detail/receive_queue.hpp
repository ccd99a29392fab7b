#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "net/verbs/detail/queue_pair.hpp"
#include "net/verbs/detail/slot_memory.hpp"
#include "runtime/lane.hpp"

namespace troupe::net::detail {

/// The posted receives of a lane, and what arrived in them and was not shown yet. A receive is
/// posted again when what it took was shown, so there are never more arrivals than receives.
class receive_queue {
 public:
  explicit receive_queue(std::uint32_t count) : arrivals_(count), requests_(count), pieces_(count) {
    again_.reserve(count);
  }

  struct arrival {
    lane_event::kind what = lane_event::kind::write_arrived;
    std::uint32_t slot = 0;
    std::uint32_t immediate = 0;
    std::uint64_t bytes = 0;  ///< of a message: the whole send
  };

  bool empty() const { return count_ == 0; }
  void push(const arrival& what);
  arrival pop();

  /// The slot is free: it is posted at the next `post_again`.
  void give_back(std::uint32_t slot) { again_.push_back(slot); }

  /// Posts what was given back, all in one call. 0, or the errno.
  int post_again(queue_pair& pair, const slot_memory& memory, std::uint64_t id);

  /// Receives posted again that the peer was not told of.
  std::uint32_t owed() const { return owed_; }
  std::uint32_t take_owed();

  /// They are worth a send of their own.
  bool owes_much() const { return owed_ >= arrivals_.size() / 4; }

 private:
  std::vector<arrival> arrivals_;  ///< a ring
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  std::vector<std::uint32_t> again_;
  std::vector<ibv_recv_wr> requests_;
  std::vector<ibv_sge> pieces_;
  std::uint32_t owed_ = 0;
};

}  // namespace troupe::net::detail
