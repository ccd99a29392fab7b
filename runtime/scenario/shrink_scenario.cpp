#include "runtime/scenario/shrink_scenario.hpp"

#include <cstddef>
#include <utility>

#include "runtime/scenario/check_scenario.hpp"

namespace troupe::scenario {
namespace {

class shrinker {
 public:
  shrinker(const script& of, const still_fails& fails) : best_(of), fails_(fails) {}

  shrunk_script run() {
    while (one_round()) {
    }
    return {std::move(best_), played_};
  }

 private:
  /// True if anything became smaller.
  bool one_round() {
    bool smaller = drop_each([](script & s) -> auto& { return s.faults; });
    smaller |= drop_each([](script & s) -> auto& { return s.expectations; });
    if (best_.work.operations.size() > 1)
      smaller |= drop_each([](script & s) -> auto& { return s.work.operations; });
    smaller |= drop_each([](script & s) -> auto& { return s.settings; });
    smaller |= lower([](script & s) -> auto& { return s.work.steps; });
    smaller |= lower([](script & s) -> auto& { return s.machines.ranks; });
    smaller |= lower_each_fault();
    for (std::size_t i = 0; i < best_.work.operations.size(); ++i)
      smaller |= lower([i](script & s) -> auto& { return s.work.operations[i].count; });
    return smaller | without_compute();
  }

  bool try_variant(script variant) {
    if (variant.work.operations.empty() || !check_scenario(variant)) return false;
    ++played_;
    if (!fails_(variant)) return false;
    best_ = std::move(variant);
    return true;
  }

  template <class Part>
  bool drop_each(Part part) {
    bool smaller = false;
    for (std::size_t i = part(best_).size(); i-- > 0;) {
      script variant = best_;
      part(variant).erase(part(variant).begin() + static_cast<std::ptrdiff_t>(i));
      smaller |= try_variant(std::move(variant));
    }
    return smaller;
  }

  /// Halves a number while that fails, then takes one at a time.
  template <class Number>
  bool lower(Number number) {
    bool smaller = false;
    for (bool halves = true; number(best_) > 1;) {
      script variant = best_;
      number(variant) = halves ? number(variant) / 2 : number(variant) - 1;
      const bool failed = try_variant(std::move(variant));
      smaller |= failed;
      if (!failed && !halves) break;
      halves = halves && failed;
    }
    return smaller;
  }

  bool lower_each_fault() {
    bool smaller = false;
    for (std::size_t i = 0; i < best_.faults.size(); ++i) {
      smaller |= lower([i](script & s) -> auto& { return s.faults[i].repeat; });
      smaller |= lower([i](script & s) -> auto& { return s.faults[i].next; });
    }
    return smaller;
  }

  bool without_compute() {
    if (best_.work.compute == duration::zero()) return false;
    script variant = best_;
    variant.work.compute = duration::zero();
    return try_variant(std::move(variant));
  }

  script best_;
  const still_fails& fails_;
  std::uint32_t played_ = 0;
};

}  // namespace

shrunk_script shrink_scenario(const script& of, const still_fails& fails) {
  return shrinker(of, fails).run();
}

}  // namespace troupe::scenario
