#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "runtime/diagnosis.hpp"
#include "runtime/rank_dump.hpp"

namespace troupe::actors {

/// Names a collective in the whole job.
struct operation_name {
  communicator_id communicator;
  troupe::epoch epoch;
  operation_number number;

  friend constexpr auto operator<=>(const operation_name&, const operation_name&) = default;
};

/// One rank's part in an operation, with the dump that tells of it.
struct part {
  const rank_dump* dump = nullptr;
  const operation_record* record = nullptr;

  /// How long the operation has lasted, or lasted.
  duration age() const;
};

/// A collective as the dumps of its members show it.
struct shared_operation {
  operation_name name;
  std::map<rank, part> joined;  ///< by world rank
  std::vector<rank> absent;     ///< members with a dump that have not called it
  std::vector<rank> unknown;    ///< members without a dump
  std::vector<rank> stuck;      ///< of those that joined, who should be done and is not
  std::uint32_t size = 0;

  const operation_signature& signature() const { return joined.begin()->second.record->signature; }
};

/// The dumps of one job, merged: who speaks, which operations there are, who is in them.
class case_file {
 public:
  case_file(std::span<const rank_dump> dumps, const diagnosis_options& options);

  const diagnosis_options& options() const { return options_; }
  std::uint32_t world_size() const { return world_size_; }
  const std::map<rank, const rank_dump*>& dumps() const { return dumps_; }
  const rank_dump* dump_of(rank who) const;

  /// Collectives that some dump has a record of, in order.
  const std::map<operation_name, shared_operation>& operations() const { return operations_; }

  /// Operations of two ranks, and on windows, that should be done and are not.
  const std::vector<part>& stuck_pairs() const { return stuck_pairs_; }

  /// The collective that keeps `who`: the oldest it is stuck in; null if none does.
  const shared_operation* stuck_in(rank who) const;

  bool is_stuck(const part& one) const;

 private:
  void add_operations(const rank_dump& dump);
  void find_absent(shared_operation& one);

  diagnosis_options options_;
  std::uint32_t world_size_ = 0;
  std::map<rank, const rank_dump*> dumps_;
  std::map<operation_name, shared_operation> operations_;
  std::vector<part> stuck_pairs_;
};

// Words of verdicts.

std::string name_of(rank who);
/// "rank 1, rank 2 and 5 more".
std::string names_of(std::span<const rank> who);
std::string in_seconds(duration d);
/// "all_reduce(count 4, float32, sum), operation 3 of communicator 1".
std::string describe(const shared_operation& one);

}  // namespace troupe::actors
