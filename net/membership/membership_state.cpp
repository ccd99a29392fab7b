#include "net/membership/membership_state.hpp"

#include <algorithm>

#include "runtime/assert.hpp"

namespace troupe::net {

membership_state make_member(communicator_id communicator, member_id self,
                             const epoch_record& first, const membership_options& options) {
  TROUPE_ASSERT(contains(first.members, self));
  membership_state state;
  state.communicator = communicator;
  state.self = self;
  state.options = options;
  state.current = first;
  return state;
}

membership_state make_joiner(communicator_id communicator, std::uint64_t token,
                             const membership_options& options) {
  membership_state state;
  state.communicator = communicator;
  state.token = token;
  state.options = options;
  state.phase = membership_phase::joining;
  return state;
}

bool is_quorum(const membership_state& state, const member_list& who) {
  std::size_t voters = 0;
  std::size_t votes = 0;
  bool only_dead_are_missing = true;
  for (const auto member : state.current.members) {
    const bool there = contains(who, member);
    if (!there && !contains(state.dead, member)) only_dead_are_missing = false;
    if (contains(state.current.guests, member)) continue;
    ++voters;
    votes += there ? 1 : 0;
  }
  // Guests alone decide nothing: somebody may live who missed their coming.
  return 2 * votes > voters || (votes > 0 && only_dead_are_missing);
}

bool is_suspected(const membership_state& state, member_id member) {
  return std::any_of(state.accusations.begin(), state.accusations.end(),
                     [&](const accusation& one) { return one.accused == member; });
}

bool is_accused_here(const membership_state& state, member_id member) {
  return std::binary_search(state.accusations.begin(), state.accusations.end(),
                            accusation{member, state.self});
}

member_id leader_of(const membership_state& state) {
  for (const auto member : state.current.members)
    if (member == state.self || (!is_accused_here(state, member) && !contains(state.dead, member)))
      return member;
  return state.self;
}

}  // namespace troupe::net
