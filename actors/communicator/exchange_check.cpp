#include "actors/communicator/exchange_check.hpp"

#include <algorithm>
#include <string>

namespace troupe::actors {

namespace {

using collectives::peer_block;

// Larger buffers cannot exist in a 47-bit address space.
constexpr std::uint64_t bytes_max = 1ull << 47;

tl::unexpected<failure> bad(const std::string& text) {
  return fail(errc::bad_argument, "all_to_all_v: " + text);
}

struct named_list {
  const char* name;
  const std::vector<std::uint64_t>& values;
};

outcome<void> check_sizes(const all_to_all_v_arguments& a, std::uint32_t size) {
  for (const named_list& one :
       {named_list{"send_counts", a.send_counts}, named_list{"send_offsets", a.send_offsets},
        named_list{"receive_counts", a.receive_counts},
        named_list{"receive_offsets", a.receive_offsets}})
    if (one.values.size() != size)
      return bad("`" + std::string(one.name) + "` has " + std::to_string(one.values.size()) +
                 " entries; it must have one for each of the " + std::to_string(size) + " ranks");
  return {};
}

/// One side of a block, in elements.
struct side {
  const char* name;
  std::uint64_t offset = 0;
  std::uint64_t count = 0;
};

outcome<void> check_side(const side& s, std::uint64_t element, std::uint32_t peer) {
  const std::uint64_t most = bytes_max / element;
  if (s.count == 0 || (s.count <= most && s.offset <= most - s.count)) return {};
  return bad(std::string(s.name) + "_offsets[" + std::to_string(peer) +
             "] = " + std::to_string(s.offset) + " plus " + s.name + "_counts[" +
             std::to_string(peer) + "] = " + std::to_string(s.count) + " is more than the " +
             std::to_string(most) + " elements that fit in memory");
}

/// A run of addresses, relative to what the caller compares.
struct run {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint32_t peer = 0;
};

std::vector<run> sorted_runs(const std::vector<peer_block>& blocks, bool receives) {
  std::vector<run> out;
  for (std::uint32_t peer = 0; peer < blocks.size(); ++peer) {
    const peer_block& b = blocks[peer];
    const std::uint64_t offset = receives ? b.receive_offset : b.send_offset;
    const std::uint64_t bytes = receives ? b.receive_bytes : b.send_bytes;
    if (bytes != 0) out.push_back({offset, offset + bytes, peer});
  }
  const auto before = [](const run& x, const run& y) { return x.begin < y.begin; };
  if (!std::is_sorted(out.begin(), out.end(), before)) std::sort(out.begin(), out.end(), before);
  return out;
}

outcome<void> check_disjoint(const std::vector<run>& received) {
  for (std::size_t i = 1; i < received.size(); ++i)
    if (received[i].begin < received[i - 1].end)
      return bad("what ranks " + std::to_string(received[i - 1].peer) + " and " +
                 std::to_string(received[i].peer) +
                 " send would land in the same bytes; make the blocks of `receive` disjoint");
  return {};
}

/// Blocks of `send` may overlap each other, but nothing received may land in a block that is sent.
outcome<void> check_apart(const all_to_all_v_arguments& a, const exchange_blocks& extents,
                          const std::vector<peer_block>& blocks, const std::vector<run>& received) {
  const auto send = reinterpret_cast<std::uintptr_t>(a.send);
  const auto receive = reinterpret_cast<std::uintptr_t>(a.receive);
  const bool extents_meet =
      send < receive + extents.receive_bytes && receive < send + extents.send_bytes;
  if (!extents_meet) return {};
  for (const run& sent : sorted_runs(blocks, false)) {
    const std::uint64_t begin = send + sent.begin, end = send + sent.end;
    const auto next = std::upper_bound(
        received.begin(), received.end(), begin,
        [&](std::uint64_t at, const run& other) { return at < receive + other.end; });
    if (next != received.end() && receive + next->begin < end)
      return bad("the block sent to rank " + std::to_string(sent.peer) +
                 " and the block received from rank " + std::to_string(next->peer) +
                 " overlap; there is no in-place form, pass two buffers");
  }
  return {};
}

}  // namespace

outcome<exchange_blocks> check_blocks(const all_to_all_v_arguments& a, rank self,
                                      std::uint32_t size) {
  if (auto ok = check_sizes(a, size); !ok) return fail(ok.error());
  const std::uint64_t element = size_of(a.type);
  if (element == 0)
    return bad("type " + std::to_string(static_cast<int>(a.type)) +
               " is not a data type of runtime/data_type.hpp");
  const std::uint32_t me = to_index(self);
  if (a.send_counts[me] != a.receive_counts[me])
    return bad("rank " + std::to_string(me) + " sends " + std::to_string(a.send_counts[me]) +
               " elements to itself and receives " + std::to_string(a.receive_counts[me]) +
               "; the counts must be equal");
  exchange_blocks out;
  std::vector<peer_block> blocks(size);
  for (std::uint32_t peer = 0; peer < size; ++peer) {
    const side sent{"send", a.send_offsets[peer], a.send_counts[peer]};
    const side received{"receive", a.receive_offsets[peer], a.receive_counts[peer]};
    if (auto ok = check_side(sent, element, peer); !ok) return fail(ok.error());
    if (auto ok = check_side(received, element, peer); !ok) return fail(ok.error());
    peer_block& b = blocks[peer];
    if (sent.count != 0) b = {sent.offset * element, sent.count * element, 0, 0};
    if (received.count != 0) {
      b.receive_offset = received.offset * element;
      b.receive_bytes = received.count * element;
    }
    out.send_bytes = std::max(out.send_bytes, b.send_offset + b.send_bytes);
    out.receive_bytes = std::max(out.receive_bytes, b.receive_offset + b.receive_bytes);
  }
  const std::vector<run> received = sorted_runs(blocks, true);
  if (auto ok = check_disjoint(received); !ok) return fail(ok.error());
  if (auto ok = check_apart(a, out, blocks, received); !ok) return fail(ok.error());
  out.blocks = std::make_shared<const std::vector<peer_block>>(std::move(blocks));
  return out;
}

}  // namespace troupe::actors
