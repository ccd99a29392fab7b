#include "actors/scenario/simulated_world.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "actors/collector/metrics_exposer.hpp"
#include "actors/scenario/phase_watch.hpp"
#include "config/load.hpp"
#include "runtime/diagnosis.hpp"

namespace troupe::actors {

namespace {

using scenario::conduct_event;
using scenario::fault_kind;

/// Once in so many: the nearest to a share.
std::uint32_t one_in(double share) {
  return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(std::lround(1 / share)));
}

std::uint32_t more_often(std::uint32_t a, std::uint32_t b) {
  return a == 0 ? b : std::min(a, b);
}

/// Adds what a fault of frames does.
void add_frame_fault(net::fabric_faults& sum, const scenario::fault& what) {
  switch (what.kind) {
    case fault_kind::loss:
      sum.lose_frame_one_in = more_often(sum.lose_frame_one_in, one_in(what.share));
      sum.retransmission = what.by;
      break;
    case fault_kind::delay: sum.longer += what.by; break;
    case fault_kind::reorder: sum.jitter = std::max(sum.jitter, what.by); break;
    case fault_kind::duplicate:
      sum.duplicate_arrival_one_in = more_often(sum.duplicate_arrival_one_in, one_in(what.share));
      break;
    case fault_kind::corrupt:
      sum.corrupt_one_in = more_often(sum.corrupt_one_in, one_in(what.share));
      break;
    default: break;
  }
}

bool strikes_frames(fault_kind kind) {
  return kind == fault_kind::loss || kind == fault_kind::delay || kind == fault_kind::reorder ||
         kind == fault_kind::duplicate || kind == fault_kind::corrupt;
}

void place_ranks(net::fabric& wires, const scenario::topology& machines) {
  for (std::size_t i = 0; i < scenario::distance_count; ++i)
    wires.set_wires(static_cast<net::fabric_distance>(i),
                    {machines.wires[i].latency, machines.wires[i].bytes_per_second});
  for (std::uint32_t r = 0; r < machines.ranks; ++r)
    wires.set_place(r, {machines.host_of(r), machines.rack_of(r), machines.zone_of(r),
                        machines.data_center_of(r)});
  wires.set_planes(machines.nics_per_host);
}

std::optional<actor_kind> actor_named(std::string_view name) {
  for (std::size_t i = 0; i < actor_kind_count; ++i)
    if (name == to_string(static_cast<actor_kind>(i))) return static_cast<actor_kind>(i);
  return std::nullopt;
}

/// Looks like the request of a web browser that lost its way.
std::vector<std::byte> garbage_words() {
  constexpr std::string_view text = "GET / HTTP/1.1\r\nHost: troupe\r\n\r\n";
  std::vector<std::byte> out(text.size());
  std::memcpy(out.data(), text.data(), text.size());
  return out;
}

}  // namespace

simulated_world::simulated_world(const scenario::script& of, const stage_options& options)
    : of_(of), stage_(std::make_unique<simulated_stage>(options)) {
  place_ranks(stage_->wires(), of.machines);
  for (std::uint32_t r = 0; r < of.machines.ranks; ++r) {
    players_.emplace_back(of);
    stage_->begin_join(rank{r});
  }
  joining_ = of.machines.ranks;
}

simulated_world::~simulated_world() {
  for (const auto& each : taken_)
    each.from->deallocate(each.block, slab::block_bytes_max);
}

// -- what happens ---------------------------------------------------------------------------------

void simulated_world::wait(instant until, std::vector<conduct_event>& out) {
  out.swap(pending_);
  while (out.empty()) {
    stage_->run_moment([this] { return see_watched(); });
    take_watched(out);
    take_joins(out);
    take_ends(out);
    if (!out.empty() || !stage_->go_to_next_moment(until)) return;
  }
}

void simulated_world::take_joins(std::vector<conduct_event>& out) {
  if (joining_ == 0) return;
  for (std::uint32_t r = 0; r < players_.size(); ++r) {
    player& each = players_[r];
    if (each.joined || each.gone || !stage_->join_answered(rank{r})) continue;
    --joining_;
    if (const auto joined = stage_->finish_join(rank{r}); joined) {
      each.joined = true;
      out.push_back(scenario::rank_joined{r});
      out.push_back(scenario::step_reached{r, 1});
    } else {
      each.gone = true;
      out.push_back(scenario::join_failed{r, joined.error()});
    }
  }
}

void simulated_world::take_ends(std::vector<conduct_event>& out) {
  for (std::uint32_t r = 0; r < players_.size(); ++r) {
    player& each = players_[r];
    if (each.work && !each.gone && !each.stopped && each.work->test()) end_call(r, out);
  }
}

