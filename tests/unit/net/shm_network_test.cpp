#define BOOST_TEST_MODULE net_shm_network
#include <boost/test/unit_test.hpp>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "tests/unit/net/shm_node.hpp"

namespace {

using namespace troupe;
using namespace troupe::net;
using namespace std::chrono_literals;
using kind = lane_event::kind;

// A process of its own; its exit status is what `run` returns.
class child_process {
 public:
  explicit child_process(const std::function<int()>& run) : id_(::fork()) {
    if (id_ == 0) ::_exit(run());
  }
  ~child_process() {
    kill();
    end();
  }
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;

  ::pid_t id() const { return id_; }
  void kill() {
    if (!ended_) ::kill(id_, SIGKILL);
  }
  int end() {
    if (!ended_) ::waitpid(id_, &status_, 0);
    ended_ = true;
    return status_;
  }

 private:
  ::pid_t id_;
  bool ended_ = false;
  int status_ = 0;
};

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::byte pattern(std::uint64_t position) {
  return static_cast<std::byte>(position * 131 + (position >> 8) * 7 + 1);
}

constexpr std::uint64_t large_bytes = 3 << 20;

// Says the key of its memory, then waits for the peer's three writes and compares them.
int receive_large_writes(const lane_address& here, const std::string& large_writes) {
  shm_node node(here, large_writes);
  if (!node.has_lane()) return 1;
  node.say(std::to_string(node.key));
  if (!node.sees(kind::write_arrived, 3)) return 2;
  for (std::uint64_t i = 0; i < large_bytes; ++i)
    if (node.memory[i] != pattern(i)) return 3;
  node.say(node.lanes[0]->describe());
  return node.sees(kind::lane_lost) ? 0 : 4;
}

void send_large_writes(const std::string& mine, const std::string& theirs,
                       const std::string& expected) {
  const auto main_process = ::getpid();
  child_process child([&] { return receive_large_writes(test_address(main_process, 2), theirs); });
  shm_node node(test_address(main_process, 1), mine);
  while (!node.connect(test_address(main_process, 2)))
    node.dial_cause = {};
  BOOST_REQUIRE(node.sees(kind::message_arrived));
  const auto key = std::stoull(node.messages);
  for (std::uint64_t i = 0; i < large_bytes; ++i)
    node.memory[i] = pattern(i);
  for (std::uint64_t i = 0; i < 3; ++i) {
    const auto piece = large_bytes / 3;
    const lane_write write{node.view.part(i * piece, piece), {key, i * piece}, 7, i};
    BOOST_TEST((node.lanes[0]->post_write(write) == post_status::accepted));
  }
  BOOST_TEST(node.sees(kind::write_completed, 3));
  BOOST_TEST(node.sees(kind::message_arrived, 2));
  BOOST_TEST(contains(node.messages, expected), node.messages);
  BOOST_TEST(contains(node.lanes[0]->describe(), expected), node.lanes[0]->describe());
  node.lanes[0]->close();
  BOOST_TEST(child.end() == 0);
}

// Names of unix-domain sockets that belong to this test.
std::size_t names_left(::pid_t process) {
  std::ifstream file("/proc/net/unix");
  const auto name = to_string(test_address(process, 2));
  std::size_t count = 0;
  for (std::string line; std::getline(file, line);)
    count += contains(line, name) ? 1u : 0u;
  return count;
}

std::set<std::string> files_in_shared_memory() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm"))
    names.insert(entry.path().string());
  return names;
}

}  // namespace

BOOST_AUTO_TEST_CASE(two_processes_exchange_large_writes_with_one_copy) {
  send_large_writes("auto", "auto", "pulled");
}

BOOST_AUTO_TEST_CASE(two_processes_that_may_not_read_each_other_use_the_ring) {
  send_large_writes("auto", "ring", "through the ring");
  send_large_writes("ring", "auto", "through the ring");
}

BOOST_AUTO_TEST_CASE(it_says_why_large_writes_take_the_ring) {
  shm_node one(test_address(::getpid(), 1), "ring");
  shm_node two(test_address(::getpid(), 2), "ring");
  one.network->dial(two.network->address(), 0, clock_now() + 20s);
  for (int i = 0; i < 1000 && one.lanes.empty(); ++i)
    one.poll(), two.poll();
  BOOST_REQUIRE(!one.lanes.empty());
  BOOST_TEST(contains(one.network->trouble(), "shm.large_writes"), one.network->trouble());
}

