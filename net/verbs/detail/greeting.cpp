#include "net/verbs/detail/greeting.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "net/verbs/detail/plain_lane.hpp"
#include "net/verbs/detail/verbs_world.hpp"

namespace troupe::net::detail {

greeting::greeting(verbs_world& world, std::unique_ptr<lane> side, instant deadline)
    : world_(world),
      at_(stage::awaiting_hello),
      is_dial_(false),
      deadline_(deadline),
      side_(std::move(side)) {
  own(*side_, this);
}

void greeting::on_connected(std::unique_ptr<lane> side) {
  side_ = std::move(side);
  own(*side_, this);
  if (wanted_ == purpose::plain) {
    say({.what = verbs_greeting::kind::plain});
    return finish_plain(network_event::kind::connected);
  }
  if (!make_lane(world_.least_used_adapter())) return;
  at_ = stage::awaiting_answer;
  const auto name = lane_->name(world_.adapter_count());
  if (!name) {
    world_.note(name.error().message);
    return give_up({errc::unreachable, ENETDOWN});
  }
  say({.what = verbs_greeting::kind::hello, .instance = world_.instance(), .queue_pair = *name});
}

bool greeting::make_lane(adapter& where) {
  auto made = verbs_lane::make(world_, where);
  if (made) {
    lane_ = std::move(*made);
    return true;
  }
  world_.note_registration_failure(made.error(), slot_memory::bytes_of(where.sizes().slots()));
  refuse(verbs_refusal::resources);
  give_up({errc::resource_exhausted, made.error().native});
  return false;
}

void greeting::on_side_ready() {
  while (at_ != stage::over && side_) {
    std::array<lane_event, 1> event;
    if (side_->poll(event) == 0) return;
    switch (event[0].what) {
      case lane_event::kind::message_arrived: on_message(event[0].message); break;
      case lane_event::kind::lane_lost: return give_up({errc::unreachable, event[0].cause.native});
      default: return give_up({errc::malformed});
    }
  }
}

void greeting::on_message(std::span<const std::byte> message) {
  const auto said = decode_verbs_greeting(message);
  if (!said) {
    if (said.error().code == errc::version_mismatch)
      world_.note("a peer at " + side_->describe() + " speaks version " +
                  std::to_string(said.error().native) + " of the RDMA greeting, this rank " +
                  std::to_string(verbs_greeting_version));
    return give_up({errc::unreachable, EPROTO});
  }
  using kind = verbs_greeting::kind;
  if (at_ == stage::awaiting_hello && said->what == kind::hello) return on_hello(*said);
  if (at_ == stage::awaiting_hello && said->what == kind::plain)
    return finish_plain(network_event::kind::accepted);
  if (at_ == stage::awaiting_answer && said->what == kind::answer) return on_answer(*said);
  if (at_ == stage::awaiting_ready && said->what == kind::ready)
    return finish(network_event::kind::accepted);
  if (at_ == stage::awaiting_answer && said->what == kind::refusal) {
    world_.note("the peer at " + side_->describe() +
                (said->reason == verbs_refusal::link_layer
                     ? " has its RDMA ports on another link layer (Ethernet, InfiniBand)"
                     : " could not make a queue pair"));
    return give_up({errc::unreachable, EPROTONOSUPPORT});
  }
  give_up({errc::unreachable, EPROTO});
}

void greeting::on_hello(const verbs_greeting& hello) {
  const auto& theirs = hello.queue_pair;
  auto& where = world_.adapter_at(theirs.device_index);
  if (where.port().link_layer != theirs.link_layer) {
    refuse(verbs_refusal::link_layer);
    return give_up({errc::unreachable, EPROTONOSUPPORT});
  }
  if (!make_lane(where)) return;
  const auto ours = lane_->name(world_.adapter_count());
  if (!ours) {
    world_.note(ours.error().message);
    refuse(verbs_refusal::resources);
    return give_up({errc::unreachable, ENETDOWN});
  }
  if (!connect(hello)) return;
  at_ = stage::awaiting_ready;
  say({.what = verbs_greeting::kind::answer, .instance = world_.instance(), .queue_pair = *ours});
}

void greeting::on_answer(const verbs_greeting& answer) {
  if (!connect(answer)) return;
  say({.what = verbs_greeting::kind::ready});
  finish(network_event::kind::connected);
}

bool greeting::connect(const verbs_greeting& said) {
  world_.note_device_counts(said.queue_pair.device_count);
  auto regions = world_.regions_of(said.instance, said.queue_pair.device_index);
  const auto connected = lane_->connect(said, std::move(regions));
  if (connected) return true;
  world_.note(std::string("no queue pair to the peer at ") + side_->describe() + ": " +
              std::strerror(connected.error().native));
  give_up({errc::unreachable, connected.error().native});
  return false;
}

void greeting::say(const verbs_greeting& what) {
  side_->post_message(encode(what));
}

void greeting::refuse(verbs_refusal reason) {
  if (!is_dial_) say({.what = verbs_greeting::kind::refusal, .reason = reason});
}

void greeting::finish(network_event::kind what) {
  at_ = stage::over;
  lane_->adopt_side(std::move(side_));
  world_.show(what, context_, std::move(lane_));
}

void greeting::finish_plain(network_event::kind what) {
  at_ = stage::over;
  world_.show(what, context_, std::make_unique<plain_lane>(world_.ready(), std::move(side_)));
}

void greeting::give_up(error cause) {
  if (at_ == stage::over) return;
  abandon();
  if (is_dial_) world_.show_failure(context_, cause);
}

void greeting::abandon() {
  at_ = stage::over;
  lane_.reset();
  if (side_) side_->close();
}

}  // namespace troupe::net::detail
