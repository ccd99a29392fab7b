#define BOOST_TEST_MODULE net_emulation_fault
#include <boost/test/unit_test.hpp>

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "tests/unit/net/emulated_node.hpp"

namespace {

using namespace troupe::net;
using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

// Whatever a test does to a device ends with it.
struct faulty_pair {
  emulated_node sender;
  emulated_node receiver;

  faulty_pair() { connect(sender, receiver); }
  ~faulty_pair() { BOOST_TEST(nic_command("clear all") == "ok"); }

  void write(std::uint64_t wr_id) {
    auto wr = sender.aimed(IBV_WR_RDMA_WRITE, wr_id, receiver);
    BOOST_TEST(sender.post(wr, {sender.piece(0, 4096)}) == 0);
  }
};

ibv_wc_status status_of(emulated_node& node) {
  const auto done = node.completion();
  BOOST_REQUIRE(done);
  return done->status;
}

ibv_event_type next_event(emulated_node& node) {
  pollfd entry{node.context->async_fd, POLLIN, 0};
  BOOST_REQUIRE(::poll(&entry, 1, 10'000) == 1);
  ibv_async_event event{};
  BOOST_REQUIRE(ibv_get_async_event(node.context, &event) == 0);
  ibv_ack_async_event(&event);
  return event.event_type;
}

ibv_port_state port_state(const emulated_node& node) {
  ibv_port_attr port{};
  BOOST_REQUIRE(ibv_query_port(node.context, 1, &port) == 0);
  return port.state;
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_port_that_is_down_says_so_and_requests_run_out_of_retries, faulty_pair) {
  BOOST_TEST(nic_command("down emu0") == "ok");
  BOOST_TEST(port_state(sender) == IBV_PORT_DOWN);
  BOOST_TEST(next_event(sender) == IBV_EVENT_PORT_ERR);
  write(1);
  BOOST_TEST(status_of(sender) == IBV_WC_RETRY_EXC_ERR);
  BOOST_TEST(nic_command("up emu0") == "ok");
  BOOST_TEST(port_state(sender) == IBV_PORT_ACTIVE);
  BOOST_TEST(next_event(sender) == IBV_EVENT_PORT_ACTIVE);
}

BOOST_AUTO_TEST_CASE(a_port_that_comes_back_in_time_costs_nothing_but_time) {
  emulated_node sender;
  emulated_node receiver;
  sender.timeout = 18;  // 1 s, three times
  connect(sender, receiver);
  const auto start = clock_type::now();
  BOOST_TEST(nic_command("down all; after 50ms up all") == "ok");
  auto wr = sender.aimed(IBV_WR_RDMA_WRITE, 1, receiver);
  BOOST_TEST(sender.post(wr, {sender.piece(0, 4096)}) == 0);
  BOOST_TEST(status_of(sender) == IBV_WC_SUCCESS);
  BOOST_TEST((clock_type::now() - start >= 50ms));
}

BOOST_FIXTURE_TEST_CASE(a_flap_goes_down_and_up_as_often_as_it_says, faulty_pair) {
  BOOST_TEST(nic_command("flap emu0 down 5ms up 5ms count 2") == "ok");
  for (int i = 0; i < 2; ++i) {
    BOOST_TEST(next_event(sender) == IBV_EVENT_PORT_ERR);
    BOOST_TEST(next_event(sender) == IBV_EVENT_PORT_ACTIVE);
  }
}

BOOST_FIXTURE_TEST_CASE(other_devices_do_not_notice, faulty_pair) {
  emulated_node other({.device = 1});
  BOOST_TEST(nic_command("down emu0") == "ok");
  BOOST_TEST(port_state(other) == IBV_PORT_ACTIVE);
}

BOOST_FIXTURE_TEST_CASE(a_delay_is_paid_on_both_ways, faulty_pair) {
  BOOST_TEST(nic_command("delay emu0 4ms") == "ok");
  const auto start = clock_type::now();
  write(1);
  BOOST_TEST(status_of(sender) == IBV_WC_SUCCESS);
  BOOST_TEST((clock_type::now() - start >= 8ms));
}

BOOST_FIXTURE_TEST_CASE(a_delay_beyond_the_timeout_runs_out_of_retries, faulty_pair) {
  BOOST_TEST(nic_command("delay emu0 1s") == "ok");
  write(1);
  BOOST_TEST(status_of(sender) == IBV_WC_RETRY_EXC_ERR);
}

BOOST_FIXTURE_TEST_CASE(losing_everything_runs_out_of_retries, faulty_pair) {
  BOOST_TEST(nic_command("loss emu0 100%") == "ok");
  const auto start = clock_type::now();
  write(1);
  BOOST_TEST(status_of(sender) == IBV_WC_RETRY_EXC_ERR);
  BOOST_TEST((clock_type::now() - start >= 50ms));  // 4.096 us * 2^12, three times
}

BOOST_AUTO_TEST_CASE(what_is_lost_is_sent_again_in_order) {
  emulated_node sender;
  emulated_node receiver;
  sender.timeout = 7;  // 0.5 ms
  sender.retry_count = 7;
  connect(sender, receiver);
  BOOST_TEST(nic_command("loss emu0 20%") == "ok");
  for (std::uint64_t i = 0; i < 50; ++i)
    BOOST_TEST(receiver.post_receive(i) == 0);
  for (std::uint32_t i = 0; i < 50; ++i) {
    auto wr = sender.aimed(IBV_WR_RDMA_WRITE_WITH_IMM, i, receiver);
    wr.imm_data = i;
    BOOST_TEST(sender.post(wr, {sender.piece(0, 100)}) == 0);
  }
  for (std::uint32_t i = 0; i < 50; ++i) {
    const auto got = receiver.completion();
    BOOST_REQUIRE(got);
    BOOST_TEST(got->status == IBV_WC_SUCCESS);
    BOOST_TEST(got->imm_data == i);
    BOOST_TEST(status_of(sender) == IBV_WC_SUCCESS);
  }
  BOOST_TEST(nic_command("clear all") == "ok");
  BOOST_TEST(!says(nic_command("status emu0"), " lost=0 "));
}

BOOST_FIXTURE_TEST_CASE(duplicates_are_dropped, faulty_pair) {
  BOOST_TEST(nic_command("duplicate emu0 100%") == "ok");
  for (std::uint64_t i = 0; i < 10; ++i)
    BOOST_TEST(receiver.post_receive(i) == 0);
  for (std::uint32_t i = 0; i < 5; ++i) {
    auto wr = sender.aimed(IBV_WR_RDMA_WRITE_WITH_IMM, i, receiver);
    BOOST_TEST(sender.post(wr, {sender.piece(0, 100)}) == 0);
  }
  for (int i = 0; i < 5; ++i)
    BOOST_TEST(status_of(receiver) == IBV_WC_SUCCESS);
  BOOST_TEST(receiver.stays_quiet(5));
  BOOST_TEST(says(nic_command("status emu0"), " duplicates=5 "));
}

BOOST_AUTO_TEST_CASE(queue_pairs_overtake_each_other_and_keep_their_own_order) {
  constexpr std::size_t count = 6;
  std::vector<std::unique_ptr<emulated_node>> senders;
  std::vector<std::unique_ptr<emulated_node>> receivers;
  for (std::size_t i = 0; i < count; ++i) {
    senders.push_back(std::make_unique<emulated_node>());
    receivers.push_back(std::make_unique<emulated_node>());
    senders[i]->timeout = 20;
    connect(*senders[i], *receivers[i]);
    receivers[i]->post_receive(0);
    receivers[i]->post_receive(1);
  }
  BOOST_TEST(nic_command("reorder all 60ms") == "ok");
  for (std::uint32_t message = 0; message < 2; ++message)
    for (std::size_t i = 0; i < count; ++i) {
      auto wr = senders[i]->aimed(IBV_WR_RDMA_WRITE_WITH_IMM, message, *receivers[i]);
      wr.imm_data = message;
      BOOST_TEST(senders[i]->post(wr, {senders[i]->piece(0, 8)}) == 0);
    }
  std::vector<std::size_t> order;
  std::vector<std::uint32_t> next(count, 0);
  const auto limit = clock_type::now() + 10s;
  while (order.size() < 2 * count && clock_type::now() < limit)
    for (std::size_t i = 0; i < count; ++i) {
      ibv_wc done{};
      if (ibv_poll_cq(receivers[i]->cq, 1, &done) != 1) continue;
      BOOST_TEST(done.imm_data == next[i]++);
      order.push_back(i);
    }
  BOOST_TEST(order.size() == 2 * count);
  std::vector<std::size_t> posted;
  for (std::size_t i = 0; i < 2 * count; ++i)
    posted.push_back(i % count);
  BOOST_TEST((order != posted));
  BOOST_TEST(nic_command("clear all") == "ok");
}

BOOST_FIXTURE_TEST_CASE(a_lost_completion_never_comes_and_the_next_one_does, faulty_pair) {
  BOOST_TEST(nic_command("lose_completions emu0 1") == "ok");
  std::memset(sender.memory.data(), 5, 4096);
  write(1);
  BOOST_TEST(sender.stays_quiet(30));
  BOOST_TEST((receiver.memory[4095] == std::byte{5}));
  write(2);
  const auto done = sender.completion();
  BOOST_REQUIRE(done);
  BOOST_TEST(done->wr_id == 2u);
}

BOOST_FIXTURE_TEST_CASE(a_slow_registration_holds_up_its_caller_alone, faulty_pair) {
  BOOST_TEST(nic_command("slow_registration emu0 30ms") == "ok");
  const auto start = clock_type::now();
  auto* const mr = ibv_reg_mr(sender.pd, sender.memory.data(), 4096, 0);
  BOOST_TEST((clock_type::now() - start >= 30ms));
  BOOST_TEST(ibv_dereg_mr(mr) == 0);
}

BOOST_FIXTURE_TEST_CASE(registrations_fail_as_often_as_told, faulty_pair) {
  BOOST_TEST(nic_command("fail_registrations emu0 1") == "ok");
  BOOST_TEST(ibv_reg_mr(sender.pd, sender.memory.data(), 4096, 0) == nullptr);
  BOOST_TEST(errno == ENOMEM);
  auto* const mr = ibv_reg_mr(sender.pd, sender.memory.data(), 4096, 0);
  BOOST_REQUIRE(mr != nullptr);
  BOOST_TEST(ibv_dereg_mr(mr) == 0);
}

BOOST_FIXTURE_TEST_CASE(a_changed_gid_cuts_old_connections_and_serves_new_ones, faulty_pair) {
  const auto before = receiver.address().gid;
  BOOST_TEST(nic_command("change_gid emu0") == "ok");
  BOOST_TEST(next_event(receiver) == IBV_EVENT_GID_CHANGE);
  const auto after = receiver.address().gid;
  BOOST_TEST(std::memcmp(before.raw, after.raw, sizeof before.raw) != 0);
  write(1);
  BOOST_TEST(status_of(sender) == IBV_WC_RETRY_EXC_ERR);
  sender.reset();
  receiver.reset();
  connect(sender, receiver);
  write(2);
  BOOST_TEST(status_of(sender) == IBV_WC_SUCCESS);
}

BOOST_FIXTURE_TEST_CASE(broken_queue_pairs_flush_and_say_so, faulty_pair) {
  receiver.post_receive(1);
  BOOST_TEST(nic_command("break_qps emu0") == "ok");
  BOOST_TEST(status_of(receiver) == IBV_WC_WR_FLUSH_ERR);
  BOOST_TEST(next_event(receiver) == IBV_EVENT_QP_FATAL);
  BOOST_TEST(receiver.qp->state == IBV_QPS_ERR);
}

BOOST_FIXTURE_TEST_CASE(a_command_that_is_wrong_is_answered_with_what_is_wrong, faulty_pair) {
  BOOST_TEST(
      says(nic_command("explode emu0"), "error fault command \"explode emu0\": \"explode\""));
  BOOST_TEST(nic_command("down emu7") == "error this process has no emu7, only 2 devices");
}

BOOST_FIXTURE_TEST_CASE(a_status_counts_requests_and_bytes, faulty_pair) {
  write(1);
  BOOST_TEST(status_of(sender) == IBV_WC_SUCCESS);
  const auto status = nic_command("status");
  BOOST_TEST(says(status, "ok emu0 port=up requests="), status);
  BOOST_TEST(says(status, " emu1 port=up requests=0 bytes=0"), status);
}
