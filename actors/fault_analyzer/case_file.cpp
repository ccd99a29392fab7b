#include "actors/fault_analyzer/case_file.hpp"

#include <algorithm>
#include <cstdio>

#include "actors/rank/rank_machine.hpp"

namespace troupe::actors {

namespace {

constexpr std::size_t named_rank_count = 4;

/// The world ranks of a communicator's members, as any of its members tells them.
std::vector<rank> members_of(const communicator_report& known) {
  if (!known.members.empty()) return known.members;
  std::vector<rank> out;
  for (std::uint32_t i = 0; i < known.size; ++i)
    out.push_back(rank{i});
  return out;
}

}  // namespace

duration part::age() const {
  const auto end = record->ended == instant{} ? dump->taken_at : record->ended;
  return end - record->queued;
}

case_file::case_file(std::span<const rank_dump> dumps, const diagnosis_options& options)
    : options_(options) {
  for (const auto& dump : dumps) {
    // Ranks that came into the running job have numbers beyond its size.
    world_size_ = std::max(world_size_, dump.world_size);
    auto& known = dumps_[dump.self];
    if (known == nullptr || known->taken_at_unix_ns < dump.taken_at_unix_ns) known = &dump;
  }
  for (const auto& [who, dump] : dumps_)
    add_operations(*dump);
  for (auto& [name, one] : operations_)
    find_absent(one);
}

void case_file::add_operations(const rank_dump& dump) {
  for (const auto& record : dump.operations) {
    const part mine{&dump, &record};
    if (!is_collective(record.number)) {
      if (is_stuck(mine)) stuck_pairs_.push_back(mine);
      continue;
    }
    const operation_name name{record.communicator, record.epoch, record.number};
    auto& shared = operations_[name];
    shared.name = name;
    shared.size = record.ranks;
    shared.joined[dump.self] = mine;
    if (is_stuck(mine)) shared.stuck.push_back(dump.self);
  }
}

void case_file::find_absent(shared_operation& one) {
  if (one.stuck.empty()) return;
  const auto* known = dumps_.at(one.stuck.front())->find(one.name.communicator);
  if (known == nullptr) return;
  for (const auto member : members_of(*known)) {
    if (one.joined.contains(member)) continue;
    const auto* dump = dump_of(member);
    if (dump == nullptr) {
      one.unknown.push_back(member);
      continue;
    }
    // One that called it and does not remember it is done with it.
    const auto* theirs = dump->find(one.name.communicator);
    if (theirs == nullptr || theirs->last_called < one.name.number.value)
      one.absent.push_back(member);
  }
}

const rank_dump* case_file::dump_of(rank who) const {
  const auto found = dumps_.find(who);
  return found == dumps_.end() ? nullptr : found->second;
}

bool case_file::is_stuck(const part& one) const {
  if (one.record->failed == errc::timed_out) return true;
  return one.record->phase != operation_phase::past && one.age() >= options_.stuck_after;
}

const shared_operation* case_file::stuck_in(rank who) const {
  const shared_operation* oldest = nullptr;
  instant since = never;
  for (const auto& [name, one] : operations_) {
    const auto mine = one.joined.find(who);
    if (mine == one.joined.end() || !is_stuck(mine->second)) continue;
    if (mine->second.record->queued >= since) continue;
    since = mine->second.record->queued;
    oldest = &one;
  }
  return oldest;
}

std::string name_of(rank who) {
  return "rank " + std::to_string(who.value);
}

std::string names_of(std::span<const rank> who) {
  std::string out;
  const auto named = std::min(who.size(), named_rank_count);
  const bool more = who.size() > named;
  for (std::size_t i = 0; i < named; ++i) {
    if (i != 0) out += i + 1 == named && !more ? " and " : ", ";
    out += name_of(who[i]);
  }
  if (more) out += " and " + std::to_string(who.size() - named) + " more";
  return out;
}

std::string in_seconds(duration d) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", static_cast<double>(d.count()) * 1e-9);
  return text;
}

std::string describe(const shared_operation& one) {
  return to_string(one.signature()) + ", operation " + std::to_string(one.name.number.value) +
         " of communicator " + std::to_string(one.name.communicator.value);
}

}  // namespace troupe::actors
