#pragma once

#include "net/membership/membership_machine.hpp"

namespace troupe::net::detail {

/// One event at work: the state it changes, when, and where effects go.
struct membership_step {
  membership_state& s;
  instant now;
  membership_effects& out;

  /// Of the current epoch.
  void send(member_id to, ballot in, membership_body body) const;
  void send_of(troupe::epoch epoch, member_id to, ballot in, membership_body body) const;
  /// The decision that was made in `in`, to every member of the current epoch but this one.
  void spread(const epoch_record& next, ballot in) const;
  /// To every member of the current epoch but this one and the dead.
  void send_to_all(ballot in, const membership_body& body) const;
  void arm(membership_timer timer, duration delay) const;
  void disarm(membership_timer timer) const;

  /// Promises `in` and closes the epoch if it is open.
  void promise(ballot in) const;
  /// Moves into a decided epoch, or out if this member is not in it.
  void enter(const epoch_record& next, ballot in) const;
  void leave(errc why) const;
};

/// Starts an attempt of this member with a new ballot.
void lead(const membership_step& step);

/// A member's answer to this leader's ballot.
void take_report(const membership_step& step, member_id from, const report_frame& report);
void take_accept(const membership_step& step, member_id from);

/// What this leader knows changed (somebody died, patience ended): goes on if it can.
void go_on(const membership_step& step);

/// Asks those who have not answered again.
void ask_again(const membership_step& step);

}  // namespace troupe::net::detail
