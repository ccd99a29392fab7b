#include <utility>

#include "actors/qp_group/qp_group_actor.hpp"
#include "actors/rank/rank_messages.hpp"
#include "net/bootstrap/address_list_wire.hpp"
#include "net/membership/membership_wire.hpp"

// What the endpoints of a link tell each other beside transfers.
namespace troupe::actors {

namespace {

// Notices that may wait for room in the link: one for each communicator that two endpoints could
// share and see fail at once.
constexpr std::size_t waiting_notice_count = 4096;

}  // namespace

void qp_group_actor_state::apply_one(const net::deliver_notice& effect) {
  if (is_fetch(effect.bytes())) {
    if (const auto wanted = decode_fetch(effect.bytes())) on_fetch(*wanted);
  } else if (is_part(effect.bytes())) {
    on_part(effect.bytes());
  } else if (const auto heard = decode_notice(effect.bytes())) {
    on_notice(*heard);
  }
}

void qp_group_actor_state::on_notice(const notice& heard) {
  switch (heard.kind) {
    case notice_kind::communicator_failed: {
      const auto found = context_->ranks.find(heard.communicator.value);
      if (found != context_->ranks.end())
        context_->send_urgent(
            found->second,
            failure_noticed{peer_, heard.epoch, std::make_shared<const failure>(heard.why)});
      break;
    }
    case notice_kind::leaving:
      peer_leaving_ = true;
      // Through the mailbox: a step of the machine is being applied here.
      context_->send(qp_group_actor{self_},
                     notice_request{std::make_shared<const notice_frame>(
                         encode(notice{notice_kind::leaving_seen, {}, {}, {}}))});
      break;
    case notice_kind::leaving_seen: context_->send(context_->endpoint, link_left{peer_}); break;
  }
}

// The peer gets bytes of a window: they go into its accept. A window that is not there, or not that
// large, is a signature that cannot be the peer's.
void qp_group_actor_state::on_fetch(const fetch& wanted) {
  const auto part =
      context_->windows.part({wanted.communicator, wanted.window}, wanted.offset, wanted.bytes);
  const put_request answer{.id = {wanted.communicator, wanted.epoch, wanted.operation, 0},
                           .signature = {operation_kind::get, data_type::uint8, reduction::sum,
                                         part ? 0u : 1u, wanted.bytes},
                           .source = part.value_or(staging_view_.part(0, 0)),
                           .token = nobodys_token};
  // Through the mailbox: a step of the machine is being applied here.
  context_->send(qp_group_actor{self_}, answer);
}

// The peer's get would wait for its timeout otherwise.
void qp_group_actor_state::refuse_fetch(const transfer_id& id) {
  const failure why{
      error{errc::queue_full, 0, context_->identity.self},
      "a get was not answered: as many transfers as transport.transfer_count are open there"};
  send_notice(std::make_shared<const notice_frame>(
      encode(notice{notice_kind::communicator_failed, id.communicator, id.epoch, why})));
}

void qp_group_actor_state::send_notice(std::shared_ptr<const notice_frame> frame) {
  if (lost_ || notices_.size() >= waiting_notice_count) return;
  notices_.push_back(std::move(frame));
  flush_notices();
}

void qp_group_actor_state::send_frame(std::span<const std::byte> frame) {
  const auto parts = cut(frame);
  if (lost_ || notices_.size() + parts.size() > waiting_notice_count) return;
  for (const auto& part : parts)
    notices_.push_back(std::make_shared<const notice_frame>(part));
  flush_notices();
}

void qp_group_actor_state::on_part(std::span<const std::byte> part) {
  const auto whole = arriving_.add(part);
  if (!whole) {
    context_->counters.foreign_frames.add(1);
    return;
  }
  if (!*whole) return;
  if (net::is_address_list(**whole))
    return context_->send(context_->bootstrap,
                          addresses_heard{peer_, std::make_shared<const std::vector<std::byte>>(
                                                     (*whole)->begin(), (*whole)->end())});
  const auto communicator = net::communicator_of(**whole);
  const auto found =
      communicator ? context_->ranks.find(communicator->value) : context_->ranks.end();
  if (found == context_->ranks.end()) return;
  context_->send_urgent(found->second,
                        membership_heard{peer_, std::make_shared<const std::vector<std::byte>>(
                                                    (*whole)->begin(), (*whole)->end())});
}

void qp_group_actor_state::flush_notices() {
  while (!notices_.empty() && net::notice_room(*state_) != 0) {
    const auto frame = std::move(notices_.front());
    notices_.pop_front();
    drive(net::notice_requested{frame->view()});
  }
}

}  // namespace troupe::actors
