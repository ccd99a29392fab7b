#include "actors/collective/collective_actor.hpp"
#include "actors/rank/fetch_wire.hpp"

// Operations that no call of the peer matches, and those with oneself.
namespace troupe::actors {

// A put into a window of this member meets an accept that is made for it here, whose end nobody
// waits for; a get likewise meets a put.
void collective_actor_state::put_to_self(const put_request& request) {
  context_->to_self.put(request);
  if (!is_window_put(request.id)) return;
  const auto& e = entry();
  const auto& place = e.work->request().window;
  const auto part =
      context_->windows.part({e.communicator, place.number}, place.at.offset, request.source.bytes);
  context_->to_self.accept(
      {request.id, request.signature, part.value_or(buffer_view{}), request.token});
}

void collective_actor_state::accept_from_self(const accept_request& request) {
  context_->to_self.accept(request);
  const auto& e = entry();
  const auto& call = e.work->request();
  if (call.signature.kind != operation_kind::get) return;
  const auto part = context_->windows.part({e.communicator, call.window.number},
                                           call.window.at.offset, request.target.bytes);
  context_->to_self.put(
      {request.id, request.signature, part.value_or(buffer_view{}), request.token, {}});
}

void collective_actor_state::fetch_from(rank peer, const accept_request& request) {
  const auto& place = entry().work->request().window;
  const auto frame = encode(fetch{request.id.communicator, request.id.epoch, request.id.operation,
                                  place.number, place.at.offset, request.target.bytes});
  context_->send(context_->link_to(peer), request);
  context_->send(context_->link_to(peer),
                 notice_request{std::make_shared<const notice_frame>(frame)});
}

void collective_actor_state::await_notifications(rank peer) {
  auto& e = entry();
  const auto& call = e.work->request();
  begin_transfer(peer, 0, false);
  const window_name name{e.communicator, call.window.number};
  if (context_->windows.take(name, peer, call.signature.count, slot_))
    context_->send(collective_actor{self_}, transfer_ended{.slot = slot_, .peer = peer});
}

}  // namespace troupe::actors
