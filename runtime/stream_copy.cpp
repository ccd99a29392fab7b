#include "runtime/stream_copy.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "runtime/detail/copy_loops.hpp"

namespace troupe {
namespace {

using copy_loop = void (*)(std::byte* target, const std::byte* source, std::size_t bytes);

struct copy_loops {
  copy_loop cached = nullptr;
  copy_loop streaming = nullptr;
};

copy_loops loops_of([[maybe_unused]] instruction_set instructions) {
#ifdef TROUPE_X86_VARIANTS
  if (instructions == instruction_set::avx512)
    return {detail::avx512::copy_cached, detail::avx512::copy_streaming};
  if (instructions == instruction_set::avx2)
    return {detail::avx2::copy_cached, detail::avx2::copy_streaming};
#endif
  return {detail::baseline::copy_cached, detail::baseline::copy_streaming};
}

}  // namespace

void copy_memory(void* target, const void* source, std::size_t bytes, const loop_choice& choice) {
  if (bytes == 0 || target == source) return;
  if (store_path_for(choice.path, bytes) == store_path::streaming) {
    stream_piece(target, source, bytes, choice.instructions);
    finish_streaming();
    return;
  }
  loops_of(choice.instructions)
      .cached(static_cast<std::byte*>(target), static_cast<const std::byte*>(source), bytes);
}

void stream_piece(void* target, const void* source, std::size_t bytes,
                  instruction_set instructions) {
  loops_of(instructions)
      .streaming(static_cast<std::byte*>(target), static_cast<const std::byte*>(source), bytes);
}

/// Streaming stores are the one kind that x86 does not order by itself.
void finish_streaming() {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

}  // namespace troupe
