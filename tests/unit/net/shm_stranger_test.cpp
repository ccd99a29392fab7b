#define BOOST_TEST_MODULE net_shm_stranger
#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <cstddef>

#include "net/shm/shm_frame_wire.hpp"
#include "net/shm/shm_greeting_wire.hpp"
#include "net/shm/shm_segment_layout.hpp"
#include "tests/unit/net/shm_node.hpp"

// A peer that knows the format and means harm: whatever it writes into the memory it shares, the
// other end loses at most the lane.
namespace {

using namespace troupe;
using namespace troupe::net;
using kind = lane_event::kind;

constexpr shm_geometry usual{.ring_bytes = 1 << 17, .bulk_bytes = 0, .depth = 32};
constexpr shm_geometry with_bulk{.ring_bytes = 1 << 17, .bulk_bytes = 1 << 16, .depth = 32};

int make_memory(std::uint64_t bytes, int seals) {
  const int file = ::memfd_create("stranger", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  BOOST_REQUIRE(::ftruncate(file, static_cast<off_t>(bytes)) == 0);
  if (seals != 0) BOOST_REQUIRE(::fcntl(file, F_ADD_SEALS, seals) == 0);
  return file;
}

// Dials by hand.
struct stranger {
  explicit stranger(const lane_address& to)
      : socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    const auto text = std::string(1, '\0') + "troupe.shm." + to_string(to);
    std::memcpy(name.sun_path, text.data(), text.size());
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + text.size());
    BOOST_REQUIRE(::connect(socket, reinterpret_cast<sockaddr*>(&name), length) == 0);
  }
  ~stranger() {
    ::close(socket);
    if (memory != nullptr) ::munmap(memory, size);
  }
  stranger(const stranger&) = delete;
  stranger& operator=(const stranger&) = delete;

  void send(std::span<const std::byte> bytes, int file = -1) {
    iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    if (file >= 0) {
      message.msg_control = control;
      message.msg_controllen = sizeof control;
      auto* const header = CMSG_FIRSTHDR(&message);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN(sizeof file);
      std::memcpy(CMSG_DATA(header), &file, sizeof file);
    }
    ::sendmsg(socket, &message, MSG_NOSIGNAL);
  }

  void say_hello() {
    send(encode(shm_greeting{.what = shm_greeting::kind::hello,
                             .probe_address = reinterpret_cast<std::uintptr_t>(&probe),
                             .probe_value = probe,
                             .sizes = {}}));
  }

  // The answer of the node, or nothing if it closed.
  bool hears_answer(shm_node& node) {
    std::array<std::byte, 64> bytes;
    for (int i = 0; i < 10'000; ++i) {
      node.poll();
      const auto got = ::recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (got == 0) return false;
      if (got > 0) return got == shm_greeting_bytes;
    }
    return false;
  }

  bool is_refused(shm_node& node) {
    std::byte byte;
    const auto before = node.network->refused_total();
    for (int i = 0; i < 10'000; ++i) {
      node.poll();
      if (::recv(socket, &byte, 1, MSG_DONTWAIT) == 0)
        return node.network->refused_total() > before || before > 0;
    }
    return false;
  }

  // A whole lane, with its memory mapped here once.
  bool open(shm_node& node, const shm_geometry& sizes) {
    geometry = sizes;
    say_hello();
    if (!hears_answer(node)) return false;
    size = segment_bytes(sizes, 4096);
    const int file = make_memory(size, F_SEAL_SHRINK | F_SEAL_GROW);
    memory =
        static_cast<std::byte*>(::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    send(encode(shm_greeting{.what = shm_greeting::kind::segment, .sizes = sizes}), file);
    ::close(file);
    return node.has_lane();
  }

  shm_side& mine() { return reinterpret_cast<shm_header*>(memory)->sides[0]; }
  std::byte* ring() { return memory + 4096; }

  void put(const shm_frame& frame, std::uint64_t claimed_bytes) {
    std::array<std::byte, shm_source_header_bytes> header{};
    const auto length = encode(frame, header);
    std::memcpy(ring() + at, header.data(), length);
    at += claimed_bytes;
    mine().frames_written.store(at);
  }

  int socket;
  std::uint64_t probe = 0x7072'6f62'6521;
  std::byte* memory = nullptr;
  std::uint64_t size = 0;
  std::uint64_t at = 0;
  shm_geometry geometry;
};

// What a node's lane is lost of after `act`.
errc end_of(const shm_geometry& sizes, const std::function<void(stranger&, shm_node&)>& act) {
  shm_node node(test_address(::getpid(), 1), "pull");
  stranger peer(node.network->address());
  BOOST_REQUIRE(peer.open(node, sizes));
  act(peer, node);
  // Another lane of the same endpoint goes on.
  stranger friendly(node.network->address());
  BOOST_REQUIRE(node.sees(kind::lane_lost));
  BOOST_TEST(node.totals[kind::message_arrived] + node.totals[kind::write_arrived] == 0u);
  BOOST_TEST(friendly.open(node, sizes));
  return node.last_cause.code;
}

shm_frame source_write(std::uint64_t key, std::uint64_t source, std::uint64_t bytes) {
  return {.what = shm_frame::kind::source_write,
          .immediate = 1,
          .bytes = bytes,
          .target = {key, 0},
          .source = source};
}

}  // namespace

