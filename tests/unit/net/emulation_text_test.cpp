#define BOOST_TEST_MODULE net_emulation_text
#include <boost/test/unit_test.hpp>

#include "net/emulation/fault_command.hpp"
#include "net/emulation/network_model.hpp"

namespace {

using namespace troupe;
using namespace troupe::net::emulation;

network_model network(std::string_view text) {
  const auto read = read_network(text, "net.txt");
  BOOST_REQUIRE_MESSAGE(read.has_value(), (read ? std::string() : read.error().message));
  return *read;
}

void refuses_network(std::string_view text, std::string_view said) {
  const auto read = read_network(text, "net.txt");
  BOOST_REQUIRE(!read);
  BOOST_TEST((read.error().code() == errc::bad_configuration));
  BOOST_TEST(read.error().message == said);
}

std::vector<fault_command> commands(std::string_view text) {
  const auto read = read_fault_commands(text);
  BOOST_REQUIRE_MESSAGE(read.has_value(), (read ? std::string() : read.error().message));
  return *read;
}

void refuses_command(std::string_view text, std::string_view part) {
  const auto read = read_fault_commands(text);
  BOOST_REQUIRE(!read);
  BOOST_TEST(read.error().message.find(part) != std::string::npos, read.error().message);
}

constexpr std::string_view example = R"(
# Two zones of one data centre, and another one.
tier same_rack latency 2us bandwidth 400Gbit/s queue 16MiB
tier cross_data_center latency 25ms bandwidth 20Mbit/s
host 0-1 data_center a zone 1 rack 1
host 2   data_center a zone 1 rack 2
host 3   data_center a zone 2 rack 1
host 4   data_center b zone 1 rack 1
)";

}  // namespace

