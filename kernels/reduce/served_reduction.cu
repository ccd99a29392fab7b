#include "kernels/reduce/served_reduction.hpp"

#include <atomic>
#include <cstring>

#include "kernels/detail/cuda_status.hpp"
#include "kernels/detail/native_stream.hpp"
#include "kernels/device/device.hpp"
#include "kernels/element/element_device.cuh"
#include "kernels/element/type_table.hpp"
#include "kernels/element/vector_reduction_device.cuh"
#include "kernels/mailbox/mailbox_device.cuh"

namespace troupe::kernels {

namespace {

constexpr std::uint32_t threads_of_block = 512;
constexpr std::uint32_t blocks_max = 32;
constexpr std::uint16_t chunk_posted = 1;
constexpr std::uint16_t operation_finished = 2;
constexpr std::uint16_t chunk_reduced = 3;

/// What the blocks of one kernel tell each other. The first block reads the mailbox and passes on
/// what it says; the others answer by counting.
struct block_board {
  reduction_chunk chunk;
  alignas(128) std::uint32_t posted;  ///< number of the chunk above; `no_more` ends
  alignas(128) std::uint32_t finished[blocks_max];
};
constexpr std::uint32_t no_more = 0xffff'ffffu;

struct served_task {
  mailbox_layout* to_kernel = nullptr;
  mailbox_layout* to_host = nullptr;
  const reduction_chunk* chunks = nullptr;
  block_board* board = nullptr;
  reduction op = reduction::sum;
  double scalar = 1.0;
  std::uint32_t divisor = 1;
};

template <class Reduction>
__device__ void reduce_chunk(const reduction_chunk& chunk, const Reduction& how) {
  using storage = typename Reduction::storage;
  constexpr int vectors = Reduction::vectors;
  constexpr std::uint64_t stride = threads_of_block * 16;
  const auto bits = reinterpret_cast<std::uintptr_t>(chunk.target) |
                    reinterpret_cast<std::uintptr_t>(chunk.left) |
                    reinterpret_cast<std::uintptr_t>(chunk.right);
  const std::uint64_t whole = bits % 16 == 0 ? chunk.count * sizeof(storage) / 16 * 16 : 0;
  const std::uint64_t tile = stride * vectors;
  for (std::uint64_t at = blockIdx.x * tile + threadIdx.x * 16; at < whole;
       at += gridDim.x * tile) {
    vector_bytes left[vectors];
    vector_bytes right[vectors];
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      if (at + v * stride < whole) {
        left[v] = load_vector(chunk.left + at + v * stride);
        right[v] = load_vector(chunk.right + at + v * stride);
      }
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      if (at + v * stride < whole)
        store_vector(chunk.target + at + v * stride, how.of_two(left[v], right[v]));
  }
  const auto* const left = reinterpret_cast<const storage*>(chunk.left);
  const auto* const right = reinterpret_cast<const storage*>(chunk.right);
  for (std::uint64_t i = whole / sizeof(storage) + blockIdx.x * threads_of_block + threadIdx.x;
       i < chunk.count; i += gridDim.x * threads_of_block)
    reinterpret_cast<storage*>(chunk.target)[i] =
        how.leave(how.join(how.enter(left[i]), how.enter(right[i])));
}

/// The next chunk of all blocks, by the one thread that reads the mailbox.
__device__ void pass_on(const served_task& task, device_mailbox_reader& mailbox,
                        std::uint32_t number) {
  mailbox_record record;
  const bool more = mailbox.take_with_memory(record) && record.kind == chunk_posted;
  if (more) {
    const auto* const from =
        reinterpret_cast<const volatile std::uint64_t*>(task.chunks + record.index);
    task.board->chunk.target = reinterpret_cast<std::byte*>(from[0]);
    task.board->chunk.left = reinterpret_cast<const std::byte*>(from[1]);
    task.board->chunk.right = reinterpret_cast<const std::byte*>(from[2]);
    task.board->chunk.count = from[3];
  }
  store_release(&task.board->posted, more ? number : no_more);
}

// Blocks of 512 threads, all resident: they wait for each other. The first reads the mailbox, a
// record for each chunk, and posts a record when all blocks are done with it. Bytes moved: three
// times a chunk, in local memory. Order: left, right; one rounding.
template <data_type Type, rule_kind Kind>
__global__ void __launch_bounds__(threads_of_block, 1)
    serve_reductions(const __grid_constant__ served_task task) {
  __shared__ reduction_chunk chunk;
  __shared__ bool more;
  device_mailbox_reader mailbox(task.to_kernel, 0);
  device_mailbox_writer answers(task.to_host, 0);
  const vector_reduction<element_of<Type>, Kind> how(
      element_rule{task.op, task.scalar, task.divisor});
  for (std::uint32_t number = 1;; ++number) {
    if (threadIdx.x == 0) {
      if (blockIdx.x == 0) pass_on(task, mailbox, number);
      std::uint32_t posted = 0;
      do {
        posted = load_acquire(&task.board->posted);
      } while (posted != number && posted != no_more);
      more = posted == number;
      chunk = task.board->chunk;
    }
    __syncthreads();
    if (!more) return;
    reduce_chunk(chunk, how);
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence_system();
      store_release(&task.board->finished[blockIdx.x], number);
    }
    if (threadIdx.x < gridDim.x && blockIdx.x == 0)
      while (load_acquire(&task.board->finished[threadIdx.x]) < number) {
      }
    __syncthreads();
    if (blockIdx.x == 0 && threadIdx.x == 0) answers.post_after_memory(chunk_reduced, 0, number);
  }
}

using served_kernel = void (*)(served_task);

struct type_kernels {
  served_kernel sum;
  served_kernel any;
};

template <data_type Type>
struct kernels_of {
  static const type_kernels* get() {
    static const type_kernels all{&serve_reductions<Type, kind_for_sums<element_of<Type>>>,
                                  &serve_reductions<Type, rule_kind::any>};
    return &all;
  }
};

constexpr std::uint64_t chunks_at = 2 * sizeof(mailbox_layout);

}  // namespace

