#include <algorithm>
#include <bit>
#include <sstream>

#include "tests/sim/net/link_world.hpp"

namespace troupe::sim {

using kind = happening::kind;
using std::chrono::milliseconds;

// Invariants that hold between any two steps.
void link_world::check_step(side_index side) {
  const auto& l = *owners_[side].link;
  if (l.sending.in_use() > l.sending.capacity()) return fail("the window overflowed");
  if (l.control.outstanding() > l.control.limit()) return fail("the control ring overflowed");
  if (l.transfers.local_count() > plan_.link.transfer_count_max) {
    return fail("more transfers than the table allows");
  }
  if (!l.lost && l.budget.granted != owners_[side].budget_out) {
    return fail("budget granted and budget out differ");
  }
  if (l.budget.used > l.budget.granted) return fail("more in flight than the budget allows");
  if (std::popcount(l.channels_out.free & l.channels_out.closing) != 0) {
    return fail("a channel free and closing");
  }
  for (std::uint8_t lane = 0; lane < l.lanes.count; ++lane) {
    if (l.lanes[lane].writes_in_flight > l.lanes[lane].depth) return fail("too many writes");
  }
}

bool link_world::everything_ended() const {
  const bool alone = owners_[0].crashed || owners_[1].crashed;
  for (const auto& s : stories_) {
    const bool both = s.asked[0] && s.asked[1];
    for (std::uint32_t end : {0u, 1u}) {
      const auto side = end == 0 ? s.putter : 1 - s.putter;
      if (!s.asked[end] || s.ended[end] || owners_[side].crashed) continue;
      // One that never met its other side waits for its owner.
      const bool orphan = !both && !owners_[side].lost && !alone;
      const bool refused_there = s.outcome[1 - end].code == errc::queue_full;
      if (orphan || (refused_there && !alone)) continue;
      return false;
    }
  }
  if (!window_puts_ended()) return false;
  if (alone) return owners_[0].lost || owners_[0].link->transfers.live_count() == 0;
  if (owners_[0].lost || owners_[1].lost) return owners_[0].lost && owners_[1].lost;
  for (side_index side : {0u, 1u}) {
    if (owners_[side].notices_heard.size() != owners_[1 - side].notices_sent) return false;
    if (owners_[side].notices_sent != plan_.work.notice_count) return false;
  }
  return true;
}

// For the message of a seed that does not end.
std::string link_world::what_is_left() const {
  std::ostringstream out;
  for (side_index side : {0u, 1u}) {
    const auto& l = *owners_[side].link;
    out << "side " << side << (owners_[side].lost ? " lost" : "")
        << (owners_[side].crashed ? " crashed" : "") << ", " << l.sending.in_use() << " writes, "
        << l.control.outstanding() << " control messages on lane " << int{l.lanes.control}
        << ", budget " << l.budget.used << "/" << l.budget.granted << ", lanes";
    for (std::uint8_t lane = 0; lane < l.lanes.count; ++lane) {
      const auto& r = l.lanes[lane];
      out << (r.usable() ? " usable"
              : r.open   ? " open"
                         : " closed")
          << (r.awaiting_fence ? "+fence" : "");
    }
    for (auto i = l.transfers.first_live(); i != net::no_index; i = l.transfers.next_live(i)) {
      const auto& t = l.transfers[i];
      out << ", " << (t.local ? "" : "early ") << "transfer " << t.token << " phase "
          << static_cast<int>(t.phase) << " bytes " << t.bytes();
    }
    out << "; ";
  }
  return out.str();
}

// The owners give up what never met: after that nothing may be left anywhere.
void link_world::clean_up() {
  cleaning_ = true;
  for (std::uint32_t e = 0; e < 2 && !over(); ++e) {
    for (std::uint32_t n = 1; n <= plan_.work.operation_count && !over(); ++n) {
      for (side_index side : {0u, 1u}) {
        if (!over()) cancel(side, operation_number{n}, epoch{e});
      }
    }
  }
  if (!over()) play(now_ + milliseconds(600));
  close_windows();
}

// Cancelled or outdated on either side, or one side never asked: any single ending is right.
bool link_world::disturbed(const story& s) const {
  if (s.touched || !s.asked[0] || !s.asked[1]) return true;
  if (owners_[0].lost || owners_[1].lost || owners_[1].crashed) return true;
  return s.outcome[0].code == errc::queue_full || s.outcome[1].code == errc::queue_full;
}

void link_world::check_outcomes() {
  for (std::uint32_t i = 0; i < stories_.size() && !over(); ++i) {
    const auto& s = stories_[i];
    const auto name = " of transfer " + std::to_string(i);
    for (std::uint32_t end : {0u, 1u}) {
      const auto side = end == 0 ? s.putter : 1 - s.putter;
      if (s.asked[end] && !s.ended[end] && !owners_[side].crashed) {
        return fail(std::string(end == 0 ? "a put" : "an accept") + " that never ended" + name);
      }
    }
    const auto* target = owners_[1 - s.putter].buffers.resolve(s.memory[1]);
    if (s.asked[1] && s.ended[1] && target != nullptr) {
      for (std::uint64_t b = 0; b < s.bytes[1]; ++b) {
        if (target[b] != std::byte{0xee}) return fail("bytes landed after the end" + name);
      }
    }
    if (disturbed(s)) continue;
    const bool same = s.signature[0] == s.signature[1] && s.bytes[0] == s.bytes[1];
    if (same) {
      if (s.outcome[0].code != errc::ok) return fail("a put failed without a cause" + name);
      if (s.outcome[1].code != errc::ok) return fail("an accept failed without a cause" + name);
      continue;
    }
    if (s.outcome[1].code != errc::mismatch) return fail("an accept without its mismatch" + name);
    const bool late = s.outcome[0].code == errc::ok && s.refused_later;
    if (s.outcome[0].code != errc::mismatch && !late) {
      return fail("a put without its mismatch" + name);
    }
  }
}

void link_world::check_nothing_left() {
  for (side_index side : {0u, 1u}) {
    const auto& o = owners_[side];
    const auto& l = *o.link;
    if (o.crashed) continue;
    if (l.transfers.live_count() != 0) return fail("transfers left behind");
    if (o.budget_out != 0) return fail("budget left behind");
    if (!l.parking.all_free()) return fail("a parking place left behind");
    if (o.buffers.live_exposures() != 1) return fail("an exposure left behind");
    if (o.lost) continue;
    if (!l.sending.idle()) return fail("writes left behind");
    const auto& there = owners_[1 - side];
    const bool both = !there.lost && !there.crashed;
    if (both && l.eager_out.sent != there.link->eager_in.consumed()) {
      return fail("an eager credit left behind");
    }
    if (l.channels_out.free != ~0ull || l.channels_out.closing != 0) {
      return fail("a channel left behind");
    }
    for (const auto& c : l.channels_in) {
      if (c.begun || c.ended || c.bytes != 0) return fail("a channel half used");
    }
    if (!l.eager_in.all_free()) return fail("an eager slot left behind");
    if (l.eager_out.staged != 0 || l.declines != 0) return fail("a staging slot left behind");
    if (l.control.answerable() != 0) return fail("control messages left behind");
  }
}

// What was sent is in proportion to what there was to do: a machine that only wastes fails here.
void link_world::check_work() {
  for (side_index side : {0u, 1u}) {
    const auto& l = *owners_[side].link;
    const auto& c = l.counters;
    const auto lives = lives_ + 1u;
    std::uint64_t segments = 0;
    for (const auto& s : stories_) {
      if (s.putter == side) segments += s.bytes[0] / plan_.link.segment_bytes + 2;
    }
    for (const auto& p : window_puts_) {
      if (p.putter == side) segments += p.bytes / plan_.link.segment_bytes + 2;
    }
    // Segments may be cut smaller where budget is scarce: never more than one per grant.
    const auto cuts = plan_.work.budget_bytes < (1 << 20) ? c.budget_requests * 8 + c.puts_finished
                                                          : c.budget_requests + c.puts_finished;
    if (plan_.work.budget_bytes == 1 << 20 && plan_.link.budget_lease_bytes > 4096 &&
        c.segments_sent > segments + cuts) {
      return fail("more segments than the bytes need");
    }
    const auto writes_per_life = static_cast<std::uint64_t>(l.sending.capacity());
    if (c.retransmitted > lives * writes_per_life) return fail("too many repetitions");
    const auto ring = static_cast<std::uint64_t>(l.control.limit());
    if (c.control_repeated > c.control_moves * ring) return fail("too many control repetitions");
    const auto received =
        c.segments_received + c.segments_refused + c.eager_received + c.duplicates_dropped;
    const auto bound = 8ull * (plan_.work.transfer_count + window_puts_.size()) + 2 * received +
                       c.control_received + c.control_repeated + c.heartbeats_sent + 30ull * lives +
                       2ull * plan_.work.notice_count + 40;
    if (c.control_sent > bound) {
      return fail("too many control messages: " + std::to_string(c.control_sent) + " > " +
                  std::to_string(bound));
    }
  }
}

}  // namespace troupe::sim
