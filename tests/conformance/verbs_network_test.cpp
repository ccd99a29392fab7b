// What verbs lanes do beyond the suite: choice of devices, keys that die with their registration,
// strangers.
#define BOOST_TEST_MODULE conformance_verbs_network
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "net/tcp/tcp_network.hpp"
#include "net/verbs/verbs_devices.hpp"
#include "net/verbs/verbs_network.hpp"
#include "tests/conformance/lane_pair.hpp"
#include "tests/conformance/lane_worlds.hpp"

namespace troupe::conformance {

namespace {

using kind = lane_event::kind;

net::verbs_network_options with_devices(const std::string& devices) {
  net::verbs_network_options options;
  options.queue_pairs.devices = devices;
  options.tcp.interface = "127.0.0.1";
  return options;
}

/// Two endpoints of this process with devices of their own.
class two_endpoints final : public machine_lane_world {
 public:
  two_endpoints(const std::string& first, const std::string& second) {
    buffers_.assign(2, buffer_table(64));
    for (std::size_t side = 0; side < 2; ++side) {
      auto made =
          net::verbs_network::make(with_devices(side == 0 ? first : second), buffers_[side]);
      const auto why = made ? std::string() : to_string(made.error());
      BOOST_REQUIRE_MESSAGE(made.has_value(), why);
      networks_.push_back(std::move(*made));
    }
  }

  lane_kind kind() const override { return lane_kind::verbs; }
  lane_network& network(int side) override { return *networks_[static_cast<std::size_t>(side)]; }
  buffer_table& buffers(int side) override { return buffers_[static_cast<std::size_t>(side)]; }
  lane_address nobody() override { return {}; }
  lane_address silence() override { return {}; }
  std::uint64_t large_bytes() const override { return 1 << 20; }
  duration patience() const override { return std::chrono::seconds(20); }
  duration quiet() const override { return std::chrono::milliseconds(20); }

 private:
  std::vector<buffer_table> buffers_;
  std::vector<std::unique_ptr<lane_network>> networks_;
};

std::vector<std::string> device_names() {
  std::vector<std::string> out;
  const auto ports = net::find_verbs_ports();
  BOOST_REQUIRE(ports.has_value());
  for (const auto& port : *ports)
    if (port.active) out.push_back(port.device);
  BOOST_REQUIRE(!out.empty());
  return out;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_device_that_is_not_there_is_an_error_that_lists_those_that_are) {
  buffer_table buffers(4);
  const auto made = net::verbs_network::make(with_devices("no_such_card"), buffers);
  BOOST_REQUIRE(!made.has_value());
  const auto text = to_string(made.error());
  BOOST_TEST((made.error().code() == errc::bad_configuration));
  BOOST_TEST(has(text, "no_such_card"), text);
  for (const auto& name : device_names())
    BOOST_TEST(has(text, name), text);
}

BOOST_AUTO_TEST_CASE(a_row_that_is_not_in_the_gid_table_is_an_error) {
  buffer_table buffers(4);
  auto options = with_devices("");
  options.queue_pairs.gid_index = 200;
  const auto made = net::verbs_network::make(options, buffers);
  BOOST_REQUIRE(!made.has_value());
  BOOST_TEST(has(to_string(made.error()), "verbs.gid_index = 200"));
}

BOOST_AUTO_TEST_CASE(endpoints_with_different_numbers_of_devices_say_so_and_work) {
  const auto names = device_names();
  if (names.size() < 2) return;
  two_endpoints world(names[0], names[0] + "," + names[1]);
  lane_pair pair(world);
  BOOST_REQUIRE(pair.connect(3));
  for (std::uint32_t i = 0; i < 3; ++i)
    BOOST_REQUIRE(
        (pair.at(0, i).post_write(pair.write(0, 100 * i, 100, i)) == post_status::accepted));
  BOOST_TEST(pair.wait_until([&] { return pair.total(1, kind::write_arrived) == 3; }));
  const auto notice = world.network(0).take_notice() + world.network(1).take_notice();
  BOOST_TEST(has(notice, "uses 1 RDMA ports"), notice);
}

BOOST_AUTO_TEST_CASE(lanes_that_a_device_lost_come_back_to_it) {
  const auto names = device_names();
  if (names.size() < 2) return;
  const auto both = names[0] + "," + names[1];
  two_endpoints world(both, both);
  lane_pair pair(world);
  BOOST_REQUIRE(pair.connect(4));
  std::vector<bool> lives(4, true);
  const auto count_on = [&](const std::string& name) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < lives.size(); ++i)
      if (lives[i] && has(pair.at(0, i).describe(), "verbs " + name + ":")) ++count;
    return count;
  };
  BOOST_TEST(count_on(names[0]) == 2u);
  BOOST_TEST(count_on(names[1]) == 2u);
  for (std::size_t i = 0; i < 4; ++i) {
    if (!has(pair.at(0, i).describe(), "verbs " + names[1] + ":")) continue;
    pair.destroy(0, i);
    lives[i] = false;
  }
  BOOST_REQUIRE(pair.connect(2));
  lives.resize(6, true);
  BOOST_TEST(count_on(names[0]) == 2u);
  BOOST_TEST(count_on(names[1]) == 2u);
}