BOOST_AUTO_TEST_CASE(garbage_instead_of_a_greeting_is_refused) {
  shm_node node(test_address(::getpid(), 1));
  const std::array<std::byte, 48> zeros{};
  for (const std::size_t length : {1, 47, 48}) {
    stranger peer(node.network->address());
    peer.send(std::span(zeros).first(length));
    BOOST_TEST(peer.is_refused(node));
  }
  BOOST_TEST(node.network->refused_total() == 3u);
  BOOST_TEST(node.lanes.empty());
}

BOOST_AUTO_TEST_CASE(a_greeting_out_of_turn_is_refused) {
  shm_node node(test_address(::getpid(), 1));
  stranger peer(node.network->address());
  peer.send(encode(shm_greeting{.what = shm_greeting::kind::segment, .sizes = usual}));
  BOOST_TEST(peer.is_refused(node));
}

BOOST_AUTO_TEST_CASE(another_user_gets_no_answer,
                     *boost::unit_test::precondition([](boost::unit_test::test_unit_id) {
                       return ::geteuid() == 0;  // only root can become somebody else
                     })) {
  shm_node node(test_address(::getpid(), 1));
  const auto child = ::fork();
  if (child == 0) {
    if (::setuid(65534) != 0) ::_exit(1);
    stranger peer(node.network->address());
    peer.say_hello();
    std::array<std::byte, 64> answer;
    ::_exit(::recv(peer.socket, answer.data(), answer.size(), 0) > 0 ? 2 : 0);
  }
  BOOST_TEST(node.poll_until([&] { return node.network->refused_total() == 1; },
                             std::chrono::seconds(10)));
  int status = -1;
  ::waitpid(child, &status, 0);
  BOOST_TEST(status == 0);
}

BOOST_AUTO_TEST_CASE(memory_that_could_shrink_or_has_another_size_is_refused) {
  shm_node node(test_address(::getpid(), 1), "pull");
  const auto is_refused = [&](int file) {
    stranger peer(node.network->address());
    peer.say_hello();
    BOOST_REQUIRE(peer.hears_answer(node));
    peer.send(encode(shm_greeting{.what = shm_greeting::kind::segment, .sizes = usual}), file);
    if (file >= 0) ::close(file);
    return peer.is_refused(node);
  };
  const auto bytes = segment_bytes(usual, 4096);
  BOOST_TEST(is_refused(-1));
  BOOST_TEST(is_refused(make_memory(bytes, 0)));
  BOOST_TEST(is_refused(make_memory(bytes, F_SEAL_GROW)));
  BOOST_TEST(is_refused(make_memory(bytes - 4096, F_SEAL_SHRINK | F_SEAL_GROW)));
  BOOST_TEST(is_refused(::open("/dev/null", O_RDWR | O_CLOEXEC)));
  BOOST_TEST(node.lanes.empty());
}

BOOST_AUTO_TEST_CASE(who_cannot_be_read_must_bring_a_bulk_ring) {
  shm_node node(test_address(::getpid(), 1), "ring");
  stranger peer(node.network->address());
  peer.say_hello();
  BOOST_REQUIRE(peer.hears_answer(node));
  const int file = make_memory(segment_bytes(usual, 4096), F_SEAL_SHRINK | F_SEAL_GROW);
  peer.send(encode(shm_greeting{.what = shm_greeting::kind::segment, .sizes = usual}), file);
  ::close(file);
  BOOST_TEST(peer.is_refused(node));
}

BOOST_AUTO_TEST_CASE(a_silent_stranger_is_dropped_and_does_not_keep_the_endpoint_awake) {
  shm_node node(test_address(::getpid(), 1));
  stranger peer(node.network->address());
  std::byte byte;
  const auto start = clock_now();
  BOOST_TEST(node.poll_until([&] { return ::recv(peer.socket, &byte, 1, MSG_DONTWAIT) == 0; },
                             std::chrono::seconds(5)));
  BOOST_TEST((clock_now() - start > std::chrono::seconds(1)));
  BOOST_TEST(node.sleeps < 10u);
}

