#pragma once

#include <cstdint>
#include <memory>

#include "net/verbs/detail/side_owner.hpp"
#include "net/verbs/detail/verbs_lane.hpp"
#include "runtime/instant.hpp"
#include "runtime/lane.hpp"

namespace troupe::net::detail {

class verbs_world;

/// A lane in the making: a TCP connection, and at some point a queue pair, unless it is to be
/// plain.
class greeting final : public side_owner {
 public:
  enum class stage : std::uint8_t {
    dialling,         ///< dialler: TCP is on its way
    awaiting_answer,  ///< dialler: hello is said
    awaiting_hello,   ///< acceptor
    awaiting_ready,   ///< acceptor: answer is said
    over,             ///< goes at the end of the turn
  };

  /// What a dial is to become.
  enum class purpose : std::uint8_t { queue_pair, plain };

  /// A dial with `context`, or, without, a connection that a peer made.
  greeting(verbs_world& world, purpose wanted, std::uint64_t context, instant deadline)
      : world_(world),
        at_(stage::dialling),
        wanted_(wanted),
        context_(context),
        deadline_(deadline) {}
  greeting(verbs_world& world, std::unique_ptr<lane> side, instant deadline);

  stage at() const { return at_; }
  bool is_dial() const { return is_dial_; }
  std::uint64_t context() const { return context_; }
  instant deadline() const { return deadline_; }

  void on_connected(std::unique_ptr<lane> side);
  void on_side_ready() override;
  void give_up(error cause);

  /// Nothing is to be said of it any more.
  void abandon();

 private:
  void on_message(std::span<const std::byte> message);
  void on_hello(const verbs_greeting& hello);
  void on_answer(const verbs_greeting& answer);
  bool make_lane(adapter& where);
  bool connect(const verbs_greeting& said);
  void say(const verbs_greeting& what);
  void refuse(verbs_refusal reason);
  void finish(network_event::kind what);
  void finish_plain(network_event::kind what);

  verbs_world& world_;
  stage at_;
  purpose wanted_ = purpose::queue_pair;
  bool is_dial_ = true;
  std::uint64_t context_ = 0;
  instant deadline_;
  std::unique_ptr<lane> side_;
  std::unique_ptr<verbs_lane> lane_;
};

}  // namespace troupe::net::detail
