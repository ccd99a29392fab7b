#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "actors/worker/poller.hpp"
#include "runtime/lane.hpp"

namespace troupe::actors {

/// Who owns a lane and is told when it wants to be polled. A lane's tag points to its owner.
class lane_owner {
 public:
  virtual ~lane_owner() = default;
  virtual void on_lane_ready(lane& ready) = 0;
};

/// Who takes new lanes.
class lane_acceptor {
 public:
  virtual ~lane_acceptor() = default;
  virtual void on_accepted(std::unique_ptr<lane> opened) = 0;
  virtual void on_connected(std::uint64_t context, std::unique_ptr<lane> opened) = 0;
  virtual void on_dial_failed(std::uint64_t context, error cause) = 0;
};

/// Polls the lane network of an endpoint and leads what happened to its owner.
///
/// Thread: the worker only.
class lane_router final : public poller {
 public:
  explicit lane_router(lane_network& network) : network_(network) {}

  /// Null: new lanes are closed at once.
  void set_acceptor(lane_acceptor* acceptor) { acceptor_ = acceptor; }

  static void set_owner(lane& l, lane_owner* owner) {
    l.set_tag(reinterpret_cast<std::uintptr_t>(owner));
  }

  /// Destroys a lane after the events taken so far were led to their owners: one of them may still
  /// name it.
  void bury(std::unique_ptr<lane> l) {
    set_owner(*l, nullptr);
    graves_.push_back(std::move(l));
  }

  bool poll(instant now) override;
  void release(instant now) override {
    if (network_.next_deadline() <= now) poll(now);
  }
  instant next_deadline() const override { return network_.next_deadline(); }
  instant prepare_to_wait() override { return network_.prepare_to_wait(); }
  int wait_descriptor() const override { return network_.wait_descriptor(); }

 private:
  void route(network_event& event);

  // Events taken from the network in one go: bounds how long messages wait behind a busy network.
  // Kept: an empty list costs as much to make as a poll that finds nothing.
  std::array<network_event, 32> events_;

  lane_network& network_;
  lane_acceptor* acceptor_ = nullptr;
  std::vector<std::unique_ptr<lane>> graves_;
};

}  // namespace troupe::actors
