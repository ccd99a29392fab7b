#include "kernels/mailbox/round_trip.hpp"

#include "kernels/detail/cuda_status.hpp"
#include "kernels/detail/native_stream.hpp"
#include "kernels/device/device.hpp"
#include "kernels/mailbox/mailbox_device.cuh"

namespace troupe::kernels {

namespace {

// One thread: what a round trip takes is the bus.
__global__ void ask(mailbox_layout* to_host, mailbox_layout* to_device, std::uint32_t rounds,
                    std::uint32_t* wrong) {
  device_mailbox_writer questions(to_host, 0);
  device_mailbox_reader answers(to_device, 0);
  std::uint32_t wrong_answers = 0;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    mailbox_record answer;
    if (!questions.post(1, static_cast<std::uint16_t>(round), round)) break;
    if (!answers.take(answer)) break;
    if (answer.argument != round_trip_answer(round)) ++wrong_answers;
  }
  *wrong = wrong_answers;
}

}  // namespace

result<void> launch_round_trips(stream_ref in, mailbox_layout& to_host, mailbox_layout& to_device,
                                std::uint32_t rounds, std::uint32_t* wrong) {
  const device_scope current(in.device);
  ask<<<1, 1, 0, detail::native(in)>>>(&to_host, &to_device, rounds, wrong);
  return detail::checked(cudaGetLastError());
}

}  // namespace troupe::kernels
