// Bytes from a stranger, to the decoder and to the machine: nothing may crash, and what decodes
// must encode to the same bytes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "net/bootstrap/bootstrap_machine.hpp"
#include "net/bootstrap/bootstrap_wire.hpp"
#include "runtime/assert.hpp"

namespace {

using namespace troupe;
using namespace troupe::net;

// A proof that anybody can make: the fuzzer gets past the handshake and to what lies behind it.
void open_mac(std::span<const std::byte>, std::span<const std::byte>,
              std::span<std::byte, 32> out) {
  std::fill(out.begin(), out.end(), std::byte{0});
}

bool always(std::span<const std::byte>, std::span<const std::byte>) {
  return true;
}

void decode_once(std::span<const std::byte> bytes) {
  if (const auto list = decode_address_list(bytes)) {
    const auto again = encode(*list);
    TROUPE_ASSERT(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()));
  }
  const auto frame = decode_bootstrap_frame(bytes);
  if (!frame) return;
  if (const auto* page = std::get_if<options_page_frame>(&*frame)) {
    options_reader reader(*page);
    std::string_view name;
    std::string_view value;
    while (reader.next(name, value)) {
    }
  }
  if (const auto* failed = std::get_if<failed_frame>(&*frame))
    if (failed->text.size() > failure_text_bytes_max) return;  // cut when written
  if (const auto* missing = std::get_if<group_missing_frame>(&*frame))
    if (missing->text.size() > failure_text_bytes_max) return;
  std::array<std::byte, lane_message_bytes_max> out{};
  const auto length = encode_bootstrap_frame(*frame, out);
  TROUPE_ASSERT(std::equal(bytes.begin(), bytes.end(), out.begin(), out.begin() + length));
}

bootstrap_state state_for(std::uint8_t choice) {
  bootstrap_options o;
  o.self = rank{choice % 3u};
  o.world_size = 3;
  o.rendezvous_fan_out = (choice & 0x40) != 0 ? 2 : 8;
  o.crypto = {open_mac, always};
  return bootstrap_state(o);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  decode_once(bytes);
  if (size < 2) return 0;
  auto state = state_for(data[0]);
  bootstrap_effects out;
  instant now{std::chrono::seconds(1)};
  step(state, join_started{}, now, out);
  // Messages, each behind its length and the connection it comes on.
  std::size_t at = 1;
  while (at + 3 <= size) {
    const std::size_t length = std::min<std::size_t>(
        std::size_t{data[at]} | std::size_t{data[at + 1]} << 8, size - at - 3);
    const std::uint64_t which = data[at + 2] & 7u;
    const auto id = (data[at + 2] & 0x80) != 0 ? (std::uint64_t{1} << 63) + which : which;
    out.clear();
    now += std::chrono::milliseconds(data[at + 2] >> 3 & 15);
    step(state, connection_accepted{id}, now, out);
    out.clear();
    step(state, connection_opened{id}, now, out);
    out.clear();
    step(state, connection_message{id, bytes.subspan(at + 3, length)}, now, out);
    out.clear();
    step(state, bootstrap_timer_fired{state.timer_generation}, now, out);
    at += 3 + length;
  }
  return 0;
}
