#pragma once

#include <cstdint>

#include "kernels/mailbox/mailbox_layout.hpp"
#include "kernels/stream_ref.hpp"
#include "runtime/result.hpp"

namespace troupe::kernels {

/// What a question's answer must be.
constexpr std::uint64_t round_trip_answer(std::uint64_t question) {
  return question * 2 + 1;
}

/// A kernel of one thread that asks the host `rounds` questions, one at a time, waits for each
/// answer and counts the wrong ones in `*wrong`, which the GPU can write. Shows that a pair of
/// mailboxes works on a machine, and how long a round trip takes there. Ends early if `to_host` or
/// `to_device` is closed.
///
/// Errors: system_failure if the launch is refused.
/// Thread: any; enters CUDA.
result<void> launch_round_trips(stream_ref in, mailbox_layout& to_host, mailbox_layout& to_device,
                                std::uint32_t rounds, std::uint32_t* wrong);

}  // namespace troupe::kernels
