#include <algorithm>

#include "net/link/detail/link_step.hpp"
#include "runtime/mark.hpp"

namespace troupe::net::detail {

namespace {

void empty_slot(link_step& step, std::uint32_t slot) {
  auto& s = step.s;
  s.eager_in.empty(slot);
  const auto untold = s.eager_in.consumed() - s.acks.told_consumed;
  if (untold >= std::max(1u, s.eager_in.credit_count() / 2)) acknowledge_at_once(step);
  if (untold > 0) acknowledge_soon(step);
}

void park(link_step& step, transfer& t, std::uint32_t slot) {
  auto& s = step.s;
  t.phase = transfer_phase::eager_parked;
  t.place = s.parking.take();
  ++s.counters.eager_parked;
  step.out.push_back(park_eager{slot, t.bytes(), t.place});
  empty_slot(step, slot);
}

// Nobody accepts it yet: it is set aside, or stays where it is and holds its slot.
void keep_early(link_step& step, std::uint32_t index, std::uint32_t slot) {
  auto& s = step.s;
  auto& t = s.transfers[index];
  if (s.parking.has_place()) return park(step, t, slot);
  TROUPE_MARK("link: early eager message left in its slot");
  t.phase = transfer_phase::eager_in_slot;
  t.channel = static_cast<std::uint8_t>(slot);
  s.slot_transfers[slot] = index;
  ++s.left_in_slots;
  ++s.counters.eager_left_in_slot;
}

// An accept of ours is there: the payload goes to it, or both sides disagree.
void meet_accept(link_step& step, std::uint32_t index, const eager_header& header,
                 std::uint32_t slot) {
  auto& s = step.s;
  auto& t = s.transfers[index];
  if (!agrees(t, header.signature, header.payload_bytes)) {
    TROUPE_MARK("link: mismatch found by an eager message");
    finish_mismatched(step, index, header.signature);
  } else {
    step.out.push_back(drain_eager{slot, t.bytes(), t.memory});
    finish(step, index, {});
  }
  empty_slot(step, slot);
}

void match(link_step& step, const eager_header& header, std::uint32_t slot) {
  auto& s = step.s;
  auto index = s.transfers.find(header.id, transfer_side::accept);
  if (index != no_index && s.transfers[index].local) {
    if (s.transfers[index].phase == transfer_phase::accept_receiving) {
      return lose(step, step.about_peer(errc::malformed));
    }
    return meet_accept(step, index, header, slot);
  }
  if (s.eager_in.is_granted_slot(slot)) {
    TROUPE_MARK("link: granted message of an accept that is gone");
    return empty_slot(step, slot);
  }
  if (index == no_index) {
    const auto* early =
        add_early(step, header.id, transfer_side::accept, transfer_phase::request_early);
    if (early == nullptr) return;
    index = s.transfers.find(header.id, transfer_side::accept);
    s.transfers[index].signature = header.signature;
    s.transfers[index].memory.bytes = header.payload_bytes;
  } else if (s.transfers[index].phase != transfer_phase::request_early) {
    return lose(step, step.about_peer(errc::malformed));
  }
  keep_early(step, index, slot);
}

}  // namespace

void on_eager_arrived(link_step& step, std::uint32_t slot, std::uint64_t bytes) {
  auto& s = step.s;
  const auto slot_bytes = eager_slot_bytes(s.options);
  if (bytes > slot_bytes || !s.eager_in.occupy(slot)) {
    return lose(step, step.about_peer(errc::malformed));
  }
  const auto message = s.options.receive_ring.subspan(slot * slot_bytes, bytes);
  const auto header = decode_eager_header(message);
  if (!header) return lose(step, step.about_peer(header.error().code));
  if (eager_header_bytes + header->payload_bytes != bytes) {
    return lose(step, step.about_peer(errc::malformed));
  }
  ++s.counters.eager_received;
  s.counters.eager_bytes_received += header->payload_bytes;
  on_acknowledgements(
      step, {0, header->control_acknowledged, header->data_acknowledged, header->slots_consumed});
  if (s.lost) return;
  if (is_over(step, header->id)) return empty_slot(step, slot);
  match(step, *header, slot);
}

void copy_early_eager(link_step& step, std::uint32_t index, const buffer_view& target) {
  const auto& t = step.s.transfers[index];
  if (t.phase == transfer_phase::eager_parked) {
    step.out.push_back(unpark_eager{t.place, target.bytes, target});
  } else {
    step.out.push_back(drain_eager{t.channel, target.bytes, target});
  }
}

void release_early_eager(link_step& step, std::uint32_t index) {
  auto& s = step.s;
  const auto& t = s.transfers[index];
  if (t.phase == transfer_phase::eager_parked) {
    s.parking.give_back(t.place);
    return;
  }
  s.slot_transfers[t.channel] = no_index;
  --s.left_in_slots;
  empty_slot(step, t.channel);
}

pumped pump_parking(link_step& step) {
  auto& s = step.s;
  for (std::uint32_t slot = 0; s.left_in_slots > 0 && slot < s.options.eager_slot_count; ++slot) {
    if (!s.parking.has_place()) return pumped::all;
    const auto index = s.slot_transfers[slot];
    if (index == no_index) continue;
    if (!step.has_room(1)) return pumped::until_full;
    TROUPE_MARK("link: early eager message parked late");
    s.slot_transfers[slot] = no_index;
    --s.left_in_slots;
    park(step, s.transfers[index], slot);
  }
  return pumped::all;
}

}  // namespace troupe::net::detail
