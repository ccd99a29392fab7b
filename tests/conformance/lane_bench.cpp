// What lanes cost: both ends on one thread, so a figure is the work of sender and receiver
// together, and in CPU time, so a busy machine does not change it much.
//
//   lane_bench [scale]    scale 1 (default) takes about a second

#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "net/fabric/fabric.hpp"
#include "tests/conformance/lane_pair.hpp"
#include "tests/conformance/lane_worlds.hpp"

namespace {

using namespace troupe;
using namespace troupe::conformance;
using kind = lane_event::kind;

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

void report(const char* what, double count, double seconds, const char* unit) {
  std::printf("%-58s %10.3f us each %12.0f %s/s\n", what, 1e6 * seconds / count, count / seconds,
              unit);
}

// -- a ring of endpoints in one fabric
// -------------------------------------------------------------

struct ring_member {
  explicit ring_member(net::fabric& world, std::uint32_t number) : buffers(4), memory(64) {
    view = *buffers.add(memory.data(), memory.size());
    key = *buffers.expose(view);
    network = world.make_network(number, buffers);
  }

  buffer_table buffers;
  std::vector<std::byte> memory;
  buffer_view view;
  std::uint64_t key = 0;
  std::unique_ptr<lane_network> network;
  std::vector<std::unique_ptr<lane>> lanes;
  lane* next = nullptr;
};

class fabric_ring {
 public:
  explicit fabric_ring(std::uint32_t count) : world_(net::fabric_options{}) {
    for (std::uint32_t i = 0; i < count; ++i)
      members_.push_back(std::make_unique<ring_member>(world_, i));
    for (std::uint32_t i = 0; i < count; ++i)
      members_[i]->network->dial(net::fabric::address_of((i + 1) % count), i, never);
    run(0);
    for (std::uint32_t i = 0; i < count; ++i)
      for (int tokens = 0; tokens < 4; ++tokens)
        pass_on(i);
  }

  // Every write that arrives is answered by one to the next endpoint.
  void run(std::uint64_t arrivals) {
    const auto until = arrived_ + arrivals;
    do {
      for (std::uint32_t endpoint = 0; world_.take_ready(endpoint);)
        poll(endpoint);
    } while ((arrivals == 0 || arrived_ < until) && world_.run_next());
  }

  std::uint64_t arrived() const { return arrived_; }
  const net::fabric& world() const { return world_; }

 private:
  void pass_on(std::uint32_t from) {
    auto& member = *members_[from];
    const auto& to = *members_[(from + 1) % members_.size()];
    member.next->post_write({member.view.part(0, 8), {to.key, 0}, 1, 0});
  }

  void poll(std::uint32_t endpoint) {
    auto& member = *members_[endpoint];
    std::array<network_event, 8> events;
    while (const auto count = member.network->poll(world_.now(), events)) {
      for (std::size_t i = 0; i < count; ++i) {
        auto& event = events[i];
        if (event.what == network_event::kind::connected) member.next = event.opened.get();
        if (event.opened) member.lanes.push_back(std::move(event.opened));
        if (event.what == network_event::kind::lane_ready) poll_lane(endpoint, *event.ready);
      }
    }
  }

  void poll_lane(std::uint32_t endpoint, lane& ready) {
    std::array<lane_event, 16> events;
    const auto count = ready.poll(events);
    for (std::size_t i = 0; i < count; ++i) {
      if (events[i].what != kind::write_arrived) continue;
      ++arrived_;
      pass_on(endpoint);
    }
  }

  net::fabric world_;
  std::vector<std::unique_ptr<ring_member>> members_;
  std::uint64_t arrived_ = 0;
};

void bench_fabric(std::uint32_t endpoints, std::uint64_t arrivals) {
  fabric_ring ring(endpoints);
  const auto start = cpu_seconds();
  ring.run(arrivals);
  char what[80];
  std::snprintf(what, sizeof what, "fabric: ring of %u endpoints, 8 byte writes", endpoints);
  report(what, static_cast<double>(ring.arrived()), cpu_seconds() - start, "writes");
}

// -- one lane
// --------------------------------------------------------------------------------------

void bench_ping_pong(lane_world& world, const std::string& name, std::uint64_t rounds) {
  lane_pair pair(world);
  if (!pair.connect()) std::abort();
  pair.remembers = false;
  const std::array<std::byte, 16> message{};
  pair.observer = [&](int side, std::size_t, const lane_event& event) {
    if (event.what == kind::message_arrived) pair.at(side).post_message(message);
  };
  const auto start = cpu_seconds();
  pair.at(0).post_message(message);
  while (pair.total(0, kind::message_arrived) < rounds)
    pair.pump();
  report((name + ": 16 byte message there and back").c_str(), static_cast<double>(rounds),
         cpu_seconds() - start, "round trips");
}

void bench_messages(lane_world& world, const std::string& name, std::uint64_t count) {
  lane_pair pair(world);
  if (!pair.connect()) std::abort();
  pair.remembers = false;
  const std::array<std::byte, 64> message{};
  const auto start = cpu_seconds();
  for (std::uint64_t sent = 0; pair.total(1, kind::message_arrived) < count;) {
    for (int i = 0; i < 32 && sent < count; ++i)
      sent += pair.at(0).post_message(message) == post_status::accepted ? 1 : 0;
    pair.pump();
  }
  report((name + ": 64 byte messages, 32 posted between polls").c_str(), static_cast<double>(count),
         cpu_seconds() - start, "messages");
}

void bench_writes(lane_world& world, const std::string& name, std::uint64_t bytes,
                  std::uint64_t count) {
  lane_pair pair(world, bytes);
  if (!pair.connect()) std::abort();
  pair.remembers = false;
  const auto start = cpu_seconds();
  for (std::uint64_t sent = 0; pair.total(1, kind::write_arrived) < count;) {
    while (sent < count &&
           pair.at(0).post_write(pair.write(0, 0, bytes, 1)) == post_status::accepted)
      ++sent;
    pair.pump();
  }
  const auto seconds = cpu_seconds() - start;
  char what[80];
  std::snprintf(what, sizeof what, "%s: writes of %llu KiB, %.2f GB per CPU second", name.c_str(),
                static_cast<unsigned long long>(bytes / 1024),
                static_cast<double>(bytes * count) / seconds / 1e9);
  report(what, static_cast<double>(count), seconds, "writes");
}

void bench_lane(lane_world& world, const std::string& name, std::uint64_t scale) {
  bench_ping_pong(world, name, 5'000 * scale);
  bench_messages(world, name, 50'000 * scale);
  bench_writes(world, name, 4 * 1024, 20'000 * scale);
  bench_writes(world, name, 16 * 1024, 10'000 * scale);
  bench_writes(world, name, 64 * 1024, 4'000 * scale);
  bench_writes(world, name, 256 * 1024, 1'000 * scale);
  bench_writes(world, name, 4096 * 1024, 60 * scale);
}

}  // namespace

int main(int argc, char** argv) {
  const auto scale = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  bench_fabric(64, 200'000 * scale);
  bench_fabric(1000, 200'000 * scale);
  bench_fabric(10'000, 200'000 * scale);
  tcp_lane_world tcp("127.0.0.1");
  bench_lane(tcp, "tcp", scale);
  for (const std::string large_writes : {"auto", "pull", "ring"}) {
    shm_lane_world shm(large_writes);
    bench_lane(shm, "shm, large writes " + large_writes, scale);
  }
  return 0;
}