void simulated_world::end_call(std::uint32_t r, std::vector<conduct_event>& out) {
  player& each = players_[r];
  const auto work = std::exchange(each.work, nullptr);
  const auto why = work->error();
  each.gone = why.code() != errc::ok;
  out.push_back(scenario::call_ended{r, why, each.gone ? 0 : each.calls.wrong_elements(*work)});
  if (each.gone) return;
  each.contributors.clear();
  for (const auto one : work->contributors())
    each.contributors.push_back(one.value);
  if (++each.operation < of_.work.operations.size()) return call(r, out);
  if (each.step == 1) each.before = scenario::footprint{0, 0, stage_->memory(rank{r}).total()};
  out.push_back(scenario::step_reached{r, each.step + 1});
}

void simulated_world::call(std::uint32_t r, std::vector<conduct_event>& out) {
  player& each = players_[r];
  out.push_back(scenario::call_made{r});
  auto started = each.calls.call(stage_->world(rank{r}), each.step, each.operation);
  if (started) {
    each.work = std::move(*started);
    return;
  }
  each.gone = true;
  out.push_back(scenario::call_ended{r, started.error(), 0});
}

void simulated_world::begin(std::uint32_t r, std::uint32_t step) {
  player& each = players_[r];
  if (each.gone) return;
  if (each.stopped) {
    each.held_step = step;
    return;
  }
  each.step = step;
  each.operation = 0;
  call(r, pending_);
}

// -- what is watched ------------------------------------------------------------------------------

void simulated_world::watch(std::uint32_t number, const scenario::strike& what) {
  watched_.push_back({number, &what, false});
}

bool simulated_world::has_happened(const watched& each) {
  const rank whose{each.what->watched};
  const auto& when = each.what->when;
  if (when.what == scenario::trigger_kind::phase)
    return is_in_phase(stage_->context(whose), when.phase);
  return stage_->context(whose).counters.segments_sent.get() >= when.nth;
}

bool simulated_world::see_watched() {
  bool any = false;
  for (watched& each : watched_) {
    each.happened = each.happened || has_happened(each);
    any = any || each.happened;
  }
  return any;
}

void simulated_world::take_watched(std::vector<conduct_event>& out) {
  for (const watched& each : watched_)
    if (each.happened) out.push_back(scenario::watched_happened{each.number});
  std::erase_if(watched_, [](const watched& each) { return each.happened; });
}

// -- faults ---------------------------------------------------------------------------------------

const scenario::fault& simulated_world::fault_of(const scenario::strike& what) const {
  return of_.faults[what.fault];
}

void simulated_world::end_process(std::uint32_t r, net::crash_kind how) {
  if (!players_[r].joined && !players_[r].gone) --joining_;
  players_[r].gone = true;
  players_[r].work = nullptr;
  stage_->crash(rank{r}, how);
}

bool simulated_world::is_link(const scenario::strike& what) const {
  return fault_of(what).whom.what == scenario::selector::kind::link;
}

/// All faults of frames that last now and that strike as widely, for this rank if they strike
/// ranks.
net::fabric_faults simulated_world::frame_faults_like(const scenario::strike& what,
                                                      std::uint32_t r) const {
  net::fabric_faults sum;
  for (const auto* each : frame_strikes_) {
    const bool all = each->targets.size() == players_.size();
    const bool same_width =
        is_link(*each) == is_link(what) && all == (what.targets.size() == players_.size());
    const bool hit =
        std::find(each->targets.begin(), each->targets.end(), r) != each->targets.end();
    if (same_width && hit && (!is_link(what) || each->targets == what.targets))
      add_frame_fault(sum, fault_of(*each));
  }
  return sum;
}

void simulated_world::set_frames(const scenario::strike& what, bool on) {
  std::erase(frame_strikes_, &what);
  if (on) frame_strikes_.push_back(&what);
  auto& wires = stage_->wires();
  if (is_link(what)) {
    const auto faults = frame_faults_like(what, what.targets[0]);
    wires.set_faults(what.targets[0], what.targets[1], faults);
    wires.set_faults(what.targets[1], what.targets[0], faults);
  } else if (what.targets.size() == players_.size()) {
    wires.set_faults(frame_faults_like(what, 0));  // once a frame, not once for either end
  } else {
    for (const auto r : what.targets)
      wires.set_endpoint_faults(r, frame_faults_like(what, r));
  }
}

void simulated_world::set_partition(std::uint32_t number, const scenario::strike& what, bool on) {
  auto& wires = stage_->wires();
  if (!is_link(what)) {
    for (const auto r : what.targets)
      wires.set_group(r, on ? number + 1 : 0);
    return;
  }
  const auto a = what.targets[0], b = what.targets[1];
  for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)})
    on ? wires.block(from, to) : wires.unblock(from, to);
}

void simulated_world::take_control_memory(std::uint32_t number, std::uint32_t r) {
  slab& control = stage_->context(rank{r}).control;
  while (!control.is_full())
    taken_.push_back({number, &control, control.allocate(slab::block_bytes_max)});
}

void simulated_world::give_control_memory_back(std::uint32_t number) {
  std::erase_if(taken_, [number](const taken_block& each) {
    if (each.strike != number) return false;
    each.from->deallocate(each.block, slab::block_bytes_max);
    return true;
  });
}