BOOST_AUTO_TEST_CASE(cursors_that_cannot_be_lose_the_lane) {
  BOOST_TEST((end_of(usual, [](stranger& peer, shm_node&) {
                peer.mine().frames_written.store((1 << 17) + 16);
              }) == errc::malformed));
  BOOST_TEST((end_of(usual, [](stranger& peer, shm_node&) {
                peer.mine().frames_written.store(~0ull);
              }) == errc::malformed));
  BOOST_TEST((end_of(usual, [](stranger& peer, shm_node& node) {
                node.say("once");
                peer.mine().sources_done.store(1);
                node.lanes[0]->post_write({node.view, {1, 0}, 1, 1});
                peer.mine().sources_done.store(5);
              }) == errc::malformed));
}

BOOST_AUTO_TEST_CASE(a_reader_that_runs_ahead_loses_the_lane) {
  const auto end = end_of(usual, [](stranger& peer, shm_node& node) {
    peer.mine().frames_read.store(1ull << 40);
    // Posts go on until the node asks how much room there is.
    for (int i = 0; i < 200 && node.totals[kind::lane_lost] == 0; ++i) {
      const std::array<std::byte, lane_message_bytes_max> bytes{};
      node.lanes[0]->post_message(bytes);
      node.lanes[0]->post_write({node.view.part(0, 100), {1, 0}, 1, 1});
      node.poll_lane(*node.lanes[0]);
    }
  });
  BOOST_TEST((end == errc::malformed));
}

BOOST_AUTO_TEST_CASE(frames_that_cannot_be_lose_the_lane) {
  BOOST_TEST((end_of(usual, [](stranger& peer, shm_node&) {
                peer.mine().frames_written.store(16);  // zeros
              }) == errc::malformed));
  BOOST_TEST((end_of(usual, [](stranger& peer, shm_node&) {
                // It says that it is longer than what was written.
                peer.put({.what = shm_frame::kind::message, .bytes = 1000, .target = {}}, 32);
              }) == errc::malformed));
  BOOST_TEST((end_of(usual, [](stranger& peer, shm_node&) {
                peer.put(source_write(1, 0, 10), 32);  // cut
              }) == errc::malformed));
  BOOST_TEST((end_of(usual, [](stranger& peer, shm_node& node) {
                peer.put({.what = shm_frame::kind::inline_write,
                          .bytes = shm_inline_bytes_max,
                          .target = {node.key, 0}},
                         1 << 16);
              }) == errc::malformed));
}

BOOST_AUTO_TEST_CASE(a_source_that_is_not_there_loses_the_lane) {
  for (const std::uint64_t source : {0ull, 8ull, 0xffff'8000'0000'0000ull, ~0ull})
    BOOST_TEST((end_of(usual, [&](stranger& peer, shm_node& node) {
                  peer.put(source_write(node.key, source, 1 << 20), 48);
                }) == errc::peer_lost));
}

BOOST_AUTO_TEST_CASE(a_write_beyond_its_target_is_refused_and_reads_nothing) {
  shm_node node(test_address(::getpid(), 1), "pull");
  stranger peer(node.network->address());
  BOOST_REQUIRE(peer.open(node, usual));
  peer.put(source_write(node.key, 0, node.memory.size() + 1), 48);
  peer.put(source_write(node.key, 0, 1ull << 48), 48);
  BOOST_TEST(node.sees(kind::write_refused, 2));
  BOOST_TEST(node.totals[kind::lane_lost] == 0u);
}

BOOST_AUTO_TEST_CASE(a_bulk_ring_that_lies_loses_the_lane) {
  BOOST_TEST((end_of(with_bulk, [](stranger& peer, shm_node& node) {
                peer.put(source_write(node.key, 0, 1 << 20), 48);
                peer.mine().bulk_written.store(1 << 20);
              }) == errc::malformed));
}

BOOST_AUTO_TEST_CASE(a_stranger_that_rings_without_end_costs_a_bounded_time) {
  shm_node node(test_address(::getpid(), 1), "pull");
  stranger peer(node.network->address());
  BOOST_REQUIRE(peer.open(node, usual));
  const std::array<std::byte, 1> bell{};
  for (int i = 0; i < 1000; ++i)
    ::send(peer.socket, bell.data(), 1, MSG_DONTWAIT | MSG_NOSIGNAL);
  const auto start = clock_now();
  for (int i = 0; i < 100; ++i)
    node.poll();
  BOOST_TEST((clock_now() - start < std::chrono::milliseconds(500)));
  BOOST_TEST(node.totals[kind::lane_lost] == 0u);
}
