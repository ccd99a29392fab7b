#include "actors/endpoint/lane_router.hpp"

#include <array>

namespace troupe::actors {

namespace {

// Events taken from the network in one go: bounds how long messages wait behind a busy network.
constexpr std::size_t events_per_poll = 32;

}  // namespace

bool lane_router::poll(instant now) {
  std::array<network_event, events_per_poll> events;
  const auto count = network_.poll(now, events);
  for (std::size_t i = 0; i < count; ++i)
    route(events[i]);
  graves_.clear();
  return count != 0;
}

void lane_router::route(network_event& event) {
  switch (event.what) {
    case network_event::kind::lane_ready:
      if (auto* owner = reinterpret_cast<lane_owner*>(event.ready->tag()))
        owner->on_lane_ready(*event.ready);
      break;
    case network_event::kind::accepted:
      if (acceptor_ != nullptr) acceptor_->on_accepted(std::move(event.opened));
      break;
    case network_event::kind::connected:
      if (acceptor_ != nullptr) acceptor_->on_connected(event.context, std::move(event.opened));
      break;
    case network_event::kind::dial_failed:
      if (acceptor_ != nullptr) acceptor_->on_dial_failed(event.context, event.cause);
      break;
  }
}

}  // namespace troupe::actors
