#define BOOST_TEST_MODULE net_emulation_process
#include <boost/test/unit_test.hpp>

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <functional>

#include "tests/unit/net/emulated_node.hpp"

namespace {

using namespace troupe::net;
using clock_type = std::chrono::steady_clock;

// What the two processes tell each other before verbs can.
struct card {
  emulated_address address;
  std::uint64_t memory = 0;
  std::uint32_t key = 0;
};

class wire {
 public:
  explicit wire(int number) : number_(number) {}
  void say(const card& what) const {
    if (::write(number_, &what, sizeof what) != sizeof what) ::_exit(90);
  }
  card hear() const {
    card what;
    if (::read(number_, &what, sizeof what) != sizeof what) ::_exit(91);
    return what;
  }

 private:
  int number_;
};

card card_of(const emulated_node& node) {
  return {.address = node.address(),
          .memory = reinterpret_cast<std::uintptr_t>(node.memory.data()),
          .key = node.mr->rkey};
}

// Another process, forked before this one opens a device; its exit status is what `run` returns.
class other_process {
 public:
  explicit other_process(const std::function<int(const wire&)>& run) {
    std::array<int, 2> ends{};
    BOOST_REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends.data()) == 0);
    id_ = ::fork();
    if (id_ == 0) ::_exit(run(wire(ends[1])));
    ::close(ends[1]);
    here_ = ends[0];
  }
  ~other_process() {
    signal(SIGKILL);
    status();
    ::close(here_);
  }
  other_process(const other_process&) = delete;
  other_process& operator=(const other_process&) = delete;

  wire to() const { return wire(here_); }
  void signal(int number) const {
    if (!ended_) ::kill(id_, number);
  }
  void stop() const {
    signal(SIGSTOP);
    int stopped = 0;
    ::waitpid(id_, &stopped, WUNTRACED);
  }
  int status() {
    if (!ended_) ::waitpid(id_, &status_, 0);
    ended_ = true;
    return status_;
  }

 private:
  ::pid_t id_ = 0;
  int here_ = -1;
  int status_ = 0;
  bool ended_ = false;
};

// Lets its memory be used and does nothing until it is told to end.
int lie_still(const wire& to) {
  emulated_node node;
  for (std::size_t i = 0; i < node.memory.size(); ++i)
    node.memory[i] = static_cast<std::byte>(i * 7);
  node.to_init();
  to.say(card_of(node));
  const auto peer = to.hear();
  node.to_ready_to_receive(peer.address);
  node.to_ready_to_send();
  to.say(card_of(node));
  to.hear();
  for (std::size_t i = 0; i < 300'000; ++i)
    if (node.memory[i] != static_cast<std::byte>(i * 3)) return 1;
  return 0;
}

struct connection {
  other_process process;
  emulated_node node;
  card peer;

  explicit connection(const std::function<int(const wire&)>& run) : process(run) {
    node.to_init();
    peer = process.to().hear();
    process.to().say(card_of(node));
    process.to().hear();
    node.to_ready_to_receive(peer.address);
    node.to_ready_to_send();
  }

  ibv_send_wr aimed(ibv_wr_opcode opcode, std::uint64_t wr_id) const {
    auto wr = node.request(opcode, wr_id);
    wr.wr.rdma.remote_addr = peer.memory;
    wr.wr.rdma.rkey = peer.key;
    return wr;
  }
};

ibv_wc_status status_of(emulated_node& node) {
  const auto done = node.completion();
  BOOST_REQUIRE(done);
  return done->status;
}

}  // namespace

BOOST_AUTO_TEST_CASE(memory_of_a_process_that_calls_nothing_is_read_and_written) {
  connection with(lie_still);
  auto read = with.aimed(IBV_WR_RDMA_READ, 1);
  BOOST_TEST(with.node.post(read, {with.node.piece(0, 500'000)}) == 0);
  BOOST_TEST(status_of(with.node) == IBV_WC_SUCCESS);
  bool equal = true;
  for (std::size_t i = 0; i < 500'000; ++i)
    equal = equal && with.node.memory[i] == static_cast<std::byte>(i * 7);
  BOOST_TEST(equal);
  for (std::size_t i = 0; i < 300'000; ++i)
    with.node.memory[i] = static_cast<std::byte>(i * 3);
  auto write = with.aimed(IBV_WR_RDMA_WRITE, 2);
  BOOST_TEST(with.node.post(write, {with.node.piece(0, 300'000)}) == 0);
  BOOST_TEST(status_of(with.node) == IBV_WC_SUCCESS);
  with.process.to().say({});
  BOOST_TEST(with.process.status() == 0);
}

BOOST_AUTO_TEST_CASE(a_killed_peer_ends_in_retry_exceeded_and_the_rest_is_flushed) {
  connection with(lie_still);
  with.process.signal(SIGKILL);
  const auto start = clock_type::now();
  for (std::uint64_t i = 0; i < 4; ++i) {
    auto write = with.aimed(IBV_WR_RDMA_WRITE, i);
    BOOST_TEST(with.node.post(write, {with.node.piece(0, 300'000)}) == 0);
  }
  auto first = status_of(with.node);
  std::size_t landed = 0;  // the kill may come late
  for (; first == IBV_WC_SUCCESS && landed < 3; ++landed)
    first = status_of(with.node);
  BOOST_TEST(first == IBV_WC_RETRY_EXC_ERR);
  // 4.096 us * 2^12, three times
  BOOST_TEST((clock_type::now() - start >= std::chrono::milliseconds(50)));
  for (; landed < 3; ++landed)
    BOOST_TEST(status_of(with.node) == IBV_WC_WR_FLUSH_ERR);
}

BOOST_AUTO_TEST_CASE(a_stopped_peer_is_waited_for_and_costs_no_retry) {
  connection with(lie_still);
  with.process.stop();
  auto write = with.aimed(IBV_WR_RDMA_WRITE, 1);
  BOOST_TEST(with.node.post(write, {with.node.piece(0, 300'000)}) == 0);
  // Ten times the retries.
  BOOST_TEST(with.node.stays_quiet(500));
  with.process.signal(SIGCONT);
  BOOST_TEST(status_of(with.node) == IBV_WC_SUCCESS);
}
