#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/communicator.hpp"
#include "runtime/scenario/scenario.hpp"

namespace troupe::scenario {

/// Makes the calls of one rank's workload, one at a time, with inputs that differ from rank to rank
/// and step to step and are small whole numbers, so that every result is known to the bit.
class workload_caller {
 public:
  workload_caller(const workload& work, std::uint32_t rank_count)
      : work_(work), rank_count_(rank_count) {}

  /// Starts operation `index` of a step. The call before is done. Errors: those of the call.
  outcome<work_handle> call(communicator& world, std::uint32_t step, std::size_t index);

  /// Elements of the last call's result that are not what they have to be. `done` ended ok.
  std::uint64_t wrong_elements(const work& done) const;

 private:
  template <class Element>
  void fill(std::uint32_t self);
  template <class Element>
  std::uint64_t count_wrong(const std::vector<rank>& contributors) const;
  std::int64_t expected(std::uint64_t i, const std::vector<rank>& contributors) const;
  std::int64_t input(std::uint32_t r, std::uint64_t i) const;
  outcome<work_handle> start(communicator& world) const;

  const workload& work_;
  std::uint32_t rank_count_;
  const workload_operation* operation_ = nullptr;
  std::uint32_t step_ = 0;
  std::uint32_t self_ = 0;
  std::vector<std::byte> send_;
  mutable std::vector<std::byte> receive_;
};

}  // namespace troupe::scenario