outcome<served_reduction> served_reduction::create(int device) {
  served_reduction made;
  auto shared = pinned_memory::allocate(chunks_at + mailbox_depth * sizeof(reduction_chunk));
  if (!shared) return fail(shared.error());
  auto between = device_memory::allocate(device, sizeof(block_board));
  if (!between) return fail(between.error());
  made.shared_ = std::move(*shared);
  made.between_ = std::move(*between);
  const device_scope current(device);
  if (auto done = load_served_reductions(); !done)
    return fail(failure(done.error(), "loading the reduce kernels"));
  return made;
}

mailbox_layout& served_reduction::ring(int number) const {
  return reinterpret_cast<mailbox_layout*>(shared_.data())[number];
}

reduction_chunk& served_reduction::slot(std::uint64_t number) const {
  return reinterpret_cast<reduction_chunk*>(shared_.data() + chunks_at)[number % mailbox_depth];
}

result<void> served_reduction::start(stream_ref in, const served_operation& operation) {
  const auto* const kernels = of_type<kernels_of>(operation.type);
  if (kernels == nullptr || operation.blocks == 0 || operation.blocks > blocks_max ||
      in.device != between_.device())
    return fail(errc::bad_argument);
  std::memset(shared_.data(), 0, chunks_at);
  writer_.emplace(ring(0));
  reader_.emplace(ring(1));
  posted_ = 0;
  done_ = 0;
  served_task task;
  task.to_kernel = &ring(0);
  task.to_host = &ring(1);
  task.chunks = &slot(0);
  task.board = reinterpret_cast<block_board*>(between_.data());
  task.op = operation.op;
  task.scalar = operation.scalar;
  task.divisor = operation.divisor;
  const device_scope current(in.device);
  if (auto done = detail::checked(
          cudaMemsetAsync(between_.data(), 0, sizeof(block_board), detail::native(in)));
      !done)
    return done;
  const auto kernel = operation.op == reduction::sum ? kernels->sum : kernels->any;
  void* arguments[] = {&task};
  return detail::checked(cudaLaunchKernel(reinterpret_cast<const void*>(kernel),
                                          dim3(operation.blocks), dim3(threads_of_block), arguments,
                                          0, detail::native(in)));
}

bool served_reduction::post(const reduction_chunk& chunk) {
  if (!writer_ || posted_ - done_ >= mailbox_depth) return false;
  slot(posted_) = chunk;
  if (!writer_->post(chunk_posted, static_cast<std::uint16_t>(posted_ % mailbox_depth), 0))
    return false;
  ++posted_;
  return true;
}

bool served_reduction::take_done() {
  if (!reader_ || !reader_->take()) return false;
  ++done_;
  return true;
}

bool served_reduction::finish() {
  return writer_ && writer_->post(operation_finished, 0, 0);
}

void served_reduction::abort() {
  for (int number : {0, 1})
    std::atomic_ref(ring(number).closed).store(1, std::memory_order_release);
}

result<void> load_served_reductions() {
  cudaFuncAttributes attributes{};
  for (const auto* const kernels : of_all_types<kernels_of>())
    for (const auto kernel : {kernels->sum, kernels->any})
      if (auto done = detail::checked(
              cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)));
          !done)
        return done;
  return {};
}

}  // namespace troupe::kernels
