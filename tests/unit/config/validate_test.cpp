#define BOOST_TEST_MODULE validate
#include "config/validate.hpp"

#include <boost/test/unit_test.hpp>

#include <functional>
#include <initializer_list>

namespace troupe::config {
namespace {

using namespace std::chrono_literals;

std::string problem_of(const std::function<void(options&)>& change) {
  options o;
  change(o);
  const auto valid = validate(o);
  return valid ? "" : valid.error().message;
}

void expect(const std::string& message, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts)
    BOOST_TEST(message.find(part) != std::string::npos, '"' << part << "\" in: " << message);
}

BOOST_AUTO_TEST_CASE(the_defaults_are_valid_together) {
  BOOST_TEST(problem_of([](options&) {}) == "");
}

BOOST_AUTO_TEST_CASE(a_struct_filled_by_hand_is_checked_against_its_ranges) {
  expect(problem_of([](options& o) { o.transport.segment_bytes = 1; }),
         {"transport.segment_bytes = 1", "4KiB to 64MiB"});
  expect(problem_of([](options& o) { o.transport.write_timeout = -1s; }),
         {"transport.write_timeout = -1s", "10ms to 10m"});
  expect(problem_of([](options& o) { o.transport.lanes = "smoke"; }), {"transport.lanes = smoke"});
}

BOOST_AUTO_TEST_CASE(ports_are_set_together_and_in_order) {
  expect(problem_of([](options& o) { o.bootstrap.port_first = 5; }),
         {"bootstrap.port_first = 5", "bootstrap.port_last = 0", "set both"});
  expect(problem_of([](options& o) { o.bootstrap.port_last = 5; }), {"set both"});
  const auto both = [](std::uint16_t first, std::uint16_t last) {
    return problem_of([=](options& o) {
      o.bootstrap.port_first = first;
      o.bootstrap.port_last = last;
    });
  };
  expect(both(6, 5), {"bootstrap.port_first = 6 is above bootstrap.port_last = 5"});
  BOOST_TEST(both(5, 5) == "");
}

BOOST_AUTO_TEST_CASE(an_eager_message_fits_into_a_segment) {
  const auto eager = [](std::uint64_t bytes) {
    return problem_of([=](options& o) {
      o.transport.segment_bytes = 8192;
      o.transport.eager_bytes = bytes;
    });
  };
  BOOST_TEST(eager(8192) == "");
  expect(eager(8193), {"transport.eager_bytes = 8193", "transport.segment_bytes = 8KiB"});
}

BOOST_AUTO_TEST_CASE(one_eager_message_can_be_parked) {
  const auto parked = [](std::uint64_t bytes) {
    return problem_of([=](options& o) { o.transport.parked_bytes = bytes; });
  };
  BOOST_TEST(parked(16 << 10) == "");
  expect(parked((16 << 10) - 1),
         {"transport.eager_bytes = 16KiB", "transport.parked_bytes = 16383"});
}

BOOST_AUTO_TEST_CASE(two_heartbeats_fit_into_the_silence) {
  const auto silence = [](duration d) {
    return problem_of([=](options& o) { o.transport.silence_timeout = d; });
  };
  BOOST_TEST(silence(1s) == "");
  expect(silence(999ms),
         {"transport.heartbeat_interval = 500ms times 2", "transport.silence_timeout = 999ms"});
}

BOOST_AUTO_TEST_CASE(an_acknowledgement_leaves_before_its_write_times_out) {
  expect(problem_of([](options& o) {
           o.transport.write_timeout = 20ms;
           o.transport.ack_delay = 21ms;
         }),
         {"transport.ack_delay = 21ms", "transport.write_timeout = 20ms"});
}

BOOST_AUTO_TEST_CASE(a_lease_holds_a_segment) {
  expect(problem_of([](options& o) { o.dqplb.lease_bytes = 128 << 10; }),
         {"transport.segment_bytes = 1MiB", "dqplb.lease_bytes = 128KiB"});
}

BOOST_AUTO_TEST_CASE(a_tier_and_its_lanes_have_room_for_one_of_its_segments) {
  const auto cut = [](tier_options options::*section, std::uint64_t tier_options::*room) {
    return problem_of([=](options& o) { (o.*section).*room = (o.*section).segment_bytes - 1; });
  };
  const auto bytes = &tier_options::bytes;
  expect(cut(&options::tier_same_host, bytes),
         {"tier_same_host.segment_bytes = 256KiB", "tier_same_host.bytes", "one segment"});
  expect(cut(&options::tier_same_rack, bytes), {"tier_same_rack.segment_bytes = 128KiB"});
  expect(cut(&options::tier_same_zone, bytes), {"tier_same_zone.bytes"});
  expect(cut(&options::tier_cross_zone, bytes), {"tier_cross_zone.bytes"});
  expect(cut(&options::tier_cross_data_center, bytes), {"tier_cross_data_center.bytes"});
  expect(cut(&options::tier_unknown, bytes), {"tier_unknown.bytes"});
  expect(cut(&options::tier_cross_zone, &tier_options::lane_bytes),
         {"tier_cross_zone.segment_bytes = 1MiB", "tier_cross_zone.lane_bytes"});
  BOOST_TEST(problem_of([](options& o) { o.tier_same_host.lane_bytes = 0; }) == "");
}

BOOST_AUTO_TEST_CASE(the_chunks_of_one_operation_fit_into_the_staging_memory) {
  expect(problem_of([](options& o) { o.collective.chunk_bytes = 8 << 20; }),
         {"collective.chunk_bytes = 8MiB and collective.pipeline_chunk_count = 4 need 128MiB",
          "above worker.scratch_bytes = 64MiB", "raise"});
  BOOST_TEST(problem_of([](options& o) { o.collective.chunk_bytes = 4 << 20; }) == "");
  expect(problem_of([](options& o) {
           o.collective.chunk_bytes = 64 << 10;
           o.collective.pipeline_chunk_count = 1;
           o.worker.scratch_bytes = 1 << 20;
         }),
         {"need 2MiB of staging memory", "worker.scratch_bytes = 1MiB"});
}

BOOST_AUTO_TEST_CASE(the_message_says_who_set_what_if_it_is_known) {
  options o;
  o.bootstrap.port_first = 6;
  o.bootstrap.port_last = 5;
  const auto valid = validate(o, [](std::string_view name) { return "from " + std::string(name); });
  BOOST_REQUIRE(!valid.has_value());
  BOOST_TEST((valid.error().code() == errc::bad_configuration));
  expect(valid.error().message, {"port_first = 6 (from bootstrap.port_first)",
                                 "port_last = 5 (from bootstrap.port_last)"});
}

}  // namespace
}  // namespace troupe::config
