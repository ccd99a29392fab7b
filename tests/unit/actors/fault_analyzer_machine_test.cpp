#define BOOST_TEST_MODULE fault_analyzer_machine
#include "actors/fault_analyzer/fault_analyzer_machine.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>

#include "runtime/random.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

constexpr instant dumped{100s};

/// The dumps of a job, as its ranks would give them: healthy until something is done to it.
class job {
 public:
  explicit job(std::uint32_t size) {
    for (std::uint32_t i = 0; i < size; ++i) {
      rank_dump d;
      d.self = rank{i};
      d.world_size = size;
      d.phase = endpoint_phase::joined;
      d.taken_at = dumped;
      d.taken_at_unix_ns = 1'000'000'000'000 + i;
      d.worker.last_round = dumped;
      dumps.push_back(d);
      add_communicator(i, communicator_id{1}, {});
    }
  }

  void add_communicator(std::uint32_t who, communicator_id id, std::vector<rank> members) {
    communicator_report c;
    c.id = id;
    c.size = members.empty() ? dumps[who].world_size : static_cast<std::uint32_t>(members.size());
    c.members = std::move(members);
    dumps[who].communicators.push_back(c);
  }

  /// Rank `who` called operation `number` `ago` before its dump and waits for these ranks.
  operation_record& call(std::uint32_t who, std::uint64_t number, duration ago,
                         std::vector<rank> waits = {}, communicator_id id = communicator_id{1}) {
    auto& d = dumps[who];
    operation_record r;
    r.serial = d.operations.size() + 1;
    r.number = {number};
    r.communicator = id;
    r.ranks = d.find(id)->size;
    r.signature = {operation_kind::all_reduce, data_type::float32, reduction::sum, 0, 4};
    r.phase = operation_phase::current;
    r.queued = r.started = dumped - ago;
    r.waits_for_count = static_cast<std::uint32_t>(waits.size());
    std::copy(waits.begin(), waits.end(), r.waits_for.begin());
    auto& c = *std::find_if(d.communicators.begin(), d.communicators.end(),
                            [&](const auto& one) { return one.id == id; });
    c.last_called = std::max(c.last_called, number);
    c.last_call = c.last_progress = r.queued;
    d.operations.push_back(r);
    return d.operations.back();
  }

  /// And it ended `took` later.
  void done(std::uint32_t who, std::uint64_t number, duration ago, duration took,
            duration waited = {}) {
    auto& r = call(who, number, ago);
    r.phase = operation_phase::past;
    r.ended = r.queued + took;
    r.waited_for_peers = waited;
  }

  void lost(std::uint32_t witness, std::uint32_t who, duration ago,
            incident_kind kind = incident_kind::peer_lost) {
    dumps[witness].incidents.push_back(
        {kind, dumped - ago, rank{who}, errc::peer_lost, "rank " + std::to_string(who) + " ended"});
  }

  void drop(std::uint32_t who) {
    std::erase_if(dumps, [&](const auto& d) { return d.self == rank{who}; });
  }

  diagnosis judge() const { return diagnose(dumps); }

  std::vector<rank_dump> dumps;
};

void check(const diagnosis& found, verdict_kind verdict, std::vector<rank> culprits) {
  BOOST_TEST((found.verdict == verdict), to_string(found.verdict) << ": " << found.sentence);
  BOOST_TEST((found.culprits == culprits), found.sentence);
  BOOST_TEST(!found.sentence.empty());
}

BOOST_AUTO_TEST_CASE(a_job_that_gets_on_gives_no_verdict) {
  job j(4);
  for (std::uint32_t r = 0; r < 4; ++r) {
    for (std::uint64_t n = 1; n <= 20; ++n)
      j.done(r, n, 1s, 2ms, 1ms);
    j.call(r, 21, 10ms, {rank{(r + 1) % 4}});
  }
  check(j.judge(), verdict_kind::all_good, {});
  BOOST_TEST(j.judge().table.size() == 4u);
}

BOOST_AUTO_TEST_CASE(no_dump_at_all_gives_no_verdict) {
  check(diagnose({}), verdict_kind::all_good, {});
}