BOOST_AUTO_TEST_CASE(a_killed_process_is_noticed_after_what_it_wrote_and_leaves_nothing) {
  const auto main_process = ::getpid();
  const auto files = files_in_shared_memory();
  child_process child([&] {
    shm_node node(test_address(main_process, 2));
    if (!node.has_lane()) return 1;
    node.say("last words");
    // A write whose source dies with its process, and words behind it.
    node.lanes[0]->post_write({node.view, {1, 0}, 7, 7});
    node.say("too late");
    for (;;)
      ::pause();
  });
  shm_node node(test_address(main_process, 1));
  while (!node.connect(test_address(main_process, 2)))
    node.dial_cause = {};
  ::usleep(50'000);
  BOOST_TEST(names_left(main_process) == 2u);
  child.kill();
  child.end();
  const auto killed = clock_now();
  BOOST_TEST(node.sees(kind::lane_lost));
  BOOST_TEST((clock_now() - killed < 1s));
  BOOST_TEST(contains(node.messages, "last words"));
  BOOST_TEST((node.last_cause.code == errc::peer_lost));
  BOOST_TEST((node.lanes[0]->post_message({}) == post_status::lost));
  node.lanes.clear();
  BOOST_TEST(names_left(main_process) == 0u);
  BOOST_TEST((files_in_shared_memory() == files));
}

BOOST_AUTO_TEST_CASE(a_second_job_does_not_meet_the_memory_of_the_first) {
  shm_node two(test_address(::getpid(), 2), "pull");
  const auto life = [&] {
    shm_node one(test_address(::getpid(), 1), "pull");
    const auto before = two.lanes.size();
    one.network->dial(two.network->address(), 0, clock_now() + 20s);
    for (int i = 0; i < 1000 && (one.lanes.empty() || two.lanes.size() == before); ++i)
      one.poll(), two.poll();
    one.say("hello");
    one.lanes[0]->post_write({one.view, {two.key, 0}, 7, 7});
  };
  life();
  life();
  two.sees(kind::lane_lost, 2);
  BOOST_TEST(two.messages == "hellohello");
  // The sources were gone when it looked: nothing may be said of them.
  BOOST_TEST(two.totals[kind::write_arrived] == 0u);
}

BOOST_AUTO_TEST_CASE(memory_that_is_not_there_is_told_with_needed_and_available) {
  std::signal(SIGXFSZ, SIG_DFL);
  child_process child([] {
    const rlimit limit{100'000, 100'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    buffer_table buffers(1);
    shm_network_options options;
    options.address = test_address(::getpid(), 9);
    const auto made = shm_network::make(options, buffers);
    if (made) return 1;
    const auto& text = made.error().message;
    const bool both = contains(text, " bytes needed, 100000 available (RLIMIT_FSIZE");
    return made.error().code() == errc::resource_exhausted && both ? 0 : 2;
  });
  BOOST_TEST(child.end() == 0);
}

BOOST_AUTO_TEST_CASE(options_that_contradict_are_named) {
  buffer_table buffers(1);
  shm_network_options options;
  options.address = test_address(::getpid(), 9);
  options.memory.lane_depth = 4096;
  const auto made = shm_network::make(options, buffers);
  BOOST_REQUIRE(!made);
  BOOST_TEST(contains(made.error().message, "shm.lane_depth"), made.error().message);
}

BOOST_AUTO_TEST_CASE(a_name_that_is_taken_is_an_error_that_names_it) {
  shm_node first(test_address(::getpid(), 1));
  buffer_table buffers(1);
  shm_network_options options;
  options.address = test_address(::getpid(), 1);
  const auto made = shm_network::make(options, buffers);
  BOOST_REQUIRE(!made);
  BOOST_TEST(contains(made.error().message, to_string(options.address)), made.error().message);
}

BOOST_AUTO_TEST_CASE(another_user_is_refused_on_both_sides,
                     *boost::unit_test::precondition([](boost::unit_test::test_unit_id) {
                       return ::geteuid() == 0;  // only root can become somebody else
                     })) {
  const auto main_process = ::getpid();
  shm_node node(test_address(main_process, 1));
  child_process child([&] {
    if (::setuid(65534) != 0) return 1;
    shm_node other(test_address(main_process, 2));
    if (other.connect(test_address(main_process, 1))) return 2;
    const bool named = contains(other.network->trouble(), "belongs to another user");
    return other.dial_cause == error{errc::unreachable, EPERM} && named ? 0 : 3;
  });
  BOOST_TEST(node.poll_until([&] { return node.network->refused_total() == 1; }, 10s));
  BOOST_TEST(child.end() == 0);
  BOOST_TEST(node.lanes.empty());
}

BOOST_AUTO_TEST_CASE(no_bell_is_lost_between_two_that_park) {
  constexpr std::size_t round_count = 20'000;
  const auto play = [](shm_node& node, bool begins) {
    for (std::size_t i = 0; i < round_count; ++i) {
      if (begins) node.say("x");
      // Now and then a moment passes: the other end parks at every point of this loop.
      if (i % 7 == 0) std::this_thread::yield();
      if (!node.poll_until([&] { return node.messages.size() > i; }, 2s)) return false;
      if (!begins) node.say("x");
    }
    return true;
  };
  shm_node one(test_address(::getpid(), 1));
  shm_node two(test_address(::getpid(), 2));
  one.network->dial(two.network->address(), 0, clock_now() + 20s);
  for (int i = 0; i < 1000 && (one.lanes.empty() || two.lanes.empty()); ++i)
    one.poll(), two.poll();
  BOOST_REQUIRE(!two.lanes.empty());
  std::atomic<bool> other_done{false};
  std::thread other([&] { other_done = play(two, false); });
  const bool done = play(one, true);
  other.join();
  BOOST_TEST(done);
  BOOST_TEST(other_done.load());
  BOOST_TEST(one.sleeps + two.sleeps > round_count / 10);
}

BOOST_AUTO_TEST_CASE(a_sender_that_sleeps_is_woken_when_its_source_was_read) {
  for (const auto* large_writes : {"pull", "ring"}) {
    shm_node one(test_address(::getpid(), 1), large_writes);
    shm_node two(test_address(::getpid(), 2), large_writes);
    one.network->dial(two.network->address(), 0, clock_now() + 20s);
    for (int i = 0; i < 1000 && (one.lanes.empty() || two.lanes.empty()); ++i)
      one.poll(), two.poll();
    BOOST_REQUIRE(!two.lanes.empty());
    one.lanes[0]->post_write({one.view, {two.key, 0}, 7, 7});
    std::atomic<bool> over{false};
    std::thread receiver([&] {
      std::this_thread::sleep_for(50ms);
      while (!over)
        two.poll();
    });
    const auto start = clock_now();
    BOOST_TEST(one.poll_until([&] { return one.totals[kind::write_completed] == 1; }, 5s));
    BOOST_TEST((clock_now() - start < 2s));
    BOOST_TEST(one.sleeps > 0u);
    over = true;
    receiver.join();
  }
}

BOOST_AUTO_TEST_CASE(a_ring_that_nobody_reads_still_takes_depth_writes_and_depth_messages) {
  shm_node one(test_address(::getpid(), 1), "pull");
  shm_node two(test_address(::getpid(), 2), "pull");
  one.network->dial(two.network->address(), 0, clock_now() + 20s);
  for (int i = 0; i < 1000 && (one.lanes.empty() || two.lanes.empty()); ++i)
    one.poll(), two.poll();
  BOOST_REQUIRE(!two.lanes.empty());
  auto& lane = *one.lanes[0];
  std::size_t written = 0;
  // Writes that travel in the ring complete when they are polled, until there is no room for them.
  for (std::size_t bytes = 4000; one.totals[kind::write_completed] + lane.depth() > written;
       bytes = bytes % 4096 + 97) {
    if (lane.post_write({one.view.part(0, bytes), {two.key, 0}, 7, 7}) == post_status::accepted)
      ++written;
    one.poll_lane(lane);
  }
  BOOST_TEST(one.totals[kind::lane_lost] == 0u);
  const std::array<std::byte, lane_message_bytes_max> message{};
  for (std::uint32_t i = 0; i < lane.depth(); ++i)
    BOOST_TEST((lane.post_message(message) == post_status::accepted));
  BOOST_TEST(two.sees(kind::write_arrived, written));
  BOOST_TEST(two.sees(kind::message_arrived, lane.depth()));
}

// ThreadSanitizer goes by addresses, and two ends in one process map the memory through which they
// agree at two: it would call every direct copy a race.
#ifndef __SANITIZE_THREAD__
BOOST_AUTO_TEST_CASE(after_close_nobody_reads_the_sources) {
  constexpr std::uint64_t bytes = 2 << 20;
  shm_node two(test_address(::getpid(), 2));
  std::atomic<bool> over{false};
  std::thread reader([&] {
    while (!over)
      two.poll();
  });
  for (int i = 0; i < 150; ++i) {
    shm_node one(test_address(::getpid(), 1), "auto", 16);
    BOOST_REQUIRE(one.connect(two.network->address()));
    auto* const source = static_cast<std::byte*>(::mmap(
        nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0));
    const auto view = *one.buffers.add(source, bytes);
    for (int n = 0; n < 4; ++n)
      one.lanes[0]->post_write({view, {two.key, 0}, 7, 7});
    ::usleep(static_cast<unsigned>(i % 15) * 20);
    one.lanes[0]->close();
    // Whoever reads on ends this program.
    ::munmap(source, bytes);
    one.buffers.release(view.id);
  }
  over = true;
  reader.join();
  BOOST_TEST(two.totals[kind::write_arrived] > 0u);
}
#endif
