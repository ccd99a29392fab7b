#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "actors/fault_analyzer/fault_analyzer_machine.hpp"

namespace troupe::actors {

namespace {

// How unlikely chance has to be: that of any n operations one rank waits least in as many as it
// did, if each were as likely to. One in a hundred thousand: a job is looked at now and then for
// weeks.
constexpr double chance_max = 1e-5;

struct waits {
  double total_ns = 0;
  std::size_t least_count = 0;  ///< operations in which it waited least
};

/// The chance of `hits` or more in `count` draws, each a hit with probability `p`.
double binomial_tail(std::size_t hits, std::size_t count, double p) {
  double sum = 0;
  for (std::size_t k = hits; k <= count; ++k) {
    const auto n = static_cast<double>(count), m = static_cast<double>(k);
    const double ways = std::lgamma(n + 1) - std::lgamma(m + 1) - std::lgamma(n - m + 1);
    sum += std::exp(ways + m * std::log(p) + (n - m) * std::log1p(-p));
  }
  return sum;
}

/// In the others some ranks wait by design: who sends and needs nothing is no slow rank.
bool is_symmetric(operation_kind kind) {
  switch (kind) {
    case operation_kind::all_reduce:
    case operation_kind::all_gather:
    case operation_kind::reduce_scatter:
    case operation_kind::all_to_all:
    case operation_kind::all_to_all_v:
    case operation_kind::barrier: return true;
    default: return false;
  }
}

bool is_complete(const shared_operation& one) {
  if (one.size < 2 || one.joined.size() != one.size) return false;
  if (!is_symmetric(one.signature().kind)) return false;
  return std::all_of(one.joined.begin(), one.joined.end(), [](const auto& mine) {
    return mine.second.record->phase == operation_phase::past &&
           mine.second.record->failed == errc::ok;
  });
}

/// What it could not get on for others: also a transfer that goes out waits for its receiver.
double wait_of(const part& mine) {
  const auto& record = *mine.record;
  return static_cast<double>((record.waited_for_peers + record.waited_for_sending).count());
}

/// The communicator's operations that all members remember.
std::vector<const shared_operation*> complete_ones(const case_file& file, communicator_id id) {
  std::vector<const shared_operation*> out;
  for (const auto& [name, one] : file.operations())
    if (name.communicator == id && is_complete(one)) out.push_back(&one);
  return out;
}

double mean_execution(const std::vector<const shared_operation*>& all) {
  double sum = 0, count = 0;
  for (const auto* one : all)
    for (const auto& [who, mine] : one->joined) {
      sum += static_cast<double>(mine.record->execution().count());
      ++count;
    }
  return sum / count;
}

std::optional<diagnosis> slow_in(const case_file& file,
                                 const std::vector<const shared_operation*>& all) {
  const auto& options = file.options();
  if (all.size() < options.slow_operation_count) return std::nullopt;
  std::map<rank, waits> by_rank;
  for (const auto* one : all) {
    const auto least = std::min_element(
        one->joined.begin(), one->joined.end(),
        [](const auto& a, const auto& b) { return wait_of(a.second) < wait_of(b.second); });
    ++by_rank[least->first].least_count;
    for (const auto& [who, mine] : one->joined)
      by_rank[who].total_ns += wait_of(mine);
  }
  const auto slow = std::max_element(
      by_rank.begin(), by_rank.end(),
      [](const auto& a, const auto& b) { return a.second.least_count < b.second.least_count; });
  std::vector<double> others;
  for (const auto& [who, mine] : by_rank)
    if (who != slow->first) others.push_back(mine.total_ns);
  std::sort(others.begin(), others.end());
  const double count = static_cast<double>(all.size());
  const double own = slow->second.total_ns / count;
  // Every other rank has to wait longer, not only the typical one: else it is a pair or a link.
  const double excess = others.front() / count - own;
  if (binomial_tail(slow->second.least_count, all.size(),
                    1.0 / static_cast<double>(by_rank.size())) > chance_max)
    return std::nullopt;
  if (excess < static_cast<double>(options.slow_wait.count())) return std::nullopt;
  if (excess < options.slow_share * mean_execution(all)) return std::nullopt;
  diagnosis out;
  out.verdict = verdict_kind::slow_rank;
  out.culprits = {slow->first};
  out.communicator = all.back()->name.communicator;
  out.operation = all.back()->name.number;
  char text[200];
  std::snprintf(text, sizeof text,
                "Rank %u is slow: in %zu of the last %zu operations of communicator %u it waited "
                "least, and every other rank waits %.3f ms an operation longer than it.",
                slow->first.value, slow->second.least_count, all.size(),
                all.back()->name.communicator.value, excess * 1e-6);
  out.sentence = text;
  for (const auto& [who, mine] : by_rank) {
    std::snprintf(text, sizeof text, "rank %u waited %.3f ms an operation, least of all in %zu",
                  who.value, mine.total_ns / count * 1e-6, mine.least_count);
    out.evidence.push_back(text);
  }
  return out;
}

}  // namespace

std::optional<diagnosis> find_slow_rank(const case_file& file) {
  std::map<communicator_id, bool> known;
  for (const auto& [name, one] : file.operations())
    known[name.communicator] = true;
  for (const auto& [id, seen] : known)
    if (auto found = slow_in(file, complete_ones(file, id))) return found;
  return std::nullopt;
}

}  // namespace troupe::actors