BOOST_AUTO_TEST_CASE(who_did_not_call_what_others_wait_in_never_joined) {
  job j(4);
  for (std::uint32_t r = 0; r < 4; ++r)
    j.done(r, 1, 20s, 2ms);
  for (const auto r : {0u, 1u, 3u})
    j.call(r, 2, 10s, {rank{2}});
  const auto found = j.judge();
  check(found, verdict_kind::never_joined, {rank{2}});
  BOOST_TEST((found.operation == operation_number{2}));
  BOOST_TEST(found.sentence.find("Rank 2 never joined all_reduce(count 4") == 0u, found.sentence);
}

BOOST_AUTO_TEST_CASE(several_that_never_joined_are_all_named) {
  job j(8);
  for (const auto r : {0u, 1u, 3u, 4u, 5u})
    j.call(r, 1, 10s, {rank{2}});
  check(j.judge(), verdict_kind::never_joined, {rank{2}, rank{6}, rank{7}});
}

BOOST_AUTO_TEST_CASE(an_operation_that_has_just_begun_accuses_nobody) {
  job j(2);
  j.call(0, 1, 100ms, {rank{1}});
  check(j.judge(), verdict_kind::all_good, {});
}

BOOST_AUTO_TEST_CASE(an_operation_that_timed_out_is_judged_after_its_end) {
  job j(3);
  for (const auto r : {0u, 1u}) {
    auto& record = j.call(r, 1, 10s, {rank{2}});
    record.phase = operation_phase::past;
    record.ended = record.queued + 1s;
    record.failed = errc::timed_out;
  }
  check(j.judge(), verdict_kind::never_joined, {rank{2}});
}

BOOST_AUTO_TEST_CASE(where_all_joined_the_one_that_waits_for_nobody_is_stuck) {
  job j(3);
  j.call(0, 1, 10s, {rank{2}});
  j.call(1, 1, 10s, {rank{0}});
  j.call(2, 1, 10s);
  check(j.judge(), verdict_kind::stuck_in_operation, {rank{2}});
}

BOOST_AUTO_TEST_CASE(where_all_joined_a_worker_that_does_not_get_round_is_stuck) {
  job j(3);
  for (std::uint32_t r = 0; r < 3; ++r)
    j.call(r, 1, 10s, {rank{(r + 1) % 3}});
  j.dumps[1].worker.last_round = dumped - 9s;
  check(j.judge(), verdict_kind::stuck_in_operation, {rank{1}});
}

BOOST_AUTO_TEST_CASE(a_link_without_lanes_is_dead) {
  job j(3);
  for (std::uint32_t r = 0; r < 3; ++r)
    j.call(r, 1, 10s, {rank{(r + 1) % 3}});
  j.dumps[1].links.push_back(
      {.peer = rank{2}, .lanes_open = 0, .lanes_wanted = 3, .lanes_lost = 3});
  check(j.judge(), verdict_kind::lane_dead, {rank{1}, rank{2}});
}

BOOST_AUTO_TEST_CASE(the_first_process_that_ended_is_the_cause_of_the_others) {
  job j(4);
  j.lost(0, 1, 3s);  // ended because of what happened to rank 3
  j.lost(0, 3, 5s);
  j.lost(2, 3, 4900ms);
  j.drop(1);
  j.drop(3);
  check(j.judge(), verdict_kind::process_dead, {rank{3}});
}

BOOST_AUTO_TEST_CASE(a_lost_process_that_still_speaks_is_a_dead_lane) {
  job j(3);
  j.lost(0, 2, 5s);
  check(j.judge(), verdict_kind::lane_dead, {rank{0}, rank{2}});
}

BOOST_AUTO_TEST_CASE(silence_is_no_proof_of_death) {
  job j(3);
  j.lost(0, 2, 5s, incident_kind::peer_silent);
  j.lost(0, 2, 5s);
  j.drop(2);
  check(j.judge(), verdict_kind::rank_silent, {rank{2}});
}

BOOST_AUTO_TEST_CASE(who_gives_no_dump_and_is_waited_for_is_silent) {
  job j(3);
  for (const auto r : {0u, 1u})
    j.call(r, 1, 10s, {rank{2}});
  j.drop(2);
  check(j.judge(), verdict_kind::rank_silent, {rank{2}});
}

