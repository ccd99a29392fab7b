#include "actors/fault_analyzer/fault_analyzer_machine.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "actors/rank/rank_machine.hpp"

namespace troupe {

namespace {

constexpr std::size_t evidence_count_max = 12;

}  // namespace

diagnosis diagnose(std::span<const rank_dump> dumps, const diagnosis_options& options) {
  using namespace actors;
  const case_file file(dumps, options);
  constexpr std::array questions{&find_incomplete_join, &find_mismatch,     &find_lost_rank,
                                 &find_blocked,         &find_blocked_pair, &find_idle_job,
                                 &find_slow_rank};
  diagnosis out;
  out.sentence = "Nothing is wrong: every rank that spoke gets on with its operations.";
  for (const auto question : questions) {
    if (auto found = question(file)) {
      out = std::move(*found);
      break;
    }
  }
  std::sort(out.culprits.begin(), out.culprits.end());
  // In a large job everybody saw the same.
  if (const auto more = out.evidence.size(); more > evidence_count_max) {
    out.evidence.resize(evidence_count_max);
    out.evidence.push_back("and " + std::to_string(more - evidence_count_max) + " more alike");
  }
  out.table = table_of(file);
  return out;
}

}  // namespace troupe

namespace troupe::actors {

namespace {

/// Whether two ranks called the same: what of an all_to_all_v is between two ranks is left out.
bool same_call(operation_signature one, operation_signature other) {
  if (one.kind == operation_kind::all_to_all_v) one.count = 0;
  if (other.kind == operation_kind::all_to_all_v) other.count = 0;
  return one == other;
}

std::vector<rank> missing_ranks(const case_file& file) {
  std::vector<rank> out;
  for (std::uint32_t i = 0; i < file.world_size(); ++i)
    if (file.dump_of(rank{i}) == nullptr) out.push_back(rank{i});
  return out;
}

std::string quoted(const rank_dump& dump, const incident& what) {
  return name_of(dump.self) + " says: " + std::string(to_string(what.kind)) + " " +
         in_seconds(dump.taken_at - what.at) + " before its dump: " + what.text;
}

/// Ranks by what they called, most common call first.
std::vector<std::pair<operation_signature, std::vector<rank>>> calls_of(
    const shared_operation& one) {
  std::vector<std::pair<operation_signature, std::vector<rank>>> calls;
  for (const auto& [who, mine] : one.joined) {
    const auto& signature = mine.record->signature;
    const auto found = std::find_if(calls.begin(), calls.end(), [&](const auto& call) {
      return same_call(call.first, signature);
    });
    if (found == calls.end())
      calls.push_back({signature, {who}});
    else
      found->second.push_back(who);
  }
  std::stable_sort(calls.begin(), calls.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  return calls;
}

diagnosis about(verdict_kind kind, const operation_name& name) {
  diagnosis out;
  out.verdict = kind;
  out.communicator = name.communicator;
  out.operation = name.number;
  return out;
}

/// What the dumps of living ranks say about processes that they lost.
struct loss {
  const rank_dump* witness = nullptr;
  const incident* first = nullptr;
  bool silent = false;
  std::vector<std::string> evidence;

  std::int64_t when() const { return witness->to_unix_ns(first->at); }
};

std::map<rank, loss> losses_of(const case_file& file) {
  std::map<rank, loss> out;
  for (const auto& [who, dump] : file.dumps())
    for (const auto& what : dump->incidents) {
      const bool silent = what.kind == incident_kind::peer_silent;
      if (!silent && what.kind != incident_kind::peer_lost) continue;
      if (what.peer == who || what.peer == no_rank) continue;
      auto& mine = out[what.peer];
      mine.silent = mine.silent || silent;
      mine.evidence.push_back(quoted(*dump, what));
      if (mine.first != nullptr && mine.when() <= dump->to_unix_ns(what.at)) continue;
      mine.witness = dump;
      mine.first = &what;
    }
  return out;
}

}  // namespace

std::optional<diagnosis> find_incomplete_join(const case_file& file) {
  std::vector<rank> joining;
  diagnosis out;
  for (const auto& [who, dump] : file.dumps()) {
    if (dump->phase != endpoint_phase::starting && dump->phase != endpoint_phase::joining &&
        dump->phase != endpoint_phase::failed)
      continue;
    joining.push_back(who);
    if (!dump->joining_detail.empty())
      out.evidence.push_back(name_of(who) + " says: " + dump->joining_detail);
    for (const auto& what : dump->incidents)
      if (what.kind == incident_kind::join_failed) out.evidence.push_back(quoted(*dump, what));
  }
  if (joining.empty()) return std::nullopt;
  out.verdict = verdict_kind::join_incomplete;
  out.culprits = missing_ranks(file);
  out.sentence = "The job of " + std::to_string(file.world_size()) +
                 " ranks does not come together: " + names_of(joining) +
                 (joining.size() == 1 ? " is" : " are") + " still joining";
  out.sentence +=
      out.culprits.empty() ? "." : ", and there is no dump of " + names_of(out.culprits) + ".";
  return out;
}

std::optional<diagnosis> find_mismatch(const case_file& file) {
  for (const auto& [name, one] : file.operations()) {
    const auto calls = calls_of(one);
    if (calls.size() < 2) continue;
    auto out = about(verdict_kind::mismatched_call, name);
    // Who differs from the most; of two alike neither is the odd one.
    const bool tie = calls[0].second.size() == calls[1].second.size();
    for (std::size_t i = tie ? 0 : 1; i < calls.size(); ++i)
      out.culprits.insert(out.culprits.end(), calls[i].second.begin(), calls[i].second.end());
    for (const auto& [signature, who] : calls)
      out.evidence.push_back(names_of(who) + " called " + to_string(signature));
    out.sentence = "Ranks called different things as operation " +
                   std::to_string(name.number.value) + " of communicator " +
                   std::to_string(name.communicator.value) + ": " + out.evidence[0] + ", " +
                   out.evidence[1] + ".";
    return out;
  }
  // The records may be gone; the ranks that compared remember.
  for (const auto& [who, dump] : file.dumps())
    for (const auto& known : dump->communicators) {
      if (known.failed != errc::mismatch) continue;
      auto out = about(verdict_kind::mismatched_call, {known.id, known.epoch, {}});
      out.culprits = {dump->to_world(known.id, known.failed_peer)};
      std::erase(out.culprits, no_rank);
      out.sentence = "Ranks called different things on communicator " +
                     std::to_string(known.id.value) + ": " + known.failure + ".";
      out.evidence.push_back(name_of(who) + " says: " + known.failure);
      return out;
    }
  return std::nullopt;
}

std::optional<diagnosis> find_lost_rank(const case_file& file) {
  const auto losses = losses_of(file);
  // The first loss is the cause; ranks that end because of it are lost to others later.
  const std::pair<const rank, loss>* first = nullptr;
  for (const auto& one : losses)
    if (first == nullptr || one.second.when() < first->second.when()) first = &one;
  if (first == nullptr) return std::nullopt;
  const auto& [who, lost] = *first;
  const auto* theirs = file.dump_of(who);
  const bool spoke_since =
      theirs != nullptr && theirs->taken_at_unix_ns > lost.when() &&
      (theirs->phase == endpoint_phase::joined || theirs->phase == endpoint_phase::leaving);
  diagnosis out;
  out.culprits = {who};
  out.evidence = lost.evidence;
  if (spoke_since) {
    out.verdict = verdict_kind::lane_dead;
    out.culprits.push_back(lost.witness->self);
    out.sentence = name_of(who) + " and " + name_of(lost.witness->self) +
                   " cannot reach each other any more, and both are alive.";
    return out;
  }
  out.verdict = lost.silent ? verdict_kind::rank_silent : verdict_kind::process_dead;
  out.sentence = name_of(who) +
                 (lost.silent ? " gives no sign of life: it is stopped, or its host "
                                "cannot be reached; "
                              : " ended; ") +
                 names_of(std::array{lost.witness->self}) + " saw it first: " + lost.first->text +
                 ".";
  out.sentence[0] = 'R';
  return out;
}

std::optional<diagnosis> find_idle_job(const case_file& file) {
  duration shortest = duration::max();
  std::size_t idle = 0;
  for (const auto& [who, dump] : file.dumps()) {
    if (dump->phase != endpoint_phase::joined) return std::nullopt;
    bool in_use = false;
    auto last = instant{};
    for (const auto& known : dump->communicators) {
      in_use = in_use || (!known.finalized && known.failed == errc::ok);
      last = std::max(last, known.last_progress);
    }
    const bool runs =
        std::any_of(dump->operations.begin(), dump->operations.end(),
                    [](const auto& record) { return record.phase != operation_phase::past; });
    if (!in_use || runs || last == instant{}) return std::nullopt;
    shortest = std::min(shortest, dump->taken_at - last);
    ++idle;
  }
  if (idle == 0 || shortest < file.options().outside_after) return std::nullopt;
  diagnosis out;
  out.verdict = verdict_kind::stuck_outside;
  out.sentence =
      "The job is stuck outside communication: no rank has an operation running, and "
      "none called one for " +
      in_seconds(shortest) + ".";
  out.evidence.push_back("dumps of " + std::to_string(idle) + " of " +
                         std::to_string(file.world_size()) + " ranks, all idle");
  return out;
}

std::vector<diagnosis_row> table_of(const case_file& file) {
  std::vector<diagnosis_row> out;
  for (const auto& [who, dump] : file.dumps()) {
    diagnosis_row row{who, std::string(to_string(dump->phase)), "", ""};
    const operation_record* last = nullptr;
    for (const auto& record : dump->operations) {
      const bool runs = record.phase != operation_phase::past;
      // The oldest that runs, or else the last that ended.
      if (last == nullptr || last->phase == operation_phase::past) last = &record;
      if (runs) break;
    }
    if (last != nullptr) {
      row.state = to_string(last->phase);
      if (last->failed != errc::ok) row.state = to_string(last->failed);
      row.operation = to_string(last->signature) + " #" + std::to_string(shown(last->number)) +
                      " of communicator " + std::to_string(last->communicator.value);
      std::vector<rank> peers(last->named_waits().begin(), last->named_waits().end());
      if (last->phase != operation_phase::past && !peers.empty()) row.waits_for = names_of(peers);
    }
    out.push_back(std::move(row));
  }
  for (const auto who : missing_ranks(file))
    out.push_back({who, "no dump", "", ""});
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.who < b.who; });
  return out;
}

}  // namespace troupe::actors
