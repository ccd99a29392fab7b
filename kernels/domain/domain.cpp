#include "kernels/domain/domain.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/detail/cuda_status.hpp"
#include "kernels/device/device.hpp"
#include "kernels/device/memory.hpp"
#include "kernels/device/stream.hpp"
#include "kernels/domain/detail/all_reduce_tasks.hpp"
#include "kernels/domain/detail/copy_operations.hpp"
#include "kernels/domain/detail/host_board_memory.hpp"
#include "kernels/domain/detail/pipelined_operation.hpp"

namespace troupe::kernels {

namespace {

/// What members tell each other about one allocation.
struct introduction {
  memory_export memory;
  std::int64_t process = 0;
  std::int32_t host_board_descriptor = -1;
  std::int32_t refused = 0;  ///< this member failed before the meeting; nobody goes on
};

outcome<std::vector<introduction>> introduce(const introduction& mine, std::uint32_t size,
                                             meeting& others) {
  std::vector<introduction> all(size);
  if (auto done = others.all_gather(std::as_bytes(std::span(&mine, 1)),
                                    std::as_writable_bytes(std::span(all)));
      !done)
    return fail(done.error());
  return all;
}

/// Memory that every member shared, as this GPU reaches it.
struct shared_memory {
  std::uint64_t bytes = 0;
  std::array<std::byte*, domain_ranks_max> data{};
  std::vector<peer_memory> peers;
};

constexpr std::uint64_t default_chunk_bytes(std::uint32_t size) {
  return (std::uint64_t{16} << 20) / size / 128 * 128;
}

/// Everybody says whether it came this far; nobody goes on unless all did.
outcome<void> agree(const outcome<void>& mine, std::uint32_t size, meeting& others) {
  introduction word;
  word.refused = mine ? 0 : 1;
  const auto all = introduce(word, size, others);
  if (!mine) return mine;
  if (!all) return fail(all.error());
  for (std::uint32_t rank = 0; rank < size; ++rank)
    if ((*all)[rank].refused != 0)
      return fail(failure(
          error{errc::not_available, 0, troupe::rank{rank}},
          "member " + std::to_string(rank) + " of the domain failed; its own error says why"));
  return {};
}

}  // namespace

struct domain::state {
  domain_options options;
  device_memory board;
  detail::host_board_memory host;
  detail::domain_members members;
  detail::copy_operations copies;
  detail::pipelined_operation pipeline;
  std::vector<peer_memory> peer_boards;
  std::vector<shared_memory> shared;
  std::optional<stream_ref> last_stream;