outcome<void> simulated_world::strike(std::uint32_t number, const scenario::strike& what) {
  const auto& fault = fault_of(what);
  auto& wires = stage_->wires();
  if (strikes_frames(fault.kind)) {
    set_frames(what, true);
    return {};
  }
  switch (fault.kind) {
    case fault_kind::partition: set_partition(number, what, true); return {};
    case fault_kind::lane_down:
      if (fault.lanes == 0)
        wires.lose_lanes(what.targets[0], what.targets[1]);
      else
        wires.lose_newest_lanes(what.targets[0], what.targets[1], fault.lanes);
      return {};
    default: break;
  }
  for (const auto r : what.targets) {
    switch (fault.kind) {
      case fault_kind::kill: end_process(r, net::crash_kind::process); break;
      case fault_kind::power_off: end_process(r, net::crash_kind::host); break;
      case fault_kind::stop:
        players_[r].stopped = true;
        stage_->pause(rank{r});
        break;
      case fault_kind::nic_down: wires.lose_port(r, fault.nic); break;
      case fault_kind::lost_completion: wires.lose_completions(r, fault.next); break;
      case fault_kind::failed_allocation: take_control_memory(number, r); break;
      case fault_kind::refused_dials: wires.refuse_dials(r); break;
      case fault_kind::garbage: stage_->visit(rank{r}, garbage_words()); break;
      case fault_kind::throwing_actor:
        stage_->context(rank{r}).break_next(*actor_named(fault.actor));
        break;
      default: return fail(errc::not_available, "the simulated world does not know this fault");
    }
  }
  return {};
}

void simulated_world::lift(std::uint32_t number, const scenario::strike& what) {
  const auto& fault = fault_of(what);
  auto& wires = stage_->wires();
  if (strikes_frames(fault.kind)) return set_frames(what, false);
  if (fault.kind == fault_kind::partition) return set_partition(number, what, false);
  if (fault.kind == fault_kind::failed_allocation) return give_control_memory_back(number);
  for (const auto r : what.targets) {
    if (fault.kind == fault_kind::nic_down) wires.restore_port(r, fault.nic);
    if (fault.kind == fault_kind::refused_dials) wires.admit_dials(r);
    if (fault.kind != fault_kind::stop) continue;
    player& each = players_[r];
    stage_->resume(rank{r});
    each.stopped = false;
    if (const auto step = std::exchange(each.held_step, 0u); step != 0) begin(r, step);
  }
}

// -- the end --------------------------------------------------------------------------------------

void simulated_world::close(scenario::run_record& record) {
  record.trace_hash = stage_->trace_hash();
  std::map<std::string, double> sums;
  for (std::uint32_t r = 0; r < players_.size(); ++r) {
    auto& context = stage_->context(rank{r});
    for (const auto& [name, value] :
         metric_sums(stage_->counters(rank{r}), context.counters, context.ledger))
      sums[name] += value;
    record.ranks[r].before = players_[r].before;
    if (!record.ranks[r].killed)
      record.ranks[r].after = scenario::footprint{0, 0, stage_->memory(rank{r}).total()};
  }
  record.metrics.assign(sums.begin(), sums.end());
  std::vector<rank_dump> dumps;
  for (std::uint32_t r = 0; r < players_.size(); ++r) {
    if (!players_[r].joined || record.ranks[r].killed) continue;
    auto& mine = stage_->world(rank{r});
    const auto now_in = mine.members();
    record.ranks[r].epoch = now_in.epoch.value;
    record.ranks[r].members = now_in.names;
    record.ranks[r].contributors = players_[r].contributors;
    if (!players_[r].stopped) dumps.push_back(mine.dump());
  }
  const auto found = diagnose(dumps);
  record.verdict = to_string(found.verdict);
  for (const auto one : found.culprits)
    record.culprits.push_back(one.value);
}

}  // namespace troupe::actors

namespace troupe::scenario {

outcome<std::unique_ptr<world>> make_simulated_world(const script& of, std::uint64_t seed) {
  // Small rings: many ranks share one process. The script's settings go before.
  std::vector<std::pair<std::string, std::string>> settings{
      {"transport.eager_bytes", "1KiB"},        {"transport.eager_slot_count", "4"},
      {"transport.window_segment_count", "64"}, {"transport.transfer_count", "256"},
      {"transport.parked_bytes", "16KiB"},      {"worker.control_bytes", "4MiB"}};
  settings.insert(settings.end(), of.settings.begin(), of.settings.end());
  const auto loaded = config::load(
      {.config_file = {}, .settings = settings, .environment = config::environment_variables{}});
  if (!loaded) return fail(loaded.error());
  actors::stage_options options;
  options.rank_count = of.machines.ranks;
  options.seed = seed;
  options.options = loaded->values;
  return std::make_unique<actors::simulated_world>(of, options);
}

}  // namespace troupe::scenario