BOOST_AUTO_TEST_CASE(a_network_file_says_wires_and_places) {
  const auto model = network(example);
  BOOST_TEST((model.wire(distance::same_rack) ==
              wire_model{.latency_ns = 2000, .byte_ps = 20, .queue_bytes = 16 << 20}));
  BOOST_TEST(model.wire(distance::cross_data_center).latency_ns == 25'000'000u);
  BOOST_TEST(model.wire(distance::cross_data_center).byte_ps == 400'000u);
  BOOST_TEST((model.wire(distance::same_zone) == wire_model{}));
  BOOST_TEST((model.between(0, 0) == distance::same_host));
  BOOST_TEST((model.between(0, 1) == distance::same_rack));
  BOOST_TEST((model.between(1, 2) == distance::same_zone));
  BOOST_TEST((model.between(2, 3) == distance::cross_zone));
  BOOST_TEST((model.between(3, 4) == distance::cross_data_center));
  BOOST_TEST((model.between(0, 99) == distance::unknown));
  BOOST_TEST((model.between(99, 99) == distance::same_host));
}

BOOST_AUTO_TEST_CASE(a_wrong_network_file_is_refused_with_its_line) {
  refuses_network("\n\nfoo", "net.txt:3: \"foo\" must be tier or host");
  refuses_network("tier near latency 1us",
                  "net.txt:1: a tier is one of same_host, same_rack, same_zone, cross_zone, "
                  "cross_data_center, unknown");
  refuses_network("tier same_rack latency 5",
                  "net.txt:1: \"5\" must be a time with its unit (ns, us, ms, s) of at most an "
                  "hour, as 5us");
  refuses_network("tier same_rack bandwidth 5GB",
                  "net.txt:1: \"5GB\" must be a rate from 1Mbit/s to 8000Gbit/s, as 400Gbit/s");
  refuses_network("tier same_rack queue 4MiB",
                  "net.txt:1: a queue needs a bandwidth that empties it");
  refuses_network("tier same_rack latency",
                  "net.txt:1: tier NAME [latency TIME] [bandwidth RATE] [queue BYTES]");
  refuses_network("host 1 rack 2",
                  "net.txt:1: host NUMBER[-NUMBER] data_center NAME zone NAME rack NAME");
  refuses_network("host 5-4 data_center a zone b rack c",
                  "net.txt:1: \"4\" must be a number from 5 to 65535");
  refuses_network("host 1 data_center a zone b rack c\nhost 0-1 data_center a zone b rack c",
                  "net.txt:2: host 1 has a place already");
}

BOOST_AUTO_TEST_CASE(an_ideal_wire_takes_no_time) {
  const auto made = pass({}, 1 << 30, 5000, 0, 0);
  BOOST_TEST(made.arrives_at == 5000u);
  BOOST_TEST(!made.is_lost);
}

BOOST_AUTO_TEST_CASE(messages_of_one_sender_follow_each_other_at_the_rate_of_the_wire) {
  const wire_model wire{.latency_ns = 10'000, .byte_ps = 1000};
  const auto first = pass(wire, 500, 100, 0, 0);
  BOOST_TEST(first.arrives_at == 10'600u);
  const auto second = pass(wire, 500, 100, first.sender_free_at, first.receiver_free_at);
  BOOST_TEST(second.departs_at == 600u);
  BOOST_TEST(second.arrives_at == 11'100u);
}

BOOST_AUTO_TEST_CASE(senders_that_meet_wait_at_the_receiver_and_more_than_its_queue_is_lost) {
  const wire_model wire{.latency_ns = 10'000, .byte_ps = 1000, .queue_bytes = 1200};
  std::uint64_t receiver_free_at = 0;
  std::vector<passage> made;
  for (int sender = 0; sender < 4; ++sender) {
    made.push_back(pass(wire, 500, 0, 0, receiver_free_at));
    receiver_free_at = made.back().receiver_free_at;
  }
  BOOST_TEST(made[0].arrives_at == 10'500u);
  BOOST_TEST(made[1].arrives_at == 11'000u);
  BOOST_TEST(made[2].arrives_at == 11'500u);
  BOOST_TEST(!made[2].is_lost);
  BOOST_TEST(made[3].is_lost);  // 1,500 bytes before it
  BOOST_TEST(receiver_free_at == 11'500u);
}

BOOST_AUTO_TEST_CASE(fault_commands_name_device_and_amount) {
  const auto read = commands(
      "down emu0; up all\n delay emu1 1.5ms;loss emu0 0.5% # comment\n"
      ";;lose_completions emu0 3; change_gid emu2; status");
  const std::vector<fault_command> expected{
      {.what = fault::down, .device = 0},
      {.what = fault::up},
      {.what = fault::delay, .device = 1, .amount = 1'500'000},
      {.what = fault::loss, .device = 0, .amount = 5000},
      {.what = fault::lose_completions, .device = 0, .amount = 3},
      {.what = fault::change_gid, .device = 2},
      {.what = fault::status},
  };
  BOOST_TEST((read == expected));
}

BOOST_AUTO_TEST_CASE(a_flap_is_its_downs_and_ups) {
  const auto read = commands("after 1s flap emu0 down 10ms up 20ms count 2");
  const std::vector<fault_command> expected{
      {.what = fault::down, .device = 0, .after_ns = 1'000'000'000},
      {.what = fault::up, .device = 0, .after_ns = 1'010'000'000},
      {.what = fault::down, .device = 0, .after_ns = 1'030'000'000},
      {.what = fault::up, .device = 0, .after_ns = 1'040'000'000},
  };
  BOOST_TEST((read == expected));
}

BOOST_AUTO_TEST_CASE(a_wrong_fault_command_is_refused_with_what_may_stand_there) {
  refuses_command("explode emu0", "\"explode\" must be one of flap, down, up, delay");
  refuses_command("down", "takes a device and nothing else: down emuN|all");
  refuses_command("down eth0", "\"eth0\" must be emuN or all");
  refuses_command("down emu16", "\"16\" must be a number from 0 to 15");
  refuses_command("delay emu0", "takes a device and one value");
  refuses_command("loss emu0 101%", "\"101%\" must be a share from 0% to 100%");
  refuses_command("flap emu0 10ms", "flap emuN|all down TIME up TIME count NUMBER");
  refuses_command("up all; after 5s", "fault command \" after 5s\": after TIME COMMAND");
}
