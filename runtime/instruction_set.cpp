#include "runtime/instruction_set.hpp"

#ifdef __x86_64__
#include <cpuid.h>
#endif

namespace troupe {
namespace {

#ifdef TROUPE_X86_VARIANTS

bool has_f16c() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}

/// The compiler's support library looks at what the system saves on a switch of threads, too.
instruction_set ask_processor() {
  const bool avx2 = __builtin_cpu_supports("avx2") != 0 && has_f16c();
  const bool avx512 =
      __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
  if (avx2 && avx512) return instruction_set::avx512;
  return avx2 ? instruction_set::avx2 : instruction_set::baseline;
}

#else

instruction_set ask_processor() {
  return instruction_set::baseline;
}

#endif

}  // namespace

instruction_set best_instruction_set() {
  static const instruction_set best = ask_processor();
  return best;
}

bool has_instruction_set(instruction_set set) {
  return set <= best_instruction_set();
}

std::string_view to_string(instruction_set set) {
  switch (set) {
    case instruction_set::baseline: return "baseline";
    case instruction_set::avx2: return "avx2";
    case instruction_set::avx512: return "avx512";
  }
  return "invalid";
}

}  // namespace troupe