  outcome<void> prepare();
  outcome<void> connect(const std::vector<introduction>& all);
  outcome<void> reach(shared_memory& into, const std::vector<introduction>& all, std::byte* own);
  outcome<void> begin(stream_ref in);
  /// Where every member has what this one has at `own`; none if it is not shared.
  std::optional<std::array<std::byte*, domain_ranks_max>> everywhere(const void* own,
                                                                     std::uint64_t bytes) const;
  outcome<void> start_copies(stream_ref in, const detail::copy_plan& plan);
  outcome<void> reduce_shared(stream_ref in, const all_reduce_call& call, all_reduce_path path,
                              std::uint64_t bytes);
};

domain::domain(std::unique_ptr<state> formed) : state_(std::move(formed)) {}
domain::~domain() = default;

outcome<void> domain::state::prepare() {
  const auto count = device_count();
  if (!count) return fail(count.error());
  if (options.size == 0 || options.size > domain_ranks_max || options.rank >= options.size)
    return fail(errc::bad_argument, "a domain has 1 to " + std::to_string(domain_ranks_max) +
                                        " members, and " + std::to_string(options.rank) + " of " +
                                        std::to_string(options.size) + " is none");
  if (options.device < 0 || options.device >= *count)
    return fail(errc::bad_argument, "there is no GPU " + std::to_string(options.device) + ": " +
                                        std::to_string(*count) + " are visible");
  if (options.chunk_bytes == 0) options.chunk_bytes = default_chunk_bytes(options.size);
  if (options.chunk_bytes % 128 != 0)
    return fail(errc::bad_argument, "chunk_bytes is no multiple of 128");
  auto made = device_memory::allocate(
      options.device,
      staging_at(options.size) + detail::staging_bytes(options.size, options.chunk_bytes));
  if (!made) return fail(made.error());
  board = std::move(*made);
  const device_scope current(options.device);
  auto loaded = detail::load_small_all_reduce();
  if (loaded) loaded = detail::load_two_shot_all_reduce();
  if (loaded) loaded = detail::load_pipelined_all_reduce();
  if (!loaded) return fail(detail::named(loaded.error(), "loading kernels"));
  return {};
}

outcome<void> domain::state::reach(shared_memory& into, const std::vector<introduction>& all,
                                   std::byte* own) {
  for (std::uint32_t rank = 0; rank < options.size; ++rank) {
    if (rank == options.rank) {
      into.data[rank] = own;
      continue;
    }
    auto peer = peer_memory::import(options.device, all[rank].memory);
    if (!peer) return fail(peer.error());
    into.data[rank] = peer->data();
    into.peers.push_back(std::move(*peer));
  }
  return {};
}

outcome<std::unique_ptr<domain>> domain::form(const domain_options& options, meeting& others) {
  auto formed = std::make_unique<state>();
  formed->options = options;
  introduction mine;
  mine.process = ::getpid();
  auto prepared = formed->prepare();
  if (prepared) {
    auto exported = export_memory(formed->board.data(), formed->board.bytes());
    if (exported)
      mine.memory = *exported;
    else
      prepared = fail(exported.error());
  }
  if (prepared && options.rank == 0) {
    auto host = detail::host_board_memory::create();
    if (host)
      formed->host = std::move(*host);
    else
      prepared = fail(host.error());
    mine.host_board_descriptor = formed->host.descriptor();
  }
  if (auto all_well = agree(prepared, options.size, others); !all_well)
    return fail(all_well.error());

  const auto all = introduce(mine, options.size, others);
  if (!all) return fail(all.error());
  // Nobody closes or uses anything before everybody has it.
  if (auto all_well = agree(formed->connect(*all), options.size, others); !all_well)
    return fail(all_well.error());
  formed->host.forget_descriptor();
  return std::unique_ptr<domain>(new domain(std::move(formed)));
}

outcome<void> domain::state::connect(const std::vector<introduction>& all) {
  shared_memory boards;
  for (const auto& other : all)
    if (other.process == all[options.rank].process)
      if (auto done = allow_peer_access(options.device, other.memory.device); !done) return done;
  if (auto done = reach(boards, all, board.data()); !done) return done;
  if (options.rank != 0) {
    auto opened = detail::host_board_memory::open(all[0].process, all[0].host_board_descriptor);
    if (!opened) return fail(opened.error());
    host = std::move(*opened);
  }
  peer_boards = std::move(boards.peers);
  members.rank = options.rank;
  members.size = options.size;
  members.aborted = &host.board().aborted.value;
  for (std::uint32_t rank = 0; rank < options.size; ++rank)
    members.boards[rank] = boards.data[rank];
  auto made = detail::copy_operations::create(options.device, options.rank, host.board());
  if (!made) return fail(made.error());
  copies = std::move(*made);
  if (options.size > detail::pipelined_ranks_max) return {};
  auto piped = detail::pipelined_operation::create(options.device, members, host.board(),
                                                   options.chunk_bytes);
  if (!piped) return fail(piped.error());
  pipeline = std::move(*piped);
  return {};
}

outcome<void> domain::share(void* data, std::uint64_t bytes, meeting& others) {
  const auto size = state_->options.size;
  introduction mine;
  outcome<void> prepared;
  if (auto exported = export_memory(data, bytes))
    mine.memory = *exported;
  else
    prepared = fail(exported.error());
  if (auto all_well = agree(prepared, size, others); !all_well) return all_well;
  const auto all = introduce(mine, size, others);
  if (!all) return fail(all.error());
  shared_memory made;
  made.bytes = bytes;
  outcome<void> reached;
  for (std::uint32_t rank = 0; rank < size; ++rank)
    if ((*all)[rank].memory.bytes != bytes)
      reached = fail(errc::bad_argument,
                     "members share memory of different sizes: " + std::to_string(bytes) +
                         " bytes here, " + std::to_string((*all)[rank].memory.bytes) +
                         " at member " + std::to_string(rank));
  if (reached) reached = state_->reach(made, *all, static_cast<std::byte*>(data));
  if (auto all_well = agree(reached, size, others); !all_well) return all_well;
  state_->shared.push_back(std::move(made));
  return {};
}

outcome<void> domain::state::begin(stream_ref in) {
  if (std::atomic_ref(host.board().aborted.value).load(std::memory_order_acquire) != 0)
    return fail(errc::aborted, "the domain was aborted");
  if (in.device != options.device)
    return fail(errc::bad_argument, "the stream is of GPU " + std::to_string(in.device) +
                                        ", this member of GPU " + std::to_string(options.device));
  if (last_stream && !(*last_stream == in))
    if (auto done = order(*last_stream, in); !done)
      return fail(
          detail::named(done.error(), "ordering this stream after that of the last operation"));
  last_stream = in;
  return {};
}

std::optional<std::array<std::byte*, domain_ranks_max>> domain::state::everywhere(
    const void* own, std::uint64_t bytes) const {
  const auto at = reinterpret_cast<std::uintptr_t>(own);
  for (const auto& memory : shared) {
    const auto base = reinterpret_cast<std::uintptr_t>(memory.data[options.rank]);
    if (at < base || at - base > memory.bytes || bytes > memory.bytes - (at - base)) continue;
    auto places = memory.data;
    for (std::uint32_t rank = 0; rank < options.size; ++rank)
      places[rank] += at - base;
    return places;
  }
  return std::nullopt;
}

namespace {

failure not_shared(const char* which) {
  return {errc::not_available,
          std::string(which) + " lies in no memory that the members share: call share() for it"};
}

/// As measured on two H200 (docs/gpu.md): more blocks do not help.
std::uint32_t blocks_for(all_reduce_path path, std::uint64_t bytes) {
  if (path == all_reduce_path::pipelined) return 4;
  if (bytes <= (std::uint64_t{2} << 20)) return 16;
  return bytes <= (std::uint64_t{32} << 20) ? 64 : 128;
}

}  // namespace

outcome<void> domain::state::reduce_shared(stream_ref in, const all_reduce_call& call,
                                           all_reduce_path path, std::uint64_t bytes) {
  const detail::reduction_task work{call.type, call.op, call.scalar, call.count};
  const auto blocks = call.blocks != 0 ? call.blocks : blocks_for(path, bytes);
  const auto send = everywhere(call.send, bytes);
  const auto receive = everywhere(call.receive, bytes);
  if (!send || !receive) return fail(not_shared(send ? "receive" : "send"));
  if (path == all_reduce_path::pipelined) {
    if (options.size > detail::pipelined_ranks_max)
      return fail(errc::not_available, "the path pipelined takes at most " +
                                           std::to_string(detail::pipelined_ranks_max) +
                                           " members, there are " + std::to_string(options.size));
    if (((*send)[options.rank] - (*receive)[options.rank]) % 16 != 0 ||
        reinterpret_cast<std::uintptr_t>(call.send) % 16 != 0)
      return fail(errc::bad_argument,
                  "the path pipelined needs addresses that are multiples of 16");
    return pipeline.start(in, {work, *send, *receive, blocks});
  }
  detail::two_shot_all_reduce_task task;
  task.members = members;
  task.work = work;
  task.blocks = blocks;
  for (std::uint32_t rank = 0; rank < options.size; ++rank) {
    task.send[rank] = (*send)[rank];
    task.receive[rank] = (*receive)[rank];
  }
  if (auto done = detail::launch_two_shot_all_reduce(in, task); !done)
    return fail(detail::named(done.error(), "launching an all-reduce"));
  return {};
}

outcome<void> domain::all_reduce(stream_ref in, const all_reduce_call& call) {
  const std::uint64_t bytes = call.count * size_of(call.type);
  if (size_of(call.type) == 0) return fail(errc::bad_argument, "there is no such data type");
  if (auto done = state_->begin(in); !done) return done;
  if (call.count == 0) return {};
  auto path = call.path;
  if (path == all_reduce_path::automatic)
    path = bytes <= small_bytes_max ? all_reduce_path::small : all_reduce_path::two_shot;
  if (path != all_reduce_path::small) return state_->reduce_shared(in, call, path, bytes);
  if (bytes > small_bytes_max)
    return fail(errc::bad_argument,
                std::to_string(bytes) +
                    " bytes are too many for the path small, which takes up to " +
                    std::to_string(small_bytes_max));
  const detail::small_all_reduce_task task{state_->members,
                                           {call.type, call.op, call.scalar, call.count},
                                           static_cast<const std::byte*>(call.send),
                                           static_cast<std::byte*>(call.receive)};
  if (auto done = detail::launch_small_all_reduce(in, task); !done)
    return fail(detail::named(done.error(), "launching a small all-reduce"));
  return {};
}

outcome<void> domain::state::start_copies(stream_ref in, const detail::copy_plan& plan) {
  if (auto done = begin(in); !done) return done;
  return copies.start(in, plan);
}

outcome<void> domain::all_gather(stream_ref in, const copy_call& call) {
  const auto& options = state_->options;
  const auto receive = state_->everywhere(call.receive, call.bytes * options.size);
  if (!receive) return fail(not_shared("receive"));
  detail::copy_plan plan;
  for (std::uint32_t step = 1; step <= options.size; ++step) {
    const std::uint32_t peer = (options.rank + step) % options.size;
    auto* const to = (*receive)[peer] + options.rank * call.bytes;
    const auto* const from = static_cast<const std::byte*>(call.send);
    if (peer != options.rank) plan.incoming.push_back(peer);
    if (to != from) plan.outgoing.push_back({peer, from, to, call.bytes});
  }
  return state_->start_copies(in, plan);
}

outcome<void> domain::all_to_all(stream_ref in, const copy_call& call) {
  const auto& options = state_->options;
  const auto receive = state_->everywhere(call.receive, call.bytes * options.size);
  if (!receive) return fail(not_shared("receive"));
  if (call.send == call.receive) return fail(errc::bad_argument, "all_to_all cannot work in place");
  detail::copy_plan plan;
  for (std::uint32_t step = 1; step <= options.size; ++step) {
    const std::uint32_t peer = (options.rank + step) % options.size;
    if (peer != options.rank) plan.incoming.push_back(peer);
    plan.outgoing.push_back({peer, static_cast<const std::byte*>(call.send) + peer * call.bytes,
                             (*receive)[peer] + options.rank * call.bytes, call.bytes});
  }
  return state_->start_copies(in, plan);
}

outcome<void> domain::broadcast(stream_ref in, const copy_call& call, std::uint32_t root) {
  const auto& options = state_->options;
  if (root >= options.size) return fail(errc::bad_argument, "the root is no member");
  const auto receive = state_->everywhere(call.receive, call.bytes);
  if (!receive) return fail(not_shared("receive"));
  detail::copy_plan plan;
  if (root != options.rank) plan.incoming.push_back(root);
  for (std::uint32_t step = 1; step <= options.size && root == options.rank; ++step) {
    const std::uint32_t peer = (options.rank + step) % options.size;
    if ((*receive)[peer] != call.send)
      plan.outgoing.push_back(
          {peer, static_cast<const std::byte*>(call.send), (*receive)[peer], call.bytes});
  }
  return state_->start_copies(in, plan);
}

outcome<void> domain::send_receive(stream_ref in, const copy_call& call, std::uint32_t to,
                                   std::uint32_t from) {
  const auto& options = state_->options;
  if (to >= options.size || from >= options.size)
    return fail(errc::bad_argument, "a peer is no member");
  const auto receive = state_->everywhere(call.receive, call.bytes);
  if (!receive) return fail(not_shared("receive"));
  detail::copy_plan plan;
  if (from != options.rank) plan.incoming.push_back(from);
  plan.outgoing.push_back(
      {to, static_cast<const std::byte*>(call.send), (*receive)[to], call.bytes});
  return state_->start_copies(in, plan);
}

void domain::abort() {
  auto& board = state_->host.board();
  std::atomic_ref(board.aborted.value).store(1, std::memory_order_release);
  for (auto& row : board.ready)
    for (auto& flag : row)
      std::atomic_ref(flag.value).store(1, std::memory_order_release);
  for (auto& row : board.landed)
    for (auto& flag : row)
      std::atomic_ref(flag.value).store(1, std::memory_order_release);
}

bool domain::aborted() const {
  return std::atomic_ref(state_->host.board().aborted.value).load(std::memory_order_acquire) != 0;
}

std::uint64_t domain::device_bytes() const {
  return state_->board.bytes();
}

}  // namespace troupe::kernels
