#pragma once

#include <string>

#include "runtime/rank_dump.hpp"

namespace troupe::cli {

/// The dump as PyTorch's Flight Recorder writes it, for its analyser (`torchfrtrace`,
/// `torch.distributed.flight_recorder`): a pickle of entries, groups and their states. Its names of
/// operations begin with "nccl:" because the analyser knows no others. Operations on windows have
/// no name there and are left out.
///
/// The file's name has to end in the number of the rank.
/// Source: PyTorch, torch/csrc/distributed/c10d/FlightRecorder.hpp and tools/flight_recorder.
std::string to_flight_recorder(const rank_dump& dump);

}  // namespace troupe::cli
