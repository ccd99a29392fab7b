#include "net/link/link_state.hpp"

#include "runtime/assert.hpp"

namespace troupe::net {

namespace {

// Control numbers have 32 bits; they begin as far from their wrap as the writes from theirs.
constexpr std::uint32_t first_control_number(sequence first) {
  return first.value > sequence_mask / 2 ? first.value | ~sequence_mask : first.value;
}

// Ours; those the peer announced; its eager messages, parked or in slots, whose announcements may
// be on their way as well; and what it writes into windows, one a channel and another that is over
// but not reported yet.
std::uint32_t table_capacity(const link_options& o) {
  return 2 * o.transfer_count_max + 2 * o.eager_slot_count + parking_place_count(o) +
         2 * static_cast<std::uint32_t>(channel_count);
}

const link_options& checked(const link_options& options) {
  TROUPE_ASSERT(check(options).has_value());
  return options;
}

}  // namespace

link_state::link_state(const link_options& o, std::pmr::memory_resource* from)
    : options(checked(o)),
      control(control_limit(o.lane_depth), first_control_number(o.first_sequence), from),
      sending(o.window_segment_count, o.first_sequence, from),
      receiving(o.window_segment_count, o.first_sequence, from),
      transfers(table_capacity(o), o.transfer_count_max, from),
      eager_in(o.eager_slot_count, granted_slot_count(o)),
      parking(parking_place_count(o), from),
      slot_transfers(o.eager_slot_count, no_index, from),
      memory(from),
      window(o.window),
      notices{.entries = std::pmr::vector<notice_queue::entry>(o.notice_count_max, from)} {
  lanes.count = static_cast<std::uint8_t>(o.data_lane_count + 1);
  eager_out.credit_count = o.eager_slot_count - granted_slot_count(o);
  budget.capped = o.budget_capped;
  acks.told_control = control.expected();
  acks.told_data = o.first_sequence;
}

}  // namespace troupe::net
