// What a verbs network makes of a peer whose words, and what it sends on its queue pair, come in
// any order that two channels allow. The peer is made by hand and says each word when a case wants.
#define BOOST_TEST_MODULE conformance_verbs_greeting
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "net/tcp/tcp_network.hpp"
#include "net/verbs/verbs_frame_wire.hpp"
#include "net/verbs/verbs_greeting_wire.hpp"
#include "net/verbs/verbs_network.hpp"
#include "tests/unit/net/emulated_node.hpp"

namespace troupe::conformance {

namespace {

constexpr std::uint16_t mtu_bytes = 4096;
constexpr std::uint32_t receive_count = 32;
constexpr std::size_t slot_bytes = 2048;

net::tcp_network_options on_loopback() {
  net::tcp_network_options options;
  options.interface = "127.0.0.1";
  return options;
}

/// A network that accepts, a queue pair and a socket that dial it. Time stands still unless a case
/// moves it, so that no deadline passes on a slow machine.
class hand_made_dialler {
 public:
  hand_made_dialler() : buffers_(4), none_(4) {
    net::verbs_network_options options;
    options.queue_pairs.devices = "emu0";
    options.tcp = on_loopback();
    auto made = net::verbs_network::make(options, buffers_);
    BOOST_REQUIRE_MESSAGE(made.has_value(), (made ? "" : to_string(made.error())));
    network_ = std::move(*made);
    auto sockets = net::tcp_network::make(on_loopback(), none_);
    BOOST_REQUIRE(sockets.has_value());
    sockets_ = std::move(*sockets);
    sockets_->dial(network_->address(), 1, never);
    BOOST_REQUIRE(pump_until([&] { return side_ != nullptr; }));
  }

  /// Says hello and connects the queue pair to the one that is answered.
  void greet() {
    net::verbs_queue_pair_name ours{.mtu_bytes = mtu_bytes,
                                    .number = node_.qp->qp_num,
                                    .first_packet = node_.psn,
                                    .receive_count = receive_count};
    const auto address = node_.address();
    std::memcpy(ours.gid.data(), address.gid.raw, ours.gid.size());
    say({.what = net::verbs_greeting::kind::hello, .instance = 77, .queue_pair = ours});
    BOOST_REQUIRE(pump_until([&] { return !heard_.empty(); }));
    BOOST_REQUIRE((heard_[0].what == net::verbs_greeting::kind::answer));
    net::emulated_address theirs{.qp = heard_[0].queue_pair.number,
                                 .psn = heard_[0].queue_pair.first_packet};
    std::memcpy(theirs.gid.raw, heard_[0].queue_pair.gid.data(), sizeof theirs.gid.raw);
    node_.connect(theirs);
    for (std::uint32_t i = 0; i < receive_count; ++i)
      BOOST_REQUIRE(node_.post_receive(i, {receive_slot(i)}) == 0);
  }

  void say(const net::verbs_greeting& what) { side_->post_message(net::encode(what)); }
  void say_ready() { say({.what = net::verbs_greeting::kind::ready}); }

  /// Sends the first `bytes` of the memory and waits until the device of the peer has them.
  ibv_wc_status send(std::size_t bytes) {
    auto request = node_.request(IBV_WR_SEND, 1);
    BOOST_REQUIRE(node_.post(request, {node_.piece(0, bytes)}) == 0);
    for (;;) {
      const auto done = node_.completion();
      BOOST_REQUIRE(done.has_value());
      if (done->opcode == IBV_WC_SEND || done->status != IBV_WC_SUCCESS) return done->status;
    }
  }

  /// Waits for the next message of the lane, posts its receive again, and gives credits back for
  /// every few.
  void take_message() {
    ibv_wc done{};
    bool taken = false;
    BOOST_REQUIRE(pump_until([&] {
      taken = taken || (ibv_poll_cq(node_.cq, 1, &done) == 1 && (done.opcode & IBV_WC_RECV) != 0);
      return taken;
    }));
    BOOST_REQUIRE(done.status == IBV_WC_SUCCESS);
    BOOST_REQUIRE(node_.post_receive(done.wr_id, {receive_slot(done.wr_id)}) == 0);
    if (++taken_count_ % credits_at_once != 0) return;
    const auto head = net::encode(
        {.what = net::verbs_frame::kind::credit, .credits = credits_at_once}, node_.memory);
    auto request = node_.request(IBV_WR_SEND, 1);
    BOOST_REQUIRE(node_.post(request, {node_.piece(0, head)}) == 0);
  }

  ibv_wc_status send_message(const std::vector<std::byte>& text) {
    const auto head = net::encode({.what = net::verbs_frame::kind::message}, node_.memory);
    std::copy(text.begin(), text.end(), node_.memory.begin() + static_cast<std::ptrdiff_t>(head));
    return send(head + text.size());
  }

  /// Polls until `done`, for a minute at most.
  template <class Done>
  bool pump_until(Done done) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!done() && std::chrono::steady_clock::now() < until)
      pump();
    return done();
  }

