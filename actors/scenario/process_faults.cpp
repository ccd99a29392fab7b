#include "runtime/scenario/process_faults.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "net/tcp/process_sockets.hpp"

namespace troupe::scenario {

outcome<std::uint32_t> cut_connections(pid_t one, pid_t other, std::uint32_t count) {
  const auto ours = net::sockets_of(one);
  if (!ours) return fail(ours.error());
  const auto theirs = net::sockets_of(other);
  if (!theirs) return fail(theirs.error());
  struct connection {
    int descriptor = -1;
    std::uint64_t traffic = 0;
  };
  std::vector<connection> shared;
  for (const auto& each : *ours) {
    const bool ends_there = std::any_of(theirs->begin(), theirs->end(), [&](const auto& end) {
      return each.entry.local == end.entry.remote && each.entry.remote == end.entry.local;
    });
    if (!each.entry.stands || !ends_there) continue;
    const auto traffic = net::traffic_of(one, each.descriptor);
    if (!traffic) return fail(traffic.error());
    shared.push_back({each.descriptor, *traffic});
  }
  // Lanes carry the work; the ring of the bootstrap between the same two is quiet.
  std::sort(shared.begin(), shared.end(),
            [](const auto& left, const auto& right) { return left.traffic > right.traffic; });
  if (count != 0) shared.resize(std::min<std::size_t>(shared.size(), count));
  for (const auto& each : shared)
    if (auto done = net::shut_socket(one, each.descriptor); !done) return fail(done.error());
  return static_cast<std::uint32_t>(shared.size());
}

outcome<void> talk_garbage_to(pid_t process) {
  const auto sockets = net::sockets_of(process);
  if (!sockets) return fail(sockets.error());
  for (const auto& each : *sockets)
    if (each.entry.listens)
      return net::say_to_port(each.entry.local_port, "GET / HTTP/1.1\r\nHost: troupe\r\n\r\n");
  return fail(errc::not_available,
              "process " + std::to_string(process) + " listens on no port of TCP");
}

}  // namespace troupe::scenario
