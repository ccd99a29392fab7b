#define BOOST_TEST_MODULE net_emulation_transfer
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstring>

#include "tests/unit/net/emulated_node.hpp"

namespace {

using namespace troupe::net;

std::byte pattern(std::size_t position) {
  return static_cast<std::byte>(position * 131 + (position >> 8) * 7 + 1);
}

void fill(emulated_node& node) {
  for (std::size_t i = 0; i < node.memory.size(); ++i)
    node.memory[i] = pattern(i);
}

bool holds_pattern(const emulated_node& node, std::size_t at, std::size_t bytes,
                   std::size_t pattern_at) {
  for (std::size_t i = 0; i < bytes; ++i)
    if (node.memory[at + i] != pattern(pattern_at + i)) return false;
  return true;
}

ibv_wc_status status_of(emulated_node& node) {
  const auto done = node.completion();
  BOOST_REQUIRE(done);
  return done->status;
}

struct pair_of_nodes {
  emulated_node sender;
  emulated_node receiver;

  pair_of_nodes() { connect(sender, receiver); }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_send_lands_in_the_oldest_receive, pair_of_nodes) {
  fill(sender);
  BOOST_TEST(receiver.post_receive(11, {receiver.piece(0, 4096)}) == 0);
  auto wr = sender.request(IBV_WR_SEND_WITH_IMM, 5);
  wr.imm_data = 0x01020304;
  BOOST_TEST(sender.post(wr, {sender.piece(100, 3000)}) == 0);
  const auto received = receiver.completion();
  BOOST_REQUIRE(received);
  BOOST_TEST(received->status == IBV_WC_SUCCESS);
  BOOST_TEST(received->opcode == IBV_WC_RECV);
  BOOST_TEST(received->wr_id == 11u);
  BOOST_TEST(received->byte_len == 3000u);
  BOOST_TEST(received->imm_data == 0x01020304u);
  BOOST_TEST(received->wc_flags == unsigned{IBV_WC_WITH_IMM});
  BOOST_TEST(received->qp_num == receiver.qp->qp_num);
  BOOST_TEST(received->src_qp == sender.qp->qp_num);
  BOOST_TEST(holds_pattern(receiver, 0, 3000, 100));
  const auto sent = sender.completion();
  BOOST_REQUIRE(sent);
  BOOST_TEST(sent->status == IBV_WC_SUCCESS);
  BOOST_TEST(sent->wr_id == 5u);
  BOOST_TEST(sent->opcode == IBV_WC_SEND);
}

BOOST_FIXTURE_TEST_CASE(a_write_needs_no_receive_and_completes_only_at_its_sender, pair_of_nodes) {
  fill(sender);
  auto wr = sender.aimed(IBV_WR_RDMA_WRITE, 6, receiver, 500);
  BOOST_TEST(sender.post(wr, {sender.piece(0, 900'000)}) == 0);
  BOOST_TEST(status_of(sender) == IBV_WC_SUCCESS);
  BOOST_TEST(holds_pattern(receiver, 500, 900'000, 0));
  BOOST_TEST(receiver.stays_quiet(5));
}

BOOST_FIXTURE_TEST_CASE(a_write_with_immediate_takes_a_receive_without_touching_its_memory,
                        pair_of_nodes) {
  fill(sender);
  BOOST_TEST(receiver.post_receive(1) == 0);
  auto wr = sender.aimed(IBV_WR_RDMA_WRITE_WITH_IMM, 7, receiver, 64);
  wr.imm_data = 99;
  BOOST_TEST(sender.post(wr, {sender.piece(0, 300'000)}) == 0);
  const auto received = receiver.completion();
  BOOST_REQUIRE(received);
  BOOST_TEST(received->opcode == IBV_WC_RECV_RDMA_WITH_IMM);
  BOOST_TEST(received->imm_data == 99u);
  BOOST_TEST(received->byte_len == 300'000u);
  BOOST_TEST(holds_pattern(receiver, 64, 300'000, 0));
}

BOOST_FIXTURE_TEST_CASE(a_read_fetches_into_several_pieces, pair_of_nodes) {
  fill(receiver);
  auto wr = sender.aimed(IBV_WR_RDMA_READ, 8, receiver, 1000);
  BOOST_TEST(sender.post(wr, {sender.piece(0, 10), sender.piece(5000, 400'000)}) == 0);
  const auto done = sender.completion();
  BOOST_REQUIRE(done);
  BOOST_TEST(done->status == IBV_WC_SUCCESS);
  BOOST_TEST(done->opcode == IBV_WC_RDMA_READ);
  BOOST_TEST(holds_pattern(sender, 0, 10, 1000));
  BOOST_TEST(holds_pattern(sender, 5000, 400'000, 1010));
}

BOOST_FIXTURE_TEST_CASE(a_send_gathers_and_scatters, pair_of_nodes) {
  fill(sender);
  BOOST_TEST(receiver.post_receive(1, {receiver.piece(0, 7), receiver.piece(100, 1),
                                       receiver.piece(200, 5000)}) == 0);
  auto wr = sender.request(IBV_WR_SEND, 1);
  BOOST_TEST(sender.post(wr, {sender.piece(0, 3), sender.piece(3, 2000), sender.piece(2003, 1)}) ==
             0);
  BOOST_TEST(status_of(receiver) == IBV_WC_SUCCESS);
  BOOST_TEST(holds_pattern(receiver, 0, 7, 0));
  BOOST_TEST(holds_pattern(receiver, 100, 1, 7));
  BOOST_TEST(holds_pattern(receiver, 200, 1996, 8));
}

BOOST_FIXTURE_TEST_CASE(inline_bytes_may_change_right_after_the_post_and_need_no_key,
                        pair_of_nodes) {
  BOOST_TEST(receiver.post_receive(1, {receiver.piece(0, 128)}) == 0);
  std::array<char, 100> text{};
  text.fill('x');
  auto wr = sender.request(IBV_WR_SEND, 1);
  wr.send_flags |= IBV_SEND_INLINE;
  BOOST_TEST(sender.post(wr, {{reinterpret_cast<std::uintptr_t>(text.data()), 100, 0}}) == 0);
  text.fill('y');
  BOOST_TEST(status_of(receiver) == IBV_WC_SUCCESS);
  BOOST_TEST(std::all_of(receiver.memory.begin(), receiver.memory.begin() + 100,
                         [](std::byte b) { return b == std::byte{'x'}; }));
}

BOOST_FIXTURE_TEST_CASE(atomics_return_the_value_before, pair_of_nodes) {
  std::uint64_t value = 40;
  std::memcpy(receiver.memory.data(), &value, 8);
  auto add = sender.request(IBV_WR_ATOMIC_FETCH_AND_ADD, 1);
  add.wr.atomic.remote_addr = reinterpret_cast<std::uintptr_t>(receiver.memory.data());
  add.wr.atomic.rkey = receiver.mr->rkey;
  add.wr.atomic.compare_add = 2;
  BOOST_TEST(sender.post(add, {sender.piece(0, 8)}) == 0);
  BOOST_TEST(status_of(sender) == IBV_WC_SUCCESS);
  auto swap = add;
  swap.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
  swap.wr.atomic.compare_add = 42;
  swap.wr.atomic.swap = 7;
  BOOST_TEST(sender.post(swap, {sender.piece(8, 8)}) == 0);
  BOOST_TEST(status_of(sender) == IBV_WC_SUCCESS);
  std::uint64_t before[2];
  std::memcpy(before, sender.memory.data(), 16);
  std::memcpy(&value, receiver.memory.data(), 8);
  BOOST_TEST(before[0] == 40u);
  BOOST_TEST(before[1] == 42u);
  BOOST_TEST(value == 7u);
}

BOOST_AUTO_TEST_CASE(one_queue_pair_delivers_in_order_and_only_signalled_requests_complete) {
  emulated_node sender({.signal_all = 0});
  emulated_node receiver;
  connect(sender, receiver);
  for (std::uint64_t i = 0; i < 32; ++i)
    BOOST_TEST(receiver.post_receive(i) == 0);
  for (std::uint32_t i = 0; i < 32; ++i) {
    auto wr = sender.aimed(IBV_WR_RDMA_WRITE_WITH_IMM, i, receiver, i * 1000);
    wr.imm_data = i;
    if (i % 8 != 7) wr.send_flags = 0;
    BOOST_TEST(sender.post(wr, {sender.piece(0, i * 900)}) == 0);
  }
  for (std::uint32_t i = 0; i < 32; ++i) {
    const auto received = receiver.completion();
    BOOST_REQUIRE(received);
    BOOST_TEST(received->imm_data == i);
    BOOST_TEST(received->wr_id == i);
  }
  for (std::uint64_t i = 7; i < 32; i += 8) {
    const auto sent = sender.completion();
    BOOST_REQUIRE(sent);
    BOOST_TEST(sent->wr_id == i);
  }
  BOOST_TEST(sender.stays_quiet(5));
}

BOOST_AUTO_TEST_CASE(nobody_has_to_poll_for_bytes_to_arrive) {
  emulated_node sender({.has_channel = true});
  emulated_node receiver;
  connect(sender, receiver);
  fill(sender);
  BOOST_TEST(ibv_req_notify_cq(sender.cq, 0) == 0);
  auto wr = sender.aimed(IBV_WR_RDMA_WRITE, 1, receiver);
  BOOST_TEST(sender.post(wr, {sender.piece(0, 1 << 20)}) == 0);
  ibv_cq* cq = nullptr;
  void* owner = nullptr;
  BOOST_TEST(ibv_get_cq_event(sender.channel, &cq, &owner) == 0);
  BOOST_TEST(cq == sender.cq);
  BOOST_TEST(owner == &sender);
  ibv_ack_cq_events(cq, 1);
  BOOST_TEST(holds_pattern(receiver, 0, 1 << 20, 0));
}

BOOST_AUTO_TEST_CASE(a_queue_pair_may_be_connected_to_itself) {
  emulated_node node;
  node.connect(node.address());
  fill(node);
  auto wr = node.aimed(IBV_WR_RDMA_WRITE, 1, node, 500'000);
  BOOST_TEST(node.post(wr, {node.piece(0, 400'000)}) == 0);
  BOOST_TEST(status_of(node) == IBV_WC_SUCCESS);
  BOOST_TEST(holds_pattern(node, 500'000, 400'000, 0));
}
