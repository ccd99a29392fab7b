// Frames of the view change from a stranger: nothing may crash, and what decodes must encode to the
// same bytes and keep what a machine relies on.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "net/membership/membership_machine.hpp"
#include "runtime/assert.hpp"

namespace {

using namespace troupe;
using namespace troupe::net;

void try_machine(const membership_frame& frame) {
  for (const auto phase : {membership_phase::open, membership_phase::deciding}) {
    auto state = make_member(frame.communicator, {1}, first_epoch(3), {});
    state.phase = phase;
    membership_effects out;
    step(state, membership_frame_received{frame.sender, frame}, instant{}, out);
    TROUPE_ASSERT(std::is_sorted(state.current.members.begin(), state.current.members.end()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto frame = decode_membership(bytes);
  if (!frame) return 0;
  std::vector<std::byte> again;
  encode(*frame, again);
  TROUPE_ASSERT(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()));
  try_machine(*frame);
  return 0;
}
