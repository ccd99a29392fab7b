#define BOOST_TEST_MODULE net_emulation_failure
#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <poll.h>

#include <chrono>
#include <cstring>

#include "tests/unit/net/emulated_node.hpp"

namespace {

using namespace troupe::net;
using clock_type = std::chrono::steady_clock;

struct pair_of_nodes {
  emulated_node sender;
  emulated_node receiver;

  pair_of_nodes() { connect(sender, receiver); }
};

ibv_wc next(emulated_node& node) {
  const auto done = node.completion();
  BOOST_REQUIRE(done);
  return *done;
}

ibv_event_type next_event(emulated_node& node) {
  pollfd entry{node.context->async_fd, POLLIN, 0};
  BOOST_REQUIRE(::poll(&entry, 1, 10'000) == 1);
  ibv_async_event event{};
  BOOST_REQUIRE(ibv_get_async_event(node.context, &event) == 0);
  ibv_ack_async_event(&event);
  return event.event_type;
}

void to_error(emulated_node& node) {
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_ERR;
  BOOST_REQUIRE(ibv_modify_qp(node.qp, &to, IBV_QP_STATE) == 0);
}

// Posts a write that the receiver must refuse, and a second one behind it.
void refuse_write(pair_of_nodes& nodes, ibv_send_wr wr, std::size_t bytes) {
  nodes.receiver.post_receive(50);
  BOOST_TEST(nodes.sender.post(wr, {nodes.sender.piece(0, bytes)}) == 0);
  auto behind = nodes.sender.aimed(IBV_WR_RDMA_WRITE, 2, nodes.receiver);
  BOOST_TEST(nodes.sender.post(behind, {nodes.sender.piece(0, 8)}) == 0);
  const auto before = nodes.receiver.memory;
  const auto refused = next(nodes.sender);
  BOOST_TEST(refused.wr_id == wr.wr_id);
  BOOST_TEST(refused.status == IBV_WC_REM_ACCESS_ERR);
  BOOST_TEST(next(nodes.sender).status == IBV_WC_WR_FLUSH_ERR);
  BOOST_TEST(nodes.sender.qp->state == IBV_QPS_ERR);
  const auto flushed = next(nodes.receiver);
  BOOST_TEST(flushed.wr_id == 50u);
  BOOST_TEST(flushed.status == IBV_WC_WR_FLUSH_ERR);
  BOOST_TEST(next_event(nodes.receiver) == IBV_EVENT_QP_ACCESS_ERR);
  BOOST_TEST((nodes.receiver.memory == before));
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_write_past_the_end_of_a_region_is_refused_and_writes_nothing,
                        pair_of_nodes) {
  std::memset(sender.memory.data(), 1, 100);
  refuse_write(*this, sender.aimed(IBV_WR_RDMA_WRITE, 1, receiver, (1 << 20) - 99), 100);
}

BOOST_FIXTURE_TEST_CASE(a_write_before_the_start_of_a_region_is_refused, pair_of_nodes) {
  auto wr = sender.aimed(IBV_WR_RDMA_WRITE, 1, receiver);
  wr.wr.rdma.remote_addr -= 1;
  refuse_write(*this, wr, 8);
}

BOOST_FIXTURE_TEST_CASE(a_key_of_an_ended_region_is_refused, pair_of_nodes) {
  auto wr = sender.aimed(IBV_WR_RDMA_WRITE, 1, receiver);
  BOOST_TEST(ibv_dereg_mr(receiver.mr) == 0);
  receiver.mr = ibv_reg_mr(receiver.pd, receiver.memory.data(), receiver.memory.size(),
                           IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  BOOST_TEST(receiver.mr->rkey != wr.wr.rdma.rkey);
  refuse_write(*this, wr, 8);
}

BOOST_FIXTURE_TEST_CASE(a_local_key_is_no_remote_key, pair_of_nodes) {
  auto wr = sender.aimed(IBV_WR_RDMA_WRITE, 1, receiver);
  wr.wr.rdma.rkey = receiver.mr->lkey;
  refuse_write(*this, wr, 8);
}

BOOST_FIXTURE_TEST_CASE(a_region_without_the_right_is_refused, pair_of_nodes) {
  auto* const readable = ibv_reg_mr(receiver.pd, receiver.memory.data(), 4096,
                                    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
  auto wr = sender.aimed(IBV_WR_RDMA_WRITE, 1, receiver);
  wr.wr.rdma.rkey = readable->rkey;
  refuse_write(*this, wr, 8);
  BOOST_TEST(ibv_dereg_mr(readable) == 0);
}

BOOST_FIXTURE_TEST_CASE(a_piece_outside_of_its_region_is_a_local_protection_error, pair_of_nodes) {
  auto wr = sender.aimed(IBV_WR_RDMA_WRITE, 1, receiver);
  BOOST_TEST(sender.post(wr, {sender.piece((1 << 20) - 4, 8)}) == 0);
  BOOST_TEST(next(sender).status == IBV_WC_LOC_PROT_ERR);
  BOOST_TEST(sender.qp->state == IBV_QPS_ERR);
}

BOOST_FIXTURE_TEST_CASE(a_message_longer_than_its_receive_fails_at_both_ends, pair_of_nodes) {
  receiver.post_receive(1, {receiver.piece(0, 99)});
  auto wr = sender.request(IBV_WR_SEND, 1);
  BOOST_TEST(sender.post(wr, {sender.piece(0, 100)}) == 0);
  BOOST_TEST(next(receiver).status == IBV_WC_LOC_LEN_ERR);
  BOOST_TEST(next(sender).status == IBV_WC_REM_INV_REQ_ERR);
}

BOOST_FIXTURE_TEST_CASE(a_send_waits_for_a_receive_that_comes_late, pair_of_nodes) {
  auto wr = sender.request(IBV_WR_SEND, 1);
  BOOST_TEST(sender.post(wr, {sender.piece(0, 100)}) == 0);
  BOOST_TEST(sender.stays_quiet(20));
  receiver.post_receive(1, {receiver.piece(0, 100)});
  BOOST_TEST(next(receiver).status == IBV_WC_SUCCESS);
  BOOST_TEST(next(sender).status == IBV_WC_SUCCESS);
}

BOOST_AUTO_TEST_CASE(a_send_without_a_receive_ends_after_its_rnr_retries) {
  emulated_node sender;
  emulated_node receiver;
  sender.not_ready_retries = 3;
  receiver.not_ready_timer = 20;  // 10.24 ms
  connect(sender, receiver);
  const auto start = clock_type::now();
  auto wr = sender.request(IBV_WR_SEND, 1);
  BOOST_TEST(sender.post(wr, {sender.piece(0, 100)}) == 0);
  BOOST_TEST(next(sender).status == IBV_WC_RNR_RETRY_EXC_ERR);
  BOOST_TEST((clock_type::now() - start >= std::chrono::milliseconds(30)));
  BOOST_TEST(sender.qp->state == IBV_QPS_ERR);
}

BOOST_AUTO_TEST_CASE(requests_to_nobody_end_after_timeout_times_retries) {
  emulated_node sender;
  {
    emulated_node receiver;
    connect(sender, receiver);
  }
  const auto start = clock_type::now();
  for (std::uint64_t i = 0; i < 3; ++i) {
    auto wr = sender.request(IBV_WR_SEND, i);
    BOOST_TEST(sender.post(wr, {sender.piece(0, 100)}) == 0);
  }
  BOOST_TEST(next(sender).status == IBV_WC_RETRY_EXC_ERR);
  // 4.096 us * 2^12, three times
  BOOST_TEST((clock_type::now() - start >= std::chrono::milliseconds(50)));
  BOOST_TEST(next(sender).status == IBV_WC_WR_FLUSH_ERR);
  BOOST_TEST(next(sender).status == IBV_WC_WR_FLUSH_ERR);
}

BOOST_AUTO_TEST_CASE(sequence_numbers_that_do_not_match_are_not_answered) {
  emulated_node sender;
  emulated_node receiver;
  auto said = sender.address();
  said.psn += 1;
  sender.connect(receiver.address());
  receiver.connect(said);
  auto wr = sender.aimed(IBV_WR_RDMA_WRITE, 1, receiver);
  BOOST_TEST(sender.post(wr, {sender.piece(0, 100)}) == 0);
  BOOST_TEST(next(sender).status == IBV_WC_RETRY_EXC_ERR);
}

BOOST_AUTO_TEST_CASE(a_peer_that_was_reset_does_not_answer_an_old_connection) {
  emulated_node sender;
  emulated_node receiver;
  connect(sender, receiver);
  auto wr = sender.aimed(IBV_WR_RDMA_WRITE, 1, receiver);
  BOOST_TEST(sender.post(wr, {sender.piece(0, 100)}) == 0);
  BOOST_TEST(next(sender).status == IBV_WC_SUCCESS);
  receiver.reset();
  receiver.connect(sender.address());
  BOOST_TEST(sender.post(wr, {sender.piece(0, 100)}) == 0);
  BOOST_TEST(next(sender).status == IBV_WC_RETRY_EXC_ERR);
}

BOOST_FIXTURE_TEST_CASE(a_broken_pair_is_connected_again_after_a_reset, pair_of_nodes) {
  refuse_write(*this, sender.aimed(IBV_WR_RDMA_WRITE, 1, receiver, (1 << 20) - 1), 2);
  sender.reset();
  receiver.reset();
  connect(sender, receiver);
  std::memset(sender.memory.data(), 7, 4096);
  auto wr = sender.aimed(IBV_WR_RDMA_WRITE, 1, receiver);
  BOOST_TEST(sender.post(wr, {sender.piece(0, 4096)}) == 0);
  BOOST_TEST(next(sender).status == IBV_WC_SUCCESS);
  BOOST_TEST((receiver.memory[4095] == std::byte{7}));
}

BOOST_FIXTURE_TEST_CASE(the_error_state_flushes_what_is_posted_and_what_comes_later,
                        pair_of_nodes) {
  receiver.post_receive(1);
  receiver.post_receive(2);
  to_error(receiver);
  receiver.post_receive(3);
  auto wr = receiver.request(IBV_WR_SEND, 4);
  BOOST_TEST(receiver.post(wr, {receiver.piece(0, 8)}) == 0);
  for (std::uint64_t id = 1; id <= 4; ++id) {
    const auto flushed = next(receiver);
    BOOST_TEST(flushed.wr_id == id);
    BOOST_TEST(flushed.status == IBV_WC_WR_FLUSH_ERR);
  }
}

BOOST_FIXTURE_TEST_CASE(a_reset_forgets_what_is_posted_without_completions, pair_of_nodes) {
  receiver.post_receive(1);
  receiver.reset();
  BOOST_TEST(receiver.stays_quiet(5));
}

BOOST_AUTO_TEST_CASE(a_full_queue_is_an_error_until_its_completions_are_polled) {
  emulated_node sender({.send_depth = 2, .receive_depth = 2});
  emulated_node receiver({.receive_depth = 1});
  connect(sender, receiver);
  BOOST_TEST(receiver.post_receive(1, {receiver.piece(0, 8)}) == 0);
  BOOST_TEST(receiver.post_receive(2) == ENOMEM);
  auto wr = sender.aimed(IBV_WR_RDMA_WRITE, 1, receiver);
  BOOST_TEST(sender.post(wr, {sender.piece(0, 8)}) == 0);
  BOOST_TEST(sender.post(wr, {sender.piece(0, 8)}) == 0);
  BOOST_TEST(sender.post(wr, {sender.piece(0, 8)}) == ENOMEM);
  next(sender);
  BOOST_TEST(sender.post(wr, {sender.piece(0, 8)}) == 0);
}

BOOST_FIXTURE_TEST_CASE(too_many_pieces_and_too_many_inline_bytes_are_errors, pair_of_nodes) {
  auto wr = sender.request(IBV_WR_SEND, 1);
  const auto piece = sender.piece(0, 1);
  BOOST_TEST(sender.post(wr, {piece, piece, piece, piece, piece}) == EINVAL);
  wr.send_flags |= IBV_SEND_INLINE;
  BOOST_TEST(sender.post(wr, {sender.piece(0, 129)}) == EINVAL);
  BOOST_TEST(sender.post(wr, {sender.piece(0, 128)}) == 0);
}

BOOST_AUTO_TEST_CASE(steps_and_attributes_that_verbs_do_not_allow_are_errors) {
  emulated_node node;
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_RTS;
  BOOST_TEST(ibv_modify_qp(node.qp, &to, IBV_QP_STATE) == EINVAL);
  to.qp_state = IBV_QPS_INIT;
  to.port_num = 1;
  BOOST_TEST(ibv_modify_qp(node.qp, &to, IBV_QP_STATE | IBV_QP_PORT) == EINVAL);
  const int all = IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS;
  BOOST_TEST(ibv_modify_qp(node.qp, &to, all | IBV_QP_TIMEOUT) == EINVAL);
  to.port_num = 2;
  BOOST_TEST(ibv_modify_qp(node.qp, &to, all) == EINVAL);
  BOOST_TEST(node.qp->state == IBV_QPS_RESET);
  to.port_num = 1;
  BOOST_TEST(ibv_modify_qp(node.qp, &to, all) == 0);
  BOOST_TEST(node.qp->state == IBV_QPS_INIT);
}

BOOST_FIXTURE_TEST_CASE(events_of_a_queue_pair_end_with_it, pair_of_nodes) {
  auto wr = sender.aimed(IBV_WR_RDMA_WRITE, 1, receiver, (1 << 20) - 1);
  BOOST_TEST(sender.post(wr, {sender.piece(0, 2)}) == 0);
  BOOST_TEST(next(sender).status == IBV_WC_REM_ACCESS_ERR);
  BOOST_TEST(ibv_destroy_qp(receiver.qp) == 0);
  receiver.qp = nullptr;
  ::fcntl(receiver.context->async_fd, F_SETFL, O_NONBLOCK);
  ibv_async_event event{};
  BOOST_TEST(ibv_get_async_event(receiver.context, &event) == -1);
  BOOST_TEST(errno == EAGAIN);
}

BOOST_AUTO_TEST_CASE(a_queue_pair_says_what_it_was_given) {
  emulated_node node;
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = node.cq;
  init.qp_type = IBV_QPT_RC;
  init.cap = {3, 0, 2, 0, 0};
  auto* const qp = ibv_create_qp(node.pd, &init);
  BOOST_REQUIRE(qp != nullptr);
  BOOST_TEST(init.cap.max_send_wr == 3u);
  BOOST_TEST(init.cap.max_recv_wr == 1u);
  BOOST_TEST(ibv_destroy_qp(qp) == 0);
  init.cap.max_send_sge = 17;
  BOOST_TEST(ibv_create_qp(node.pd, &init) == nullptr);
  BOOST_TEST(errno == EINVAL);
}

BOOST_AUTO_TEST_CASE(memory_that_is_not_there_is_not_registered) {
  emulated_node node;
  BOOST_TEST(ibv_reg_mr(node.pd, reinterpret_cast<void*>(4096), 4096, 0) == nullptr);
  BOOST_TEST(errno == EFAULT);
  BOOST_TEST(ibv_reg_mr(node.pd, node.memory.data(), 8, IBV_ACCESS_REMOTE_WRITE) == nullptr);
  BOOST_TEST(errno == EINVAL);
}

BOOST_AUTO_TEST_CASE(what_is_not_emulated_says_so) {
  emulated_node node;
  ibv_srq_init_attr attributes{};
  BOOST_TEST(ibv_create_srq(node.pd, &attributes) == nullptr);
  BOOST_TEST(errno == EOPNOTSUPP);
  BOOST_TEST(ibv_reg_dmabuf_mr(node.pd, 0, 1, 0, 0, 0) == nullptr);
  BOOST_TEST(errno == EOPNOTSUPP);
}