// Bootstrap's own connections are such lanes.
BOOST_AUTO_TEST_CASE(a_plain_lane_is_a_socket_among_queue_pairs) {
  const auto name = device_names()[0];
  two_endpoints world(name, name);
  lane_pair pair(world);
  BOOST_REQUIRE(pair.connect());
  world.network(0).dial_plain(world.network(1).address(), 1, world.now() + world.patience());
  BOOST_REQUIRE(
      pair.wait_until([&] { return pair.dial_events().size() == 2 && pair.accepted() == 2; }));
  BOOST_TEST((pair.at(0, 1).kind() == lane_kind::tcp));
  const std::array<std::byte, 3> text{std::byte{'o'}, std::byte{'n'}, std::byte{'e'}};
  BOOST_REQUIRE((pair.at(0, 1).post_message(text) == post_status::accepted));
  BOOST_REQUIRE(pair.wait_until([&] { return pair.count(1, kind::message_arrived, 1) == 1; }));
  BOOST_TEST((pair.at(1, 1).post_message(text) == post_status::accepted));
  BOOST_REQUIRE((pair.at(1, 1).post_write(pair.write(1, 0, 5000, 7)) == post_status::accepted));
  BOOST_TEST(pair.wait_until([&] { return pair.count(0, kind::write_arrived, 1) == 1; }));
  BOOST_TEST(pair.target_holds(0, 0, 0, 5000));
  BOOST_TEST(pair.count(0, kind::message_arrived, 1) == 1u);
  pair.at(0, 1).close();
  BOOST_TEST(pair.wait_until([&] { return pair.count(1, kind::lane_lost, 1) == 1; }));
  BOOST_TEST(pair.total(1, kind::lane_lost) == 1u);
}

BOOST_AUTO_TEST_CASE(a_plain_dial_that_is_refused_or_cancelled_ends_as_any_other) {
  const auto name = device_names()[0];
  two_endpoints world(name, name);
  lane_pair pair(world);
  auto nobody = world.network(1).address();
  nobody.port = 1;
  world.network(0).dial_plain(nobody, 5, world.now() + world.patience());
  BOOST_REQUIRE(pair.wait_until([&] { return pair.dial_events().size() == 1; }));
  BOOST_TEST((pair.dial_events()[0].what == network_event::kind::dial_failed));
  BOOST_TEST(pair.dial_events()[0].context == 5u);
  world.network(0).dial_plain(world.network(1).address(), 6, world.now() + world.patience());
  world.network(0).cancel_dial(6);
  pair.be_quiet();
  BOOST_TEST(pair.dial_events().size() == 1u);
  BOOST_TEST(pair.accepted() == 0u);
}

