#include "runtime/scenario/world.hpp"

#include <variant>

namespace troupe::scenario {
namespace {

/// Feeds the machine and does what it asks, until it asks for nothing more.
class conductor {
 public:
  conductor(conduct_state& state, world& where) : state_(state), world_(where) {}

  void feed(const conduct_event& event) {
    std::vector<conduct_effect> effects;
    step(state_, event, world_.now(), effects);
    for (const conduct_effect& each : effects)
      std::visit([this](const auto& effect) { apply(effect); }, each);
  }

 private:
  void apply(const begin_step& effect) { world_.begin(effect.rank, effect.step); }
  void apply(const do_strike& effect) {
    const auto done = world_.strike(effect.strike, state_.plan.strikes[effect.strike]);
    if (!done) feed(strike_refused{effect.strike, done.error().message});
  }
  void apply(const lift_strike& effect) {
    world_.lift(effect.strike, state_.plan.strikes[effect.strike]);
  }
  void apply(const watch_for& effect) {
    world_.watch(effect.strike, state_.plan.strikes[effect.strike]);
  }
  void apply(const end_run&) {}

  conduct_state& state_;
  world& world_;
};

}  // namespace

run_record conduct(conduct_state& state, world& where) {
  conductor conducted(state, where);
  conducted.feed(run_started{});
  std::vector<conduct_event> happened;
  while (!state.over) {
    happened.clear();
    where.wait(next_deadline(state), happened);
    for (const conduct_event& each : happened)
      conducted.feed(each);
    conducted.feed(time_passed{});
  }
  where.close(state.record);
  return state.record;
}

}  // namespace troupe::scenario
