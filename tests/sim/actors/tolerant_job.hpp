#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/simulation/simulated_stage.hpp"

namespace troupe::sim {

/// A simulated job whose world is fault-tolerant, and a trainer on every rank that calls all_reduce
/// again and again. Whole numbers are summed, so that any order of summing gives the same bits.
class tolerant_job {
 public:
  struct call {
    std::uint64_t number = 0;  ///< of the operation, as all members count
    std::uint32_t name = 0;
    work_handle work;
    std::vector<float> send;  ///< empty: in place
    std::vector<float> buffer;
  };

  tolerant_job(std::uint32_t ranks, std::uint64_t seed, std::size_t count, bool in_place = false);

  static actors::stage_options options(std::uint32_t ranks, std::uint64_t seed);

  /// Every rank that lives starts its next all_reduce.
  void call_all();
  void call_one(std::uint32_t r);

  /// True if every call of every rank that lives and was not let go ended within `limit`.
  bool finish(duration limit = std::chrono::seconds(60));

  void crash(std::uint32_t r, bool is_proven);
  outcome<void> add_newcomer(const std::string& invited, duration limit = std::chrono::seconds(20));
  /// Lets go of the works and buffers of calls that ended, of those that live.
  void forget_ended_calls();
  bool is_alive(std::uint32_t r) const { return alive_[r]; }

  /// Empty, or what the calls that ended have against the promise.
  std::string broken_promise() const;

  const std::vector<call>& calls(std::uint32_t r) const { return calls_[r]; }
  static float input(std::uint32_t name, std::uint64_t number, std::size_t element);

 private:
  std::string wrong_with(const call& one) const;

  std::size_t count_;
  bool in_place_;
  const call* find(std::uint32_t r, std::uint64_t number) const;

  std::vector<bool> alive_;
  std::vector<std::vector<call>> calls_;
  std::vector<std::uint64_t> first_number_;

 public:
  // Goes first: what crashed ranks left running has its buffers in `calls_`.
  actors::simulated_stage stage;
};

}  // namespace troupe::sim