  void pump() {
    poll_sockets();
    std::array<network_event, 8> events;
    const auto count = network_->poll(time, events);
    for (std::size_t i = 0; i < count; ++i) {
      if (events[i].what == network_event::kind::accepted) accepted_ = std::move(events[i].opened);
      if (events[i].what == network_event::kind::lane_ready) on_ready(*events[i].ready);
    }
  }

  instant time{std::chrono::hours(1)};
  bool is_accepted() const { return accepted_ != nullptr; }
  lane& accepted() { return *accepted_; }
  std::size_t announced_too_early = 0;
  std::vector<std::vector<std::byte>> messages;
  std::size_t lost = 0;

 private:
  static constexpr std::uint32_t credits_at_once = 8;

  ibv_sge receive_slot(std::uint64_t number) const {
    return node_.piece((1 + number) * slot_bytes, slot_bytes);
  }

  void on_ready(lane& ready) {
    if (&ready != accepted_.get()) {
      ++announced_too_early;
      return;
    }
    std::array<lane_event, 8> events;
    for (auto count = ready.poll(events); count != 0; count = ready.poll(events)) {
      const auto& last = events[count - 1];
      if (last.what == lane_event::kind::message_arrived)
        messages.emplace_back(last.message.begin(), last.message.end());
      if (last.what == lane_event::kind::lane_lost) ++lost;
    }
  }

  void poll_sockets() {
    std::array<network_event, 4> events;
    const auto count = sockets_->poll(time, events);
    for (std::size_t i = 0; i < count; ++i) {
      if (events[i].opened) side_ = std::move(events[i].opened);
      if (events[i].ready == nullptr) continue;
      std::array<lane_event, 1> event;
      while (events[i].ready->poll(event) != 0) {
        if (event[0].what != lane_event::kind::message_arrived) continue;
        const auto said = net::decode_verbs_greeting(event[0].message);
        BOOST_REQUIRE(said.has_value());
        heard_.push_back(*said);
      }
    }
  }

  buffer_table buffers_;
  buffer_table none_;
  std::unique_ptr<net::verbs_network> network_;
  std::unique_ptr<net::tcp_network> sockets_;
  std::unique_ptr<lane> accepted_;
  std::unique_ptr<lane> side_;
  std::vector<net::verbs_greeting> heard_;
  net::emulated_node node_;
  std::uint32_t taken_count_ = 0;
};

}  // namespace

// The dialler's lane stands with the answer: what it sends on the queue pair may be there before
// its last word is read. An announcement then would be the only one, of a lane that nobody has.
BOOST_FIXTURE_TEST_CASE(a_message_that_overtakes_the_last_word_is_announced_behind_it,
                        hand_made_dialler) {
  greet();
  const std::vector<std::byte> text{std::byte{'o'}, std::byte{'n'}, std::byte{'e'}};
  BOOST_TEST(send_message(text) == IBV_WC_SUCCESS);
  for (int i = 0; i < 10; ++i)
    pump();
  BOOST_TEST(announced_too_early == 0u);
  BOOST_TEST(!is_accepted());

  say_ready();
  BOOST_TEST(pump_until([&] { return !messages.empty(); }));
  BOOST_REQUIRE(messages.size() == 1u);
  BOOST_TEST((messages[0] == text));
}

// Longer than a receive: the pair breaks.
BOOST_FIXTURE_TEST_CASE(a_pair_that_breaks_before_the_last_word_is_a_lane_that_is_lost,
                        hand_made_dialler) {
  greet();
  BOOST_TEST(send(16 * slot_bytes) != IBV_WC_SUCCESS);
  for (int i = 0; i < 10; ++i)
    pump();
  time = time + std::chrono::seconds(1);
  pump();
  BOOST_TEST(announced_too_early == 0u);

  say_ready();
  BOOST_TEST(pump_until([&] { return lost != 0; }));
  BOOST_TEST(is_accepted());
  BOOST_TEST(lost == 1u);
}

// The places of messages become free by completions. A link has no more messages under way than
// half of them, so it never finds none, unless the device forgets what the peer has.
BOOST_FIXTURE_TEST_CASE(a_lane_whose_completions_never_come_is_lost_rather_than_full,
                        hand_made_dialler) {
  greet();
  say_ready();
  BOOST_REQUIRE(pump_until([&] { return is_accepted(); }));
  BOOST_TEST(net::nic_command("lose_completions emu0 1000000") == "ok");
  const std::array<std::byte, 3> text{std::byte{'o'}, std::byte{'n'}, std::byte{'e'}};
  auto status = post_status::accepted;
  for (std::uint32_t i = 0; i <= 2 * accepted().depth() && status == post_status::accepted; ++i) {
    status = accepted().post_message(text);
    if (status == post_status::accepted) take_message();
  }
  BOOST_TEST(net::nic_command("clear all") == "ok");
  BOOST_TEST((status == post_status::lost));
  BOOST_TEST(pump_until([&] { return lost != 0; }));
  BOOST_TEST(lost == 1u);
}

}  // namespace troupe::conformance
