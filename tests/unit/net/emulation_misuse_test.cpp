#define BOOST_TEST_MODULE net_emulation_misuse
#include <boost/test/unit_test.hpp>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

#include "tests/unit/net/emulated_node.hpp"

namespace {

using namespace troupe::net;

struct death {
  int signal = 0;
  int code = 0;
  std::string said;  ///< on standard error
};

// How a process ends that does `wrong`.
death end_of(const std::function<void()>& wrong) {
  std::array<int, 2> ends{};
  BOOST_REQUIRE(::pipe(ends.data()) == 0);
  const auto child = ::fork();
  if (child == 0) {
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::signal(SIGABRT, SIG_DFL);
    ::dup2(ends[1], STDERR_FILENO);
    wrong();
    ::_exit(0);
  }
  ::close(ends[1]);
  death seen;
  std::array<char, 256> bytes{};
  for (auto got = ::read(ends[0], bytes.data(), bytes.size()); got > 0;
       got = ::read(ends[0], bytes.data(), bytes.size()))
    seen.said.append(bytes.data(), static_cast<std::size_t>(got));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  seen.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  seen.code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  return seen;
}

void dies_saying(const std::string& text, const std::function<void()>& wrong) {
  const auto seen = end_of(wrong);
  BOOST_TEST(seen.signal == SIGABRT);
  BOOST_TEST(seen.said.find(text) != std::string::npos, seen.said);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_program_that_does_nothing_wrong_lives) {
  const auto seen = end_of([] {
    emulated_node node;
    node.connect(node.address());
  });
  BOOST_TEST(seen.signal == 0);
  BOOST_TEST(seen.said == "");
}

BOOST_AUTO_TEST_CASE(a_process_may_exit_with_everything_open_and_so_may_its_child) {
  const auto seen = end_of([] {
    static auto* const node = std::make_unique<emulated_node>().release();
    node->connect(node->address());
    if (::fork() == 0) std::exit(0);
    int status = 0;
    ::wait(&status);
    std::exit(status);
  });
  BOOST_TEST(seen.signal == 0);
  BOOST_TEST(seen.code == 0);
  BOOST_TEST(seen.said == "");
}

BOOST_AUTO_TEST_CASE(posting_a_send_before_the_queue_pair_sends) {
  dies_saying("is in INIT; it sends from RTS on", [] {
    emulated_node node;
    node.to_init();
    auto wr = node.request(IBV_WR_SEND, 1);
    node.post(wr);
  });
}

BOOST_AUTO_TEST_CASE(posting_a_receive_in_reset) {
  dies_saying("is in RESET; it takes receives from INIT on", [] {
    emulated_node node;
    node.post_receive(1);
  });
}

BOOST_AUTO_TEST_CASE(completing_more_than_a_completion_queue_holds) {
  dies_saying("overrun: it has room for 2 completions", [] {
    emulated_node node({.completion_depth = 2});
    node.connect(node.address());
    ibv_qp_attr to{};
    to.qp_state = IBV_QPS_ERR;
    for (std::uint64_t i = 0; i < 3; ++i)
      node.post_receive(i);
    ibv_modify_qp(node.qp, &to, IBV_QP_STATE);
  });
}

BOOST_AUTO_TEST_CASE(ending_a_region_that_a_request_uses) {
  dies_saying("1 requests under way use the region", [] {
    emulated_node node;
    node.connect(node.address());
    auto wr = node.request(IBV_WR_SEND, 1);
    node.post(wr, {node.piece(0, 100)});  // there is no receive: it stays under way
    ibv_dereg_mr(node.mr);
  });
}

BOOST_AUTO_TEST_CASE(ending_a_protection_domain_with_regions) {
  dies_saying("1 memory regions of this protection domain", [] {
    emulated_node node;
    ibv_dealloc_pd(node.pd);
  });
}

BOOST_AUTO_TEST_CASE(ending_a_protection_domain_with_queue_pairs) {
  dies_saying("1 queue pairs of this protection domain", [] {
    emulated_node node;
    ibv_dereg_mr(node.mr);
    ibv_dealloc_pd(node.pd);
  });
}

BOOST_AUTO_TEST_CASE(ending_a_completion_queue_that_is_used) {
  dies_saying("2 queues still complete to this completion queue", [] {
    emulated_node node;
    ibv_destroy_cq(node.cq);
  });
}

BOOST_AUTO_TEST_CASE(ending_a_channel_that_is_used) {
  dies_saying("1 completion queues still report to this channel", [] {
    emulated_node node({.has_channel = true});
    ibv_destroy_comp_channel(node.channel);
  });
}

BOOST_AUTO_TEST_CASE(closing_a_device_before_what_was_made_on_it) {
  dies_saying("emu0 is closed before what was made on it: 1 queue pairs 1 completion queues", [] {
    emulated_node node;
    ibv_close_device(node.context);
  });
}

BOOST_AUTO_TEST_CASE(asking_for_events_without_a_channel) {
  dies_saying("without a completion channel", [] {
    emulated_node node;
    ibv_req_notify_cq(node.cq, 0);
  });
}

BOOST_AUTO_TEST_CASE(ending_a_completion_queue_whose_events_were_not_acknowledged) {
  dies_saying("1 events of this completion queue were got and not acknowledged", [] {
    emulated_node node({.has_channel = true});
    node.connect(node.address());
    ibv_req_notify_cq(node.cq, 0);
    auto wr = node.aimed(IBV_WR_RDMA_WRITE, 1, node);
    node.post(wr, {node.piece(0, 8)});
    ibv_cq* cq = nullptr;
    void* owner = nullptr;
    ibv_get_cq_event(node.channel, &cq, &owner);
    ibv_destroy_qp(node.qp);
    ibv_destroy_cq(node.cq);
  });
}