// A key that is revoked ends the registration of its whole buffer. Other keys of it live on, under
// a new registration: a lane that still knows the old one is lost, and the next lane asks.
BOOST_AUTO_TEST_CASE(after_a_revocation_the_other_keys_of_a_buffer_are_asked_for_again) {
  const auto name = device_names()[0];
  two_endpoints world(name, name);
  lane_pair pair(world);
  BOOST_REQUIRE(pair.connect(2));
  const auto view = world.buffers(1).add(pair.target(1).data(), pair.target(1).size());
  const auto other = *world.buffers(1).expose(*view);
  const auto write_under = [&](std::uint64_t key, std::size_t lane, std::uint32_t immediate) {
    auto write = pair.write(0, 0, 1000, immediate);
    write.target.key = key;
    return pair.at(0, lane).post_write(write) == post_status::accepted;
  };
  const auto revoked = *world.buffers(1).expose(*view);
  BOOST_REQUIRE(write_under(other, 0, 1));
  BOOST_REQUIRE(write_under(revoked, 0, 2));
  BOOST_REQUIRE(pair.wait_until([&] { return pair.total(1, kind::write_arrived) == 2; }));

  world.buffers(1).withdraw(revoked);
  BOOST_REQUIRE(write_under(other, 0, 3));
  BOOST_TEST(pair.wait_until([&] { return pair.total(0, kind::lane_lost) == 1; }));
  BOOST_REQUIRE(write_under(other, 1, 4));
  BOOST_TEST(pair.wait_until([&] { return pair.count(1, kind::write_arrived, 1) == 1; }));
  BOOST_TEST(pair.total(1, kind::write_arrived) == 3u);
  BOOST_REQUIRE(write_under(revoked, 1, 5));
  BOOST_TEST(pair.wait_until([&] { return pair.total(1, kind::write_refused) == 1; }));
  world.buffers(1).withdraw(other);
  world.buffers(1).release(view->id);
}

// A key that is finished costs nothing: what others know of the buffer stays true.
BOOST_AUTO_TEST_CASE(a_finished_key_costs_no_lane) {
  const auto name = device_names()[0];
  two_endpoints world(name, name);
  lane_pair pair(world);
  BOOST_REQUIRE(pair.connect());
  const auto view = world.buffers(1).add(pair.target(1).data(), pair.target(1).size());
  for (std::uint32_t i = 0; i < 20; ++i) {
    const auto key = *world.buffers(1).expose(*view);
    auto write = pair.write(0, 0, 5000, i);
    write.target.key = key;
    BOOST_REQUIRE((pair.at(0).post_write(write) == post_status::accepted));
    BOOST_REQUIRE(pair.wait_until([&] { return pair.total(1, kind::write_arrived) == i + 1; }));
    world.buffers(1).withdraw(key, exposure_end::finished);
  }
  pair.be_quiet();
  BOOST_TEST(pair.total(0, kind::lane_lost) == 0u);
  world.buffers(1).release(view->id);
}

BOOST_AUTO_TEST_CASE(a_stranger_on_the_port_is_dropped_and_others_still_get_in) {
  const auto name = device_names()[0];
  two_endpoints world(name, name);
  buffer_table none(4);
  net::tcp_network_options options;
  options.interface = "127.0.0.1";
  auto stranger = net::tcp_network::make(options, none);
  BOOST_REQUIRE(stranger.has_value());
  (*stranger)->dial(world.network(1).address(), 1, never);
  std::unique_ptr<lane> opened;
  bool dropped = false;
  lane_pair pair(world);
  const auto look = [&] {
    std::array<network_event, 4> events;
    const auto count = (*stranger)->poll(world.now(), events);
    for (std::size_t i = 0; i < count; ++i) {
      if (events[i].opened) {
        opened = std::move(events[i].opened);
        std::array<std::byte, 64> garbage{};
        opened->post_message(garbage);
      } else if (events[i].ready != nullptr) {
        std::array<lane_event, 4> said;
        const auto heard = events[i].ready->poll(said);
        for (std::size_t k = 0; k < heard; ++k)
          dropped = dropped || said[k].what == kind::lane_lost;
      }
    }
    pair.pump();
    return dropped;
  };
  const auto until = world.now() + world.patience();
  while (!look() && world.now() < until) {
  }
  BOOST_TEST(dropped);
  BOOST_TEST(pair.accepted() == 0u);
  BOOST_TEST(pair.connect());
}

}  // namespace troupe::conformance