BOOST_AUTO_TEST_CASE(a_missing_dump_alone_accuses_nobody) {
  job j(3);
  for (std::uint32_t r = 0; r < 3; ++r)
    j.done(r, 1, 1s, 1ms);
  j.drop(2);
  check(j.judge(), verdict_kind::all_good, {});
}

BOOST_AUTO_TEST_CASE(who_called_something_else_than_the_most_is_named) {
  job j(4);
  for (std::uint32_t r = 0; r < 4; ++r)
    j.call(r, 1, 10s, {rank{(r + 1) % 4}});
  j.dumps[2].operations[0].signature.count = 5;
  const auto found = j.judge();
  check(found, verdict_kind::mismatched_call, {rank{2}});
  BOOST_TEST(found.sentence.find("count 5") != std::string::npos, found.sentence);
}

BOOST_AUTO_TEST_CASE(two_that_differ_are_both_named) {
  job j(2);
  for (std::uint32_t r = 0; r < 2; ++r)
    j.call(r, 1, 10s, {rank{1 - r}});
  j.dumps[1].operations[0].signature.type = data_type::float64;
  check(j.judge(), verdict_kind::mismatched_call, {rank{0}, rank{1}});
}

BOOST_AUTO_TEST_CASE(a_mismatch_that_only_a_failure_remembers_is_found) {
  job j(2);
  auto& c = j.dumps[0].communicators[0];
  c.failed = errc::mismatch;
  c.failed_peer = rank{1};
  c.failure = "operation 3: rank 0 called a, rank 1 called b";
  check(j.judge(), verdict_kind::mismatched_call, {rank{1}});
}

BOOST_AUTO_TEST_CASE(two_communicators_in_different_orders_are_a_deadlock_of_the_odd_one) {
  job j(4);
  for (std::uint32_t r = 0; r < 4; ++r)
    j.add_communicator(r, communicator_id{2}, {rank{0}, rank{1}, rank{2}, rank{3}});
  for (const auto r : {0u, 1u, 2u})
    j.call(r, 1, 10s, {rank{3}});
  j.call(3, 1, 10s, {rank{0}}, communicator_id{2});
  const auto found = j.judge();
  check(found, verdict_kind::communicator_deadlock, {rank{3}});
  BOOST_TEST(found.evidence.size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_deadlock_of_two_names_both) {
  job j(2);
  for (std::uint32_t r = 0; r < 2; ++r)
    j.add_communicator(r, communicator_id{2}, {rank{0}, rank{1}});
  j.call(0, 1, 10s, {rank{1}});
  j.call(1, 1, 10s, {rank{0}}, communicator_id{2});
  check(j.judge(), verdict_kind::communicator_deadlock, {rank{0}, rank{1}});
}

BOOST_AUTO_TEST_CASE(a_chain_of_communicators_leads_to_its_root) {
  // 0 waits for 1 in communicator 2; 1 waits for 2 in communicator 3; 2 does something else.
  job j(3);
  for (const auto r : {0u, 1u})
    j.add_communicator(r, communicator_id{2}, {rank{0}, rank{1}});
  for (const auto r : {1u, 2u})
    j.add_communicator(r, communicator_id{3}, {rank{1}, rank{2}});
  j.call(0, 1, 10s, {rank{1}}, communicator_id{2});
  j.call(1, 1, 9s, {rank{2}}, communicator_id{3});
  const auto found = j.judge();
  check(found, verdict_kind::never_joined, {rank{2}});
  BOOST_TEST((found.communicator == communicator_id{3}));
}

BOOST_AUTO_TEST_CASE(a_receive_without_a_send_names_the_sender) {
  job j(2);
  auto& r = j.call(0, 0, 10s, {rank{1}});
  r.number = {1ull << 63 | 1};
  r.signature.kind = operation_kind::receive;
  r.peer = rank{1};
  check(j.judge(), verdict_kind::never_joined, {rank{1}});
}

BOOST_AUTO_TEST_CASE(a_job_in_which_nobody_calls_anything_is_stuck_outside) {
  job j(3);
  for (std::uint32_t r = 0; r < 3; ++r)
    j.done(r, 1, 90s, 1ms);
  check(j.judge(), verdict_kind::stuck_outside, {});
  for (auto& d : j.dumps)
    d.communicators[0].finalized = true;
  check(j.judge(), verdict_kind::all_good, {});
}

BOOST_AUTO_TEST_CASE(a_job_that_still_joins_says_who_is_missing) {
  job j(3);
  for (auto& d : j.dumps)
    d.phase = endpoint_phase::joining;
  j.drop(1);
  check(j.judge(), verdict_kind::join_incomplete, {rank{1}});
}

BOOST_AUTO_TEST_CASE(the_rank_for_which_all_others_wait_is_slow) {
  job j(4);
  for (std::uint32_t r = 0; r < 4; ++r)
    for (std::uint64_t n = 1; n <= 10; ++n)
      j.done(r, n, 1s, 6ms, r == 2 ? 20us : 5ms);
  check(j.judge(), verdict_kind::slow_rank, {rank{2}});
}

BOOST_AUTO_TEST_CASE(the_root_of_broadcasts_is_not_slow) {
  job j(4);
  for (std::uint32_t r = 0; r < 4; ++r)
    for (std::uint64_t n = 1; n <= 10; ++n) {
      j.done(r, n, 1s, 6ms, r == 0 ? 0us : 5ms);
      j.dumps[r].operations.back().signature.kind = operation_kind::broadcast;
    }
  check(j.judge(), verdict_kind::all_good, {});
}

BOOST_AUTO_TEST_CASE(a_little_or_a_few_times_later_is_not_slow) {
  job little(4), few(4);
  for (std::uint32_t r = 0; r < 4; ++r)
    for (std::uint64_t n = 1; n <= 10; ++n) {
      little.done(r, n, 1s, 60ms, r == 2 ? 20ms : 25ms);
      few.done(r, n, 1s, 6ms, r == 2 && n < 6 ? 20us : 3ms + duration(n * (r + 1) % 5));
    }
  check(little.judge(), verdict_kind::all_good, {});
  check(few.judge(), verdict_kind::all_good, {});
}

BOOST_AUTO_TEST_CASE(noise_makes_nobody_slow) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    random_stream draw(seed);
    const auto size = 2 + static_cast<std::uint32_t>(draw.below(7));
    job j(size);
    for (std::uint32_t r = 0; r < size; ++r)
      for (std::uint64_t n = 1; n <= 8 + draw.below(20); ++n)
        j.done(r, n, 1s, 6ms, duration(draw.below(5'000'000)));
    check(j.judge(), verdict_kind::all_good, {});
  }
}

