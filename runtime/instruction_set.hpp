#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace troupe {

/// What loops over large buffers are compiled for, in the order of speed. Each computes the same
/// bits.
enum class instruction_set : std::uint8_t {
  baseline = 0,  ///< what the build is for: x86-64 with SSE2, or any other processor
  avx2 = 1,      ///< AVX2 and F16C
  avx512 = 2,    ///< AVX-512 F, BW, DQ and VL besides
};

inline constexpr std::array instruction_sets{instruction_set::baseline, instruction_set::avx2,
                                             instruction_set::avx512};

/// True if this build has loops for the set, and processor and system run it.
/// Thread: any. The processor is asked once.
bool has_instruction_set(instruction_set set);

/// The last of the list that this machine has.
instruction_set best_instruction_set();

/// "baseline", "avx2", "avx512"
std::string_view to_string(instruction_set set);

}  // namespace troupe
