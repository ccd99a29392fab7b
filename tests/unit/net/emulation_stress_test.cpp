#define BOOST_TEST_MODULE net_emulation_stress
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "tests/unit/net/emulated_node.hpp"

namespace {

using namespace troupe::net;

constexpr std::uint32_t message_count = 600;
constexpr std::uint32_t window = 8;
constexpr std::size_t slot_bytes = 100'000;

// Some messages are lost, doubled or overtaken in every case here.
struct faults_of_process {
  faults_of_process() {
    ::setenv("TROUPE_EMULATION_FAULTS", "loss all 1%; duplicate all 1%; reorder all 50us", 1);
  }
};

std::size_t bytes_of(std::uint32_t message) {
  return 1 + message * 7919u % (message % 5 == 0 ? slot_bytes : 2000);
}

std::byte value_of(std::uint32_t message, std::size_t at) {
  return static_cast<std::byte>(message * 31 + at);
}

// What a thread counts, so that only one touches the test's log.
struct outcome_of_thread {
  std::uint32_t messages = 0;
  std::uint32_t wrong = 0;
};

void send_all(emulated_node& node, const emulated_node& target, outcome_of_thread& seen) {
  std::uint32_t posted = 0;
  while (seen.messages < message_count) {
    if (posted < message_count && posted - seen.messages < window) {
      const auto at = posted % window * slot_bytes;
      const auto bytes = bytes_of(posted);
      for (std::size_t i = 0; i < bytes; ++i)
        node.memory[at + i] = value_of(posted, i);
      auto wr = node.aimed(IBV_WR_RDMA_WRITE_WITH_IMM, posted, target, at);
      wr.imm_data = posted++;
      seen.wrong += node.post(wr, {node.piece(at, bytes)}) == 0 ? 0 : 1;
      continue;
    }
    const auto done = node.completion();
    seen.wrong += done && done->status == IBV_WC_SUCCESS && done->wr_id == seen.messages ? 0 : 1;
    if (!done || done->status != IBV_WC_SUCCESS) return;
    ++seen.messages;
  }
}

// The sender writes a slot again only after `window` messages, and the receiver gives it a receive
// for each: a slot is looked at before it is written again.
void receive_all(emulated_node& node, outcome_of_thread& seen) {
  while (seen.messages < message_count) {
    const auto done = node.completion();
    if (!done || done->status != IBV_WC_SUCCESS) {
      ++seen.wrong;
      return;
    }
    const auto at = seen.messages % window * slot_bytes;
    const auto bytes = bytes_of(seen.messages);
    bool equal = done->imm_data == seen.messages && done->byte_len == bytes;
    for (std::size_t i = 0; i < bytes; ++i)
      equal = equal && node.memory[at + i] == value_of(seen.messages, i);
    seen.wrong += equal ? 0 : 1;
    ++seen.messages;
    if (seen.messages + window <= message_count) seen.wrong += node.post_receive(0) == 0 ? 0 : 1;
  }
}

}  // namespace

BOOST_TEST_GLOBAL_FIXTURE(faults_of_process);

BOOST_AUTO_TEST_CASE(every_message_arrives_once_in_order_and_whole_whatever_the_wire_does) {
  constexpr std::size_t pair_count = 3;
  std::vector<std::unique_ptr<emulated_node>> nodes;
  std::vector<outcome_of_thread> seen(2 * pair_count);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 2 * pair_count; ++i) {
    nodes.push_back(std::make_unique<emulated_node>(emulated_node_options{
        .send_depth = window, .receive_depth = window, .memory_bytes = window * slot_bytes}));
    nodes[i]->timeout = 7;  // 0.5 ms
    nodes[i]->retry_count = 7;
  }
  for (std::size_t i = 0; i < 2 * pair_count; i += 2) {
    connect(*nodes[i], *nodes[i + 1]);
    for (std::uint32_t r = 0; r < window; ++r)
      nodes[i + 1]->post_receive(r);
  }
  for (std::size_t i = 0; i < 2 * pair_count; i += 2) {
    threads.emplace_back([&, i] { send_all(*nodes[i], *nodes[i + 1], seen[i]); });
    threads.emplace_back([&, i] { receive_all(*nodes[i + 1], seen[i + 1]); });
  }
  for (auto& thread : threads)
    thread.join();
  for (const auto& each : seen) {
    BOOST_TEST(each.messages == message_count);
    BOOST_TEST(each.wrong == 0u);
  }
}
