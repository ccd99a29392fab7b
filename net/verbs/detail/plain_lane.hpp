#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "net/verbs/detail/announced_lane.hpp"
#include "net/verbs/detail/side_owner.hpp"

namespace troupe::net::detail {

/// A TCP connection that is a lane of its own, among the lanes of queue pairs: it lives whatever
/// becomes of the devices.
class plain_lane final : public announced_lane, public side_owner {
 public:
  plain_lane(ready_lanes& ready, std::unique_ptr<lane> side)
      : ready_(ready), side_(std::move(side)) {
    own(*side_, this);
  }
  ~plain_lane() override { ready_.remove(*this); }
  plain_lane(const plain_lane&) = delete;
  plain_lane& operator=(const plain_lane&) = delete;

  lane_kind kind() const override { return side_->kind(); }
  std::uint32_t depth() const override { return side_->depth(); }
  post_status post_write(const lane_write& write) override { return side_->post_write(write); }
  post_status post_message(std::span<const std::byte> message) override {
    return side_->post_message(message);
  }
  std::size_t poll(std::span<lane_event> out) override { return side_->poll(out); }
  void close() override {
    ready_.remove(*this);
    side_->close();
  }
  std::string describe() const override { return side_->describe(); }

  void on_side_ready() override { ready_.insert(*this); }

 private:
  ready_lanes& ready_;
  std::unique_ptr<lane> side_;
};

}  // namespace troupe::net::detail