BOOST_AUTO_TEST_CASE(the_newest_dump_of_a_rank_counts_and_their_order_does_not) {
  job j(3);
  for (const auto r : {0u, 1u})
    j.call(r, 1, 10s, {rank{2}});
  auto old = j.dumps;
  for (auto& d : old)
    d.taken_at_unix_ns -= 1'000'000'000;
  j.done(2, 1, 1s, 1ms);
  for (const auto r : {0u, 1u}) {
    auto& record = j.dumps[r].operations[0];
    record.phase = operation_phase::past;
    record.ended = dumped;
  }
  auto all = j.dumps;
  all.insert(all.end(), old.begin(), old.end());
  check(diagnose(all), verdict_kind::all_good, {});
  std::reverse(all.begin(), all.end());
  check(diagnose(all), verdict_kind::all_good, {});
  check(diagnose(old), verdict_kind::never_joined, {rank{2}});
}

BOOST_AUTO_TEST_CASE(a_rank_that_came_later_has_a_number_beyond_the_job_and_nobody_is_missing) {
  job j(3);
  j.dumps[2].self = rank{1u << 31};
  const auto found = j.judge();
  check(found, verdict_kind::all_good, {});
  BOOST_TEST(found.table.size() == 4u);  // rank 2 gave no dump
}

BOOST_AUTO_TEST_CASE(evidence_is_bounded_in_a_large_job) {
  job j(2000);
  for (std::uint32_t r = 0; r < 1999; ++r)
    j.lost(r, 1999, 5s);
  j.drop(1999);
  const auto found = j.judge();
  check(found, verdict_kind::process_dead, {rank{1999}});
  BOOST_TEST(found.evidence.size() < 20u);
}

}  // namespace
}  // namespace troupe
