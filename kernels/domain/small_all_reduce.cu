#include <algorithm>
#include <cstring>

#include "kernels/detail/kernel_launch_device.cuh"
#include "kernels/domain/detail/all_reduce_tasks.hpp"
#include "kernels/domain/detail/block_meeting_device.cuh"
#include "kernels/element/element_device.cuh"
#include "kernels/element/type_table.hpp"

namespace troupe::kernels::detail {

namespace {

constexpr std::uint32_t threads_max = 512;

__device__ flagged_word* words_of(const domain_members& members, std::uint32_t owner,
                                  std::uint32_t source, std::uint32_t round) {
  return reinterpret_cast<flagged_word*>(
      members.boards[owner] + flagged_words_at(members.size, round & 1, source, blockIdx.x));
}

__device__ void write_word(flagged_word* to, std::uint64_t value, std::uint32_t flag) {
  asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %2};" ::"l"(to),
               "r"(static_cast<std::uint32_t>(value)), "r"(flag),
               "r"(static_cast<std::uint32_t>(value >> 32))
               : "memory");
}

/// Waits for the flag. Whatever, if the domain was aborted.
__device__ std::uint64_t read_word(const domain_members& members, const flagged_word* from,
                                   std::uint32_t flag) {
  flagged_word word;
  for (std::uint32_t polls = 1;; ++polls) {
    asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(word.low), "=r"(word.low_flag), "=r"(word.high), "=r"(word.high_flag)
                 : "l"(from)
                 : "memory");
    if (word.low_flag == flag && word.high_flag == flag) break;
    if (gives_up(members, polls)) break;
  }
  return word.low | std::uint64_t{word.high} << 32;
}

/// Up to eight bytes at any address; the rest is zero.
__device__ std::uint64_t load_bytes(const std::byte* from, std::uint64_t bytes) {
  if (bytes >= 8 && reinterpret_cast<std::uintptr_t>(from) % 8 == 0)
    return *reinterpret_cast<const std::uint64_t*>(from);
  std::uint64_t word = 0;
  for (std::uint64_t i = 0; i < min(bytes, std::uint64_t{8}); ++i)
    word |= std::uint64_t{static_cast<std::uint8_t>(from[i])} << (8 * i);
  return word;
}

__device__ void store_bytes(std::byte* to, std::uint64_t bytes, std::uint64_t word) {
  if (bytes >= 8 && reinterpret_cast<std::uintptr_t>(to) % 8 == 0) {
    *reinterpret_cast<std::uint64_t*>(to) = word;
    return;
  }
  for (std::uint64_t i = 0; i < min(bytes, std::uint64_t{8}); ++i)
    to[i] = static_cast<std::byte>(word >> (8 * i));
}

/// The elements of one word, from all members.
template <class Element>
struct word_reduction {
  using storage = typename Element::storage;
  using work = typename Element::work;
  static constexpr int elements = 8 / sizeof(storage);

  const element_rule& rule;
  work factor;
  work values[elements];

  __device__ word_reduction(const element_rule& how)
      : rule(how), factor(Element::factor_from(how.scalar)) {}

  __device__ work element(std::uint64_t word, int i) const {
    using bits = std::conditional_t<
        sizeof(storage) == 1, std::uint8_t,
        std::conditional_t<sizeof(storage) == 2, std::uint16_t,
                           std::conditional_t<sizeof(storage) == 4, std::uint32_t, std::uint64_t>>>;
    const auto code = static_cast<bits>(word >> (8 * sizeof(storage) * i % 64));
    return entering<Element>(rule, factor, Element::load(bits_as<storage>(code)));
  }
  __device__ void begin(std::uint64_t word) {
#pragma unroll
    for (int i = 0; i < elements; ++i)
      values[i] = element(word, i);
  }
  __device__ void add(std::uint64_t word) {
#pragma unroll
    for (int i = 0; i < elements; ++i)
      values[i] = combined<Element>(rule.op, values[i], element(word, i));
  }
  __device__ std::uint64_t finished() const {
    union {
      storage stored[elements];
      std::uint64_t word;
    } out;
#pragma unroll
    for (int i = 0; i < elements; ++i)
      out.stored[i] = leaving<Element>(rule, values[i]);
    return out.word;
  }
};

// Words of 8 bytes, `words_per_block` to a block, one to a thread: the grid of a round is the same
// at all members. Registers: one word of each member in turn.
template <data_type Type>
__global__ void __launch_bounds__(threads_max)
    small_all_reduce(const __grid_constant__ small_all_reduce_task task) {
  follow_closely();
  const auto& members = task.members;
  auto& own = board_of(members, members.rank);
  std::uint32_t round = own.small_rounds[blockIdx.x] + 1;
  round += round == 0;  // memory of zeros holds no round
  const std::uint64_t bytes = task.work.count * sizeof(typename element_of<Type>::storage);
  const std::uint64_t at = (std::uint64_t{blockIdx.x} * small_words_per_block + threadIdx.x) * 8;
  if (at < bytes) {
    const std::uint64_t mine = load_bytes(task.send + at, bytes - at);
    for (std::uint32_t step = 1; step < members.size; ++step) {
      const std::uint32_t peer = (members.rank + step) % members.size;
      write_word(words_of(members, peer, members.rank, round) + threadIdx.x, mine, round);
    }
    const element_rule rule{task.work.op, task.work.scalar, members.size};
    word_reduction<element_of<Type>> reduced(rule);
    for (std::uint32_t source = 0; source < members.size; ++source) {
      const auto word =
          source == members.rank
              ? mine
              : read_word(members, words_of(members, members.rank, source, round) + threadIdx.x,
                          round);
      if (source == 0)
        reduced.begin(word);
      else
        reduced.add(word);
    }
    store_bytes(task.receive + at, bytes - at, reduced.finished());
  }
  __syncthreads();
  if (threadIdx.x == 0) own.small_rounds[blockIdx.x] = round;
}

template <data_type Type>
struct kernel_of {
  static task_kernel<small_all_reduce_task> get() { return &small_all_reduce<Type>; }
};

}  // namespace

result<void> launch_small_all_reduce(stream_ref in, const small_all_reduce_task& task) {
  const auto kernel = of_type<kernel_of>(task.work.type);
  const std::uint64_t bytes = task.work.count * size_of(task.work.type);
  if (kernel == nullptr || bytes > small_bytes_max) return fail(errc::bad_argument);
  const std::uint64_t words = (bytes + 7) / 8;
  const auto blocks =
      static_cast<std::uint32_t>((words + small_words_per_block - 1) / small_words_per_block);
  const auto threads = std::min<std::uint64_t>(threads_max, (words + 31) / 32 * 32);
  return launch(kernel, in, std::max(blocks, 1u),
                std::max(static_cast<std::uint32_t>(threads), 32u), task);
}

result<void> load_small_all_reduce() {
  for (const auto kernel : of_all_types<kernel_of>())
    if (auto done = load(kernel); !done) return done;
  return {};
}

}  // namespace troupe::kernels::detail
