#include "tests/sim/actors/epoch_schedule.hpp"

#include <algorithm>

namespace troupe::sim {

namespace {

// Chosen: most schedules are small, where every fault meets every phase; some are as large as a
// job of replica groups gets.
std::uint32_t draw_rank_count(random_stream& random) {
  if (random.one_in(200)) return static_cast<std::uint32_t>(random.between(17, 64));
  if (random.one_in(6)) return static_cast<std::uint32_t>(random.between(7, 16));
  return static_cast<std::uint32_t>(random.between(2, 6));
}

world_options draw_world(random_stream& random, planted_bug bug) {
  world_options out;
  out.rank_count = draw_rank_count(random);
  out.joiner_count = out.rank_count < 60 && random.one_in(3)
                         ? static_cast<std::uint32_t>(random.between(1, 2))
                         : 0;
  out.operation_count = static_cast<std::uint32_t>(random.between(2, 5));
  out.outstanding_count = static_cast<std::uint32_t>(random.between(1, 3));
  out.in_place = random.one_in(2);
  out.average = !random.one_in(3);
  out.stops_at_once = random.one_in(2);
  out.chunk_elements = random.between(1, 3);
  out.chunk_count = static_cast<std::uint32_t>(random.between(1, 4));
  out.bug = bug;
  return out;
}

class schedule {
 public:
  schedule(std::uint64_t seed, planted_bug bug)
      : random_(seed), options_(draw_world(random_, bug)), world_(options_) {
    // Enough for every member to be hit more than once, too few to leave nobody.
    faults_left_ = random_.between(1, 2 + options_.rank_count / 4);
    crashes_left_ = random_.between(0, options_.rank_count - 1);
    // A run has about 20 steps a rank and operation.
    fault_interval_ = random_.between(2, 2ull * options_.rank_count * options_.operation_count);
    proofs_come_ = random_.one_in(2);
    step_count_max_ = 4000ull * (world_.rank_count() + 2) * options_.operation_count;
  }

  schedule_outcome run() {
    for (std::uint64_t steps = 0; world_.violation().empty(); ++steps) {
      if (steps > step_count_max_) {
        outcome_.violation = "more steps than any run may take";
        break;
      }
      if (!advance()) {
        world_.check_end();
        break;
      }
    }
    if (outcome_.violation.empty()) outcome_.violation = world_.violation();
    count();
    return outcome_;
  }

 private:
  /// False if nothing is left to happen.
  bool advance() {
    if (faults_left_ > 0 && random_.one_in(fault_interval_)) {
      interfere();
      return true;
    }
    if (proofs_come_ && random_.one_in(8) && prove()) return true;
    if (random_.one_in(40)) recover();
    next_.clear();
    if (random_.one_in(60)) world_.early_timers(next_);
    if (next_.empty()) world_.enabled(next_);
    if (next_.empty()) {
      if (proofs_come_ && prove()) return true;
      world_.overdue(next_);
      // What is broken either comes back before the long deadlines, or does not.
      const bool gives_up =
          !next_.empty() && next_.front().kind == action_kind::fire && next_.front().other == 2;
      if ((next_.empty() || (gives_up && random_.one_in(3))) && recover()) return true;
    }
    if (next_.empty()) return false;
    world_.apply(next_[random_.below(next_.size())]);
    return true;
  }

  std::uint32_t any_rank() {
    return static_cast<std::uint32_t>(random_.below(world_.rank_count()));
  }

  /// A rank with an operation under way, if one is found soon.
  std::uint32_t busy_rank() {
    auto rank = any_rank();
    for (int tries = 0; tries < 3 && world_.phase_of(rank) == fault_phase::idle; ++tries)
      rank = any_rank();
    return rank;
  }

  void interfere() {
    constexpr std::array kinds{action_kind::crash, action_kind::crash,   action_kind::pause,
                               action_kind::part,  action_kind::suspect, action_kind::lose,
                               action_kind::fail,  action_kind::fire,    action_kind::fire_stale,
                               action_kind::forge};
    action what{kinds[random_.below(kinds.size())], busy_rank(), any_rank()};
    if (what.kind == action_kind::part) {
      what.rank = what.other = 0;
      what.mask = random_.one_in(2) ? 1ull << any_rank()
                                    : random_.next() & ((2ull << (world_.rank_count() - 1)) - 1);
      if (what.mask == 0) return;
    }
    if (what.kind == action_kind::forge) what.mask = 1 + random_.below(900);
    if (what.kind == action_kind::fire || what.kind == action_kind::fire_stale)
      what.other = static_cast<std::uint32_t>(random_.below(2));
    if (what.kind == action_kind::crash && crashes_left_ == 0) return;
    if (!world_.may(what)) return;
    if (what.kind == action_kind::crash) --crashes_left_;
    --faults_left_;
    record(what);
    world_.apply(what);
  }

  void record(const action& what) {
    fault_phase phase = world_.phase_of(what.rank);
    if (what.kind == action_kind::part)
      for (std::uint32_t i = 0; i < world_.rank_count(); ++i)
        phase = std::max(phase, world_.phase_of(i));
    if (what.kind == action_kind::lose) phase = world_.phase_of(what.other);
    ++outcome_.tally.fired[static_cast<std::size_t>(what.kind)][static_cast<std::size_t>(phase)];
    during_an_operation_ = during_an_operation_ || phase != fault_phase::idle;
  }

  bool prove() {
    const auto rank = any_rank();
    const auto other = any_rank();
    const action what{action_kind::prove, rank, other};
    if (!world_.may(what)) return false;
    world_.apply(what);
    return true;
  }

  bool recover() {
    if (world_.is_parted()) {
      world_.apply({action_kind::heal});
      return true;
    }
    for (std::uint32_t i = 0; i < world_.rank_count(); ++i) {
      if (!world_.may({action_kind::resume, i})) continue;
      world_.apply({action_kind::resume, i});
      return true;
    }
    return false;
  }

  void count() {
    auto& tally = outcome_.tally;
    outcome_.trace = world_.trace();
    tally.schedules = 1;
    tally.hit_an_operation = during_an_operation_ ? 1 : 0;
    for (std::uint32_t i = 0; i < world_.rank_count(); ++i) {
      tally.epochs =
          std::max<std::uint64_t>(tally.epochs, world_.state_of(i).membership.current.number.value);
      for (const auto& one : world_.outcomes(i)) {
        const bool out = one.code == errc::evicted || one.code == errc::no_quorum;
        ++(one.code == errc::ok ? tally.ok : out ? tally.out : tally.failed);
      }
    }
  }

  random_stream random_;
  world_options options_;
  epoch_world world_;
  std::uint64_t faults_left_ = 0, crashes_left_ = 0, fault_interval_ = 0, step_count_max_ = 0;
  bool proofs_come_ = false;
  bool during_an_operation_ = false;
  std::vector<action> next_;
  schedule_outcome outcome_;
};

}  // namespace

void fault_tally::add(const fault_tally& other) {
  for (std::size_t kind = 0; kind < fired.size(); ++kind)
    for (std::size_t phase = 0; phase < fired[kind].size(); ++phase)
      fired[kind][phase] += other.fired[kind][phase];
  schedules += other.schedules;
  hit_an_operation += other.hit_an_operation;
  ok += other.ok;
  failed += other.failed;
  out += other.out;
  epochs += other.epochs;
}

schedule_outcome run_schedule(std::uint64_t seed, planted_bug bug) {
  return schedule(seed, bug).run();
}

}  // namespace troupe::sim
