#define BOOST_TEST_MODULE rank_dump_json
#include "runtime/rank_dump_json.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <vector>

namespace troupe {
namespace {

operation_record full_record() {
  operation_record r;
  r.serial = 17;
  r.number = {12};
  r.communicator = {3};
  r.epoch = {2};
  r.self = {1};
  r.peer = {0};
  r.signature = {operation_kind::all_to_all_v, data_type::bfloat16, reduction::maximum, 1, 99};
  r.bytes = 1 << 20;
  r.threshold_bytes = 65536;
  r.ranks = 4;
  r.algorithm = algorithm::bruck;
  r.lanes = lane_kind::shm;
  r.reason = choice_reason::many_ranks;
  r.phase = operation_phase::current;
  r.failed = errc::timed_out;
  r.failed_peer = {2};
  r.open_accepts = 2;
  r.open_puts = 1;
  r.queued = instant(duration(1000));
  r.started = instant(duration(2000));
  r.first_byte = instant(duration(3000));
  r.deadline = instant(duration(9'000'000'000'000'000'000));
  r.waited_for_peers = duration(5);
  r.waited_for_sending = duration(6);
  r.waited_for_resources = duration(7);
  r.waits_for = {rank{2}, rank{3}};
  r.waits_for_count = 2;
  return r;
}

rank_dump full_dump() {
  rank_dump d;
  d.self = {1};
  d.world_size = 4;
  d.job = 0xfedcba9876543210ull;
  d.host = "node \"7\"";
  d.process = 4711;
  d.phase = endpoint_phase::leaving;
  d.joining_detail = "waits";
  d.cause = "signal";
  d.taken_at = instant(duration(123));
  d.taken_at_unix_ns = 1'796'000'000'000'000'000;
  d.complete = false;
  d.worker = {instant(duration(99)), true, 1234};
  d.communicators.push_back({.id = {3},
                             .epoch = {2},
                             .self = {1},
                             .size = 2,
                             .members = {rank{1}, rank{3}},
                             .last_called = 12,
                             .last_started = 11,
                             .last_ended = 10,
                             .calls_waiting = 5,
                             .last_call = instant(duration(5)),
                             .last_progress = instant(duration(6)),
                             .failed = errc::mismatch,
                             .failed_peer = rank{0},
                             .failure = "why",
                             .finalized = true});
  d.operations.push_back(full_record());
  d.links.push_back({.peer = {3},
                     .lanes_open = 1,
                     .lanes_wanted = 3,
                     .lanes_lost = 2,
                     .last_heard = instant(duration(7)),
                     .last_sent = instant(duration(8)),
                     .lost = true,
                     .waits_for_credit = true,
                     .waits_for_budget = true,
                     .looked = instant(duration(9))});
  d.incidents.push_back(
      {incident_kind::peer_silent, instant(duration(4)), rank{2}, errc::peer_lost, "text\n"});
  return d;
}

BOOST_AUTO_TEST_CASE(every_field_survives) {
  const auto text = to_json(full_dump());
  const auto read = parse_rank_dump(text);
  BOOST_REQUIRE_MESSAGE(read.has_value(), read.error().message);
  // The text has every field, so equal texts are equal dumps.
  BOOST_TEST(to_json(*read) == text);
  BOOST_TEST(text.find('\n') == std::string::npos);
  BOOST_TEST((read->operations[0].signature == full_record().signature));
  BOOST_TEST(read->job == full_dump().job);
  BOOST_TEST((read->to_world({3}, rank{1}) == rank{3}));
}

BOOST_AUTO_TEST_CASE(an_empty_dump_survives) {
  const auto text = to_json(rank_dump{});
  const auto read = parse_rank_dump(text);
  BOOST_REQUIRE(read.has_value());
  BOOST_TEST(to_json(*read) == text);
}

BOOST_AUTO_TEST_CASE(every_error_and_a_rank_that_came_later_survive) {
  for (unsigned code = 0; to_string(static_cast<errc>(code)) != "unknown"; ++code) {
    rank_dump d;
    d.self = {1u << 31};
    d.world_size = 4;
    d.communicators.emplace_back().failed = static_cast<errc>(code);
    const auto read = parse_rank_dump(to_json(d));
    BOOST_REQUIRE_MESSAGE(read.has_value(), to_string(static_cast<errc>(code)));
    BOOST_TEST((read->communicators[0].failed == static_cast<errc>(code)));
    BOOST_TEST((read->self == d.self));
  }
}

BOOST_AUTO_TEST_CASE(numbers_of_all_three_kinds_survive) {
  for (const std::uint64_t number :
       {std::uint64_t{7}, std::uint64_t{1} << 63 | 7, one_sided_number(rank{1}, 7, false).value,
        one_sided_number(rank{1}, 7, true).value}) {
    rank_dump d;
    d.world_size = 2;
    operation_record r;
    r.self = {1};
    r.number = {number};
    r.signature.kind = operation_kind::send;
    if ((number & one_sided_bit) != 0)
      r.signature.kind = (number & fetch_bit) != 0 ? operation_kind::get : operation_kind::put;
    d.operations.push_back(r);
    const auto read = parse_rank_dump(to_json(d));
    BOOST_REQUIRE(read.has_value());
    BOOST_TEST(read->operations[0].number.value == number);
  }
}

BOOST_AUTO_TEST_CASE(a_newer_format_is_refused_with_both_versions) {
  auto text = to_json(full_dump());
  const std::string now = "\"version\":1";
  text.replace(text.find(now), now.size(), "\"version\":7");
  const auto read = parse_rank_dump(text);
  BOOST_REQUIRE(!read.has_value());
  BOOST_TEST((read.error().code() == errc::version_mismatch));
  BOOST_TEST(read.error().message.find('7') != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_field_that_does_not_fit_is_named) {
  const auto with = [](const std::string& from, const std::string& to) {
    auto text = to_json(full_dump());
    const auto at = text.find(from);
    BOOST_REQUIRE(at != std::string::npos);
    return parse_rank_dump(text.replace(at, from.size(), to));
  };
  for (const auto& [from, to, name] : std::vector<std::array<std::string, 3>>{
           {"\"phase\":\"leaving\"", "\"phase\":\"gone\"", "phase"},
           {"\"world_size\":4", "\"world_size\":4000000000", "world_size"},
           {"\"members\":[1,3]", "\"members\":[1]", "members"},
           {"\"size\":2", "\"size\":-2", "size"},
           {"\"lost\":true", "\"lost\":1", "lost"}}) {
    const auto read = with(from, to);
    BOOST_TEST(!read.has_value(), name);
    if (!read)
      BOOST_TEST(read.error().message.find('"' + name + '"') != std::string::npos,
                 read.error().message);
  }
}

BOOST_AUTO_TEST_CASE(something_else_is_no_dump) {
  BOOST_TEST(!parse_rank_dump("{}").has_value());
  BOOST_TEST(!parse_rank_dump("[]").has_value());
  BOOST_TEST(!parse_rank_dump("GET / HTTP/1.0").has_value());
}

}  // namespace
}  // namespace troupe
