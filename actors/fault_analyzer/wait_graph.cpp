#include <algorithm>
#include <map>
#include <set>

#include "actors/fault_analyzer/fault_analyzer_machine.hpp"
#include "actors/rank/rank_machine.hpp"

namespace troupe::actors {

namespace {

// A worker that did not begin a round for this long, awake, is stuck in one. Chosen: rounds take
// microseconds, and a slice of byte work 100 us.
constexpr duration round_patience = std::chrono::milliseconds(500);

duration longest_wait(const shared_operation& one) {
  duration longest{};
  for (const auto who : one.stuck)
    longest = std::max(longest, one.joined.at(who).age());
  return longest;
}

std::string who_waits(const shared_operation& one) {
  return std::to_string(one.joined.size()) + " of " + std::to_string(one.size) +
         " ranks called it, " + names_of(one.stuck) + " for " + in_seconds(longest_wait(one));
}

diagnosis about(verdict_kind kind, const shared_operation& one) {
  diagnosis out;
  out.verdict = kind;
  out.communicator = one.name.communicator;
  out.operation = one.name.number;
  out.evidence.push_back(describe(one) + ": " + who_waits(one));
  return out;
}

/// What a rank that is missed in an operation does instead.
std::string whereabouts(const case_file& file, rank who, communicator_id id) {
  const auto& dump = *file.dump_of(who);
  std::string out = name_of(who);
  if (const auto* known = dump.find(id))
    out += ": its last call there was operation " + std::to_string(known->last_called) + ", " +
           in_seconds(dump.taken_at - known->last_call) + " before its dump";
  else
    out += ": it does not know the communicator";
  if (const auto* other = file.stuck_in(who))
    out += "; it waits in " + describe(*other);
  else
    out += "; nothing of it waits";
  return out;
}

bool is_worker_stuck(const rank_dump& dump) {
  return !dump.worker.parked && dump.worker.last_round != instant{} &&
         dump.taken_at - dump.worker.last_round > round_patience;
}

const link_report* link_between(const rank_dump& dump, rank peer) {
  const auto found = std::find_if(dump.links.begin(), dump.links.end(),
                                  [&](const auto& link) { return link.peer == peer; });
  return found == dump.links.end() ? nullptr : &*found;
}

/// Ranks that joined and owe the others their part: whose worker is stuck, else who wait for
/// nobody, else those named most.
std::vector<rank> owing_ranks(const shared_operation& one, std::vector<std::string>& evidence) {
  std::vector<rank> stuck_workers, sinks;
  std::map<rank, std::size_t> named;
  for (const auto& [who, mine] : one.joined) {
    if (is_worker_stuck(*mine.dump)) {
      stuck_workers.push_back(who);
      evidence.push_back(name_of(who) + ": its worker did not get round for " +
                         in_seconds(mine.dump->taken_at - mine.dump->worker.last_round));
    }
    const auto& record = *mine.record;
    if (record.phase == operation_phase::past && record.failed != errc::timed_out) continue;
    if (record.waits_for_count == 0) sinks.push_back(who);
    for (const auto peer : record.named_waits())
      if (peer != who) ++named[peer];
  }
  if (!stuck_workers.empty()) return stuck_workers;
  if (!sinks.empty() && sinks.size() < one.joined.size()) {
    for (const auto who : sinks)
      evidence.push_back(name_of(who) + " waits for no other rank");
    return sinks;
  }
  std::size_t most = 0;
  std::vector<rank> out;
  for (const auto& [who, count] : named) {
    if (count > most) out.clear();
    most = std::max(most, count);
    if (count == most) out.push_back(who);
  }
  return out;
}

/// A link of the operation that lacks lanes at both ends' word, or over which nothing comes.
std::optional<diagnosis> find_dead_link(const shared_operation& one) {
  for (const auto& [who, mine] : one.joined)
    for (const auto peer : mine.record->named_waits()) {
      const auto* link = link_between(*mine.dump, peer);
      if (link == nullptr || !(link->lost || link->lanes_open == 0)) continue;
      auto out = about(verdict_kind::lane_dead, one);
      out.culprits = {who, peer};
      out.sentence = "No lane is open between " + name_of(who) + " and " + name_of(peer) +
                     ", which " + describe(one) + " needs.";
      out.evidence.push_back(name_of(who) + ": " + std::to_string(link->lanes_lost) + " lanes to " +
                             name_of(peer) + " died, " + std::to_string(link->lanes_open) + " of " +
                             std::to_string(link->lanes_wanted) + " are open");
      return out;
    }
  return std::nullopt;
}

diagnosis all_joined(const shared_operation& one) {
  if (auto dead = find_dead_link(one)) return std::move(*dead);
  auto out = about(verdict_kind::stuck_in_operation, one);
  out.culprits = owing_ranks(one, out.evidence);
  out.sentence = "All ranks called " + describe(one) + ", and it does not end: " +
                 (out.culprits.empty() ? std::string("nobody is named as waited for")
                                       : names_of(out.culprits) + " owes its part") +
                 ".";
  return out;
}

diagnosis unanswered(const shared_operation& one) {
  auto out = about(verdict_kind::rank_silent, one);
  out.culprits = one.unknown;
  out.sentence = names_of(one.unknown) + " gave no dump, and " + describe(one) + " waits for " +
                 (one.unknown.size() == 1 ? "it" : "them") +
                 ": stopped, ended, or its host cannot be reached.";
  out.sentence[0] = 'R';
  return out;
}

diagnosis not_joined(const case_file& file, const shared_operation& one,
                     std::vector<rank> culprits) {
  auto out = about(verdict_kind::never_joined, one);
  out.culprits = std::move(culprits);
  for (const auto who : out.culprits)
    out.evidence.push_back(whereabouts(file, who, one.name.communicator));
  out.sentence = names_of(out.culprits) + " never joined " + describe(one) + ", in which " +
                 names_of(one.stuck) + (one.stuck.size() == 1 ? " waits" : " wait") + " for " +
                 in_seconds(longest_wait(one)) + ".";
  out.sentence[0] = 'R';
  return out;
}

diagnosis deadlock(const std::vector<const shared_operation*>& cycle) {
  // Who is in the operation that fewest joined called in another order than the rest.
  const auto odd = *std::min_element(cycle.begin(), cycle.end(), [](const auto* a, const auto* b) {
    return a->stuck.size() < b->stuck.size();
  });
  const bool tie = std::all_of(cycle.begin(), cycle.end(), [&](const auto* one) {
    return one->stuck.size() == odd->stuck.size();
  });
  auto out = about(verdict_kind::communicator_deadlock, *cycle.front());
  out.evidence.clear();
  std::set<rank> culprits;
  out.sentence = "Ranks wait for each other in operations that they called in different orders: ";
  for (const auto* one : cycle) {
    if (one != cycle.front()) out.sentence += "; ";
    out.sentence += names_of(one->stuck) + (one->stuck.size() == 1 ? " is" : " are") + " in " +
                    describe(*one) + ", without " + names_of(one->absent);
    out.evidence.push_back(describe(*one) + ": " + who_waits(*one));
    if (tie || one == odd) culprits.insert(one->stuck.begin(), one->stuck.end());
  }
  out.sentence += ".";
  out.culprits.assign(culprits.begin(), culprits.end());
  return out;
}

/// The blocked collective to begin with: the one that waits longest.
const shared_operation* oldest_blocked(const case_file& file) {
  const shared_operation* oldest = nullptr;
  for (const auto& [name, one] : file.operations())
    if (!one.stuck.empty() && (oldest == nullptr || longest_wait(one) > longest_wait(*oldest)))
      oldest = &one;
  return oldest;
}

}  // namespace

std::optional<diagnosis> find_blocked(const case_file& file) {
  std::vector<const shared_operation*> path;
  for (const auto* one = oldest_blocked(file); one != nullptr;) {
    const auto seen = std::find(path.begin(), path.end(), one);
    if (seen != path.end()) return deadlock({seen, path.end()});
    path.push_back(one);
    std::vector<rank> idle;
    const shared_operation* next = nullptr;
    for (const auto who : one->absent) {
      const auto* other = file.stuck_in(who);
      if (other == nullptr || other == one) idle.push_back(who);
      if (next == nullptr && other != one) next = other;
    }
    if (!idle.empty()) return not_joined(file, *one, idle);
    if (next == nullptr) return one->unknown.empty() ? all_joined(*one) : unanswered(*one);
    one = next;
  }
  return std::nullopt;
}

std::optional<diagnosis> find_blocked_pair(const case_file& file) {
  const part* oldest = nullptr;
  for (const auto& one : file.stuck_pairs())
    if (oldest == nullptr || one.age() > oldest->age()) oldest = &one;
  if (oldest == nullptr) return std::nullopt;
  const auto& record = *oldest->record;
  const auto peer = oldest->dump->to_world(record.communicator, record.peer);
  const auto what = to_string(record.signature) + ", call " + std::to_string(shown(record.number)) +
                    " of " + name_of(oldest->dump->self) + " on communicator " +
                    std::to_string(record.communicator.value);
  diagnosis out;
  out.communicator = record.communicator;
  out.operation = record.number;
  out.culprits = {peer};
  out.evidence.push_back(what + " waits for " + name_of(peer) + " since " +
                         in_seconds(oldest->age()));
  const auto* theirs = file.dump_of(peer);
  if (theirs == nullptr) {
    out.verdict = verdict_kind::rank_silent;
    out.sentence =
        "Rank " + std::to_string(peer.value) + " gave no dump, and " + what + " waits for it.";
    return out;
  }
  const bool called =
      std::any_of(theirs->operations.begin(), theirs->operations.end(), [&](const auto& other) {
        return other.communicator == record.communicator && other.number == record.number &&
               other.signature.kind != record.signature.kind;
      });
  const bool needs_call = !is_one_sided(record.signature.kind);
  out.verdict =
      needs_call && !called ? verdict_kind::never_joined : verdict_kind::stuck_in_operation;
  out.sentence =
      "Rank " + std::to_string(peer.value) +
      (needs_call && !called ? " never made the call that matches " : " does not get on with ") +
      what + ", which waits for " + in_seconds(oldest->age()) + ".";
  return out;
}

}  // namespace troupe::actors
