#include <cuda_runtime_api.h>

#include <algorithm>

#include "kernels/detail/cuda_status.hpp"
#include "kernels/detail/flag_batch.hpp"
#include "kernels/detail/native_stream.hpp"
#include "kernels/device/device.hpp"
#include "kernels/domain/detail/pipelined_operation.hpp"

namespace troupe::kernels::detail {

result<chunk_table> cut_into_chunks(std::uint64_t share_bytes, std::uint64_t place_bytes) {
  const std::uint64_t least = place_bytes / 8 / 16 * 16;
  chunk_table table;
  std::uint64_t at = 0;
  std::uint64_t next = least;
  while (at < share_bytes) {
    if (table.count == pipeline_chunks_max) return fail(errc::bad_argument);
    const std::uint64_t left = share_bytes - at;
    // Half of what is left, near the end: the last chunks shrink as the first ones grow.
    const std::uint64_t shrinking = std::max(left / 2 / 16 * 16, least);
    const std::uint64_t bytes = std::min({next, left, left > place_bytes ? left : shrinking});
    at += bytes;
    table.ends[table.count++] = at;
    next = std::min(2 * next, place_bytes);
  }
  return table;
}

outcome<pipelined_operation> pipelined_operation::create(int device, const domain_members& members,
                                                         host_board& board,
                                                         std::uint64_t place_bytes) {
  pipelined_operation made;
  auto calls = driver_calls::load();
  if (!calls) return fail(calls.error());
  made.calls_ = *calls;
  made.members_ = members;
  made.host_ = &board;
  made.place_bytes_ = place_bytes;
  auto recording = stream::create(device);
  auto reducing = stream::create(device, stream_priority::high);
  if (!recording || !reducing) return fail((recording ? reducing : recording).error());
  made.recording_ = std::move(*recording);
  made.reducing_ = std::move(*reducing);
  for (std::uint32_t i = 0; i < 2 * members.size; ++i) {
    auto copying = stream::create(device);
    if (!copying) return fail(copying.error());
    made.copying_.push_back(std::move(*copying));
  }
  return made;
}

domain_board& pipelined_operation::board_of(std::uint32_t rank) const {
  return *reinterpret_cast<domain_board*>(members_.boards[rank]);
}

std::byte* pipelined_operation::place_of(std::uint32_t owner, std::uint32_t source) const {
  const std::uint32_t number = source < owner ? source : source - 1;
  return members_.boards[owner] + staging_at(members_.size) +
         number * pipeline_depth * place_bytes_;
}

result<chunk_table> pipelined_operation::chunks_of(const pipelined_plan& plan,
                                                   std::uint32_t rank) const {
  const auto share = share_of(rank, members_.size, plan.work.count * size_of(plan.work.type));
  return cut_into_chunks(share.end - share.first, place_bytes_);
}

outcome<void> pipelined_operation::start(stream_ref in, const pipelined_plan& plan) {
  const device_scope current(in.device);
  const auto captured = is_capturing(in);
  if (!captured) return fail(named(captured.error(), "asking a stream whether it is captured"));
  result<void> done;
  if (*captured) {
    stream_recorder captured_streams(calls_);
    done = enqueue(captured_streams, in, plan);
  } else {
    const auto ready = graphs_.find_or_make(plan, calls_, recording_.ref(), [&](recorder& to) {
      return enqueue(to, recording_.ref(), plan);
    });
    if (!ready) return fail(ready.error());
    done = (*ready)->launch(in);
  }
  if (!done) return fail(named(done.error(), "starting a pipelined all-reduce"));
  return {};
}

result<void> pipelined_operation::contribute(recorder& to, stream_ref in,
                                             const pipelined_plan& plan, std::uint32_t peer) {
  const auto chunks = chunks_of(plan, peer);
  if (!chunks) return tl::unexpected<error>(chunks.error());
  const auto share = share_of(peer, members_.size, plan.work.count * size_of(plan.work.type));
  auto& own = board_of(members_.rank);
  auto* const places = place_of(peer, members_.rank);
  flag_batch flags;
  for (std::uint32_t chunk = 0; chunk < chunks->count; ++chunk) {
    if (chunk >= pipeline_depth) flags.take(&own.freed[peer][chunk - pipeline_depth]);
    if (auto done = to.flags(in, flags); !done) return done;
    const auto first = chunks->first(chunk);
    if (auto done =
            to.copy(in, places + chunk % pipeline_depth * place_bytes_,
                    plan.send[members_.rank] + share.first + first, chunks->ends[chunk] - first);
        !done)
      return done;
    flags.set(&board_of(peer).contributed[members_.rank][chunk], 1);
  }
  return to.flags(in, flags);
}

result<void> pipelined_operation::spread(recorder& to, stream_ref in, const pipelined_plan& plan,
                                         std::uint32_t peer) {
  const auto chunks = chunks_of(plan, members_.rank);
  if (!chunks) return tl::unexpected<error>(chunks.error());
  const auto share =
      share_of(members_.rank, members_.size, plan.work.count * size_of(plan.work.type));
  flag_batch flags;
  flags.take(&host_->ready[peer][members_.rank]);
  for (std::uint32_t chunk = 0; chunk < chunks->count; ++chunk) {
    flags.take(&board_of(members_.rank).reduced[peer][chunk]);
    if (auto done = to.flags(in, flags); !done) return done;
    const auto first = share.first + chunks->first(chunk);
    if (auto done = to.copy(in, plan.receive[peer] + first, plan.receive[members_.rank] + first,
                            chunks->ends[chunk] - chunks->first(chunk));
        !done)
      return done;
  }
  flags.set(&host_->landed[members_.rank][peer], 1);
  return to.flags(in, flags);
}

result<void> pipelined_operation::reduce(recorder& to, stream_ref in, const pipelined_plan& plan) {
  const auto chunks = chunks_of(plan, members_.rank);
  if (!chunks) return tl::unexpected<error>(chunks.error());
  const auto share =
      share_of(members_.rank, members_.size, plan.work.count * size_of(plan.work.type));
  pipelined_all_reduce_task task;
  task.members = members_;
  task.work = plan.work;
  task.send = plan.send[members_.rank] + share.first;
  task.receive = plan.receive[members_.rank] + share.first;
  for (std::uint32_t peer = 0; peer < members_.size; ++peer)
    if (peer != members_.rank) task.places[peer] = place_of(members_.rank, peer);
  task.place_bytes = place_bytes_;
  task.blocks = plan.blocks;
  task.chunks = *chunks;
  const auto launch = pipelined_all_reduce_launch(task);
  if (!launch) return tl::unexpected<error>(launch.error());
  return to.launch(in, *launch);
}

result<void> pipelined_operation::enqueue(recorder& to, stream_ref in, const pipelined_plan& plan) {
  flag_batch flags;
  for (std::uint32_t peer = 0; peer < members_.size; ++peer)
    if (peer != members_.rank) flags.set(&host_->ready[members_.rank][peer], 1);
  auto done = to.flags(in, flags);
  // Everything forks before anything is joined: the parts wait for each other.
  std::vector<std::uint32_t> peers;
  for (std::uint32_t step = 1; step < members_.size; ++step)
    peers.push_back((members_.rank + step) % members_.size);
  std::vector<stream_ref> parts{reducing_.ref()};
  for (const auto peer : peers)
    for (const std::uint32_t part : {0, 1})
      parts.push_back(copying_[2 * peer + part].ref());
  for (const auto part : parts)
    if (done) done = to.order(in, part);
  if (done) done = reduce(to, reducing_.ref(), plan);
  for (const auto peer : peers) {
    if (done) done = contribute(to, copying_[2 * peer].ref(), plan, peer);
    if (done) done = spread(to, copying_[2 * peer + 1].ref(), plan, peer);
  }
  for (const auto part : parts)
    if (done) done = to.order(part, in);
  for (const auto peer : peers)
    flags.take(&host_->landed[peer][members_.rank]);
  return done ? to.flags(in, flags) : done;
}

}  // namespace troupe::kernels::detail
