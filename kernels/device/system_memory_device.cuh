#pragma once

#include <cstdint>

#include "kernels/mailbox/mailbox_layout.hpp"

/// Loads and stores that the host and other GPUs see, in the order that their names promise. All of
/// system scope.
namespace troupe::kernels {

__device__ inline std::uint32_t load_relaxed(const std::uint32_t* from) {
  std::uint32_t value;
  asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
  return value;
}

__device__ inline std::uint32_t load_acquire(const std::uint32_t* from) {
  std::uint32_t value;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
  return value;
}

__device__ inline void store_relaxed(std::uint32_t* to, std::uint32_t value) {
  asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
}

__device__ inline void store_release(std::uint32_t* to, std::uint32_t value) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
}

struct record_words {
  std::uint64_t low;
  std::uint64_t high;
};

/// A record as one access of 16 bytes, which is one transaction on the bus to the host.
__device__ inline mailbox_record load_16_bytes(const mailbox_record* from) {
  record_words words;
  asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];"
               : "=l"(words.low), "=l"(words.high)
               : "l"(from)
               : "memory");
  return __builtin_bit_cast(mailbox_record, words);
}

__device__ inline void store_16_bytes(mailbox_record* to, const mailbox_record& record) {
  const auto words = __builtin_bit_cast(record_words, record);
  asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(words.low),
               "l"(words.high)
               : "memory");
}

}  // namespace troupe::kernels
