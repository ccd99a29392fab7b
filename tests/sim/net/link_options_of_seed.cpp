#include "tests/sim/net/link_options_of_seed.hpp"

#include <algorithm>

namespace troupe::sim {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

std::uint32_t small(random_stream& r, std::uint32_t low, std::uint32_t high) {
  return static_cast<std::uint32_t>(r.between(low, high));
}

net::link_options draw_link(random_stream r) {
  net::link_options o;
  o.data_lane_count = small(r, 1, 3);
  o.segment_bytes = 1ull << r.between(0, 10);
  o.eager_bytes_max = r.one_in(4) ? r.below(3) : r.below(400);
  o.eager_slot_count = r.one_in(2) ? small(r, 2, 6) : small(r, 2, 64);
  o.window_segment_count = 1u << r.between(1, 7);
  o.parked_bytes_max = r.one_in(3) ? 0 : r.below(2000);
  o.transfer_count_max = r.one_in(4) ? small(r, 4, 24) : 256;
  o.budget_lease_bytes = r.between(1, 8192);
  o.notice_count_max = small(r, 1, 8);
  o.lane_depth = r.one_in(2) ? 10 : small(r, 10, 70);
  o.first_sequence = r.one_in(2) ? net::sequence{net::sequence_mask - small(r, 0, 60)}
                                 : net::sequence{small(r, 0, net::sequence_mask)};
  o.write_timeout = milliseconds(r.between(30, 60));
  o.ack_delay = r.one_in(5) ? microseconds(0) : microseconds(r.between(10, 2000));
  o.announce_delay = microseconds(r.between(100, 5000));
  o.budget_hold = r.one_in(4) ? microseconds(0) : microseconds(r.between(10, 2000));
  o.heartbeat_interval = r.one_in(3) ? milliseconds(0) : milliseconds(r.between(5, 20));
  o.silence_timeout = r.one_in(3) ? milliseconds(0) : milliseconds(r.between(150, 400));
  if (r.one_in(3)) o.lane_write_count_max = small(r, 1, 4);
  if (r.one_in(3)) o.lane_bytes_max = r.between(1, 4096);
  if (r.one_in(2))
    o.window = {.adapts = true,
                .start_bytes = r.between(64, 4096),
                .floor_bytes = 64,
                .ceiling_bytes = 1 << 20,
                .base_lifetime = milliseconds(r.between(1, 50))};
  return o;
}

trouble draw_trouble(random_stream r) {
  trouble t;
  t.delay_min = microseconds(r.between(1, 20));
  t.delay_max = t.delay_min + microseconds(r.between(1, 200));
  t.slow_one_in = r.one_in(2) ? 0 : small(r, 10, 100);
  if (r.one_in(4)) return t;  // a quiet one
  t.fault_count = small(r, 0, 6);
  t.breaks = r.one_in(2);
  t.black_holes = r.one_in(4);
  t.lost_completions = r.one_in(4);
  t.lost_writes = r.one_in(4);
  t.one_sided_openings = r.one_in(4);
  t.early_reopenings = r.one_in(3);
  t.duplicate_one_in = r.one_in(2) ? 0 : small(r, 5, 100);
  t.late_timer_one_in = r.one_in(4) ? small(r, 5, 60) : 0;
  t.crash = r.one_in(12);
  t.silent_crash = t.crash && r.one_in(2);
  return t;
}

workload draw_work(random_stream r) {
  workload w;
  w.transfer_count = small(r, 1, 60);
  w.operation_count = small(r, 1, 10);
  w.bytes_max = r.one_in(3) ? r.below(200) : r.below(6000);
  w.spread = microseconds(r.between(1, 8000));
  w.mismatches = r.one_in(5);
  w.cancels = r.one_in(4);
  w.epochs = r.one_in(6);
  w.puts_alone = r.one_in(6);
  w.early_puts = r.one_in(3);
  w.notice_count = r.one_in(2) ? 0 : small(r, 1, 30);
  w.budget_bytes = r.one_in(3) ? r.between(1 + w.bytes_max / 16, 4096) : 1 << 20;
  return w;
}

// A wide window with one lane that swallows: the fence then takes several pages.
void make_wide(seed_plan& plan) {
  plan.link.data_lane_count = 2;
  plan.link.segment_bytes = 1;
  plan.link.window_segment_count = 4096;
  plan.link.lane_depth = 2500;
  plan.faults.slow_one_in = 0;
  plan.faults.fault_count = 2;
  plan.faults.black_holes = true;
  plan.faults.crash = plan.faults.silent_crash = false;
  plan.work.transfer_count = 4;
  plan.work.bytes_max = 6000;
  plan.work.budget_bytes = 1 << 20;
}

// More transfers at once than there are channels.
void make_crowded(seed_plan& plan) {
  plan.link.segment_bytes = 4;
  plan.link.eager_bytes_max = 0;
  plan.link.transfer_count_max = 256;
  plan.link.lane_depth = 64;
  plan.work.transfer_count = 200;
  plan.work.bytes_max = 60;
  plan.work.spread = microseconds(1);
}

// Small transfers that find neither slots nor accepts, in operations that end early.
void make_starved(seed_plan& plan, random_stream r) {
  plan.link.eager_bytes_max = 400;
  plan.link.eager_slot_count = small(r, 2, 4);
  plan.link.parked_bytes_max = r.one_in(2) ? 0 : 900;
  plan.link.announce_delay = microseconds(100);
  plan.work.bytes_max = 400;
  plan.work.transfer_count = small(r, 20, 60);
  plan.work.early_puts = true;
  plan.work.cancels = true;
  plan.work.operation_count = small(r, 1, 3);
  plan.faults.fault_count = small(r, 0, 8);
  plan.faults.breaks = true;
}

}  // namespace

seed_plan plan_of(std::uint64_t seed) {
  random_stream r(seed);
  seed_plan plan{draw_link(r.fork(1)), draw_trouble(r.fork(2)), draw_work(r.fork(3))};
  // Enough segments to reorder, few enough to play many seeds.
  plan.link.segment_bytes = std::max(plan.link.segment_bytes, plan.work.bytes_max / 24);
  auto kind = r.fork(4);
  if (kind.one_in(250)) {
    make_wide(plan);
  } else if (kind.one_in(100)) {
    make_crowded(plan);
  } else if (kind.one_in(15)) {
    make_starved(plan, r.fork(5));
  }
  // Silence can only be told where heartbeats are on, and a crash that says nothing only so.
  if (plan.faults.silent_crash) {
    plan.link.heartbeat_interval = milliseconds(10);
    plan.link.silence_timeout = milliseconds(200);
  }
  return plan;
}

}  // namespace troupe::sim
