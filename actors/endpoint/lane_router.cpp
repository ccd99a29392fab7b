#include "actors/endpoint/lane_router.hpp"

namespace troupe::actors {

bool lane_router::poll(instant now) {
  const auto count = network_.poll(now, events_);
  for (std::size_t i = 0; i < count; ++i) {
    route(events_[i]);
    // A lane that nobody took ends after the batch: a later event of it may name the lane.
    if (events_[i].opened != nullptr) bury(std::move(events_[i].opened));
  }
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
