#include "tests/bench/gpu/nccl_library.hpp"

#include <dlfcn.h>

namespace troupe::bench {

namespace {

constexpr int float32_of_nccl = 7;
constexpr int sum_of_nccl = 0;

template <class Call>
bool find(void* library, const char* name, Call& call) {
  call = reinterpret_cast<Call>(::dlsym(library, name));
  return call != nullptr;
}

}  // namespace

outcome<nccl_library> nccl_library::load(const std::string& path) {
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return fail(errc::not_available, std::string("NCCL is not there: ") + ::dlerror());
  nccl_library made;
  const bool complete = find(library, "ncclGetVersion", made.get_version_) &&
                        find(library, "ncclGetErrorString", made.error_string_) &&
                        find(library, "ncclGetUniqueId", made.get_unique_id_) &&
                        find(library, "ncclCommInitRank", made.init_rank_) &&
                        find(library, "ncclAllReduce", made.all_reduce_) &&
                        find(library, "ncclAllGather", made.all_gather_) &&
                        find(library, "ncclSend", made.send_) &&
                        find(library, "ncclRecv", made.receive_) &&
                        find(library, "ncclGroupStart", made.group_start_) &&
                        find(library, "ncclGroupEnd", made.group_end_);
  if (!complete) return fail(errc::not_available, path + " is no NCCL");
  return made;
}

outcome<void> nccl_library::checked(int status, const char* what) const {
  if (status == 0) return {};
  return fail(failure(error{errc::system_failure, status},
                      std::string(what) + ": " + error_string_(status)));
}

std::string nccl_library::version() const {
  int number = 0;
  get_version_(&number);
  return std::to_string(number / 10'000) + "." + std::to_string(number / 100 % 100) + "." +
         std::to_string(number % 100);
}

outcome<nccl_library::unique_id> nccl_library::make_unique_id() const {
  unique_id id{};
  if (auto done = checked(get_unique_id_(&id), "ncclGetUniqueId"); !done) return fail(done.error());
  return id;
}

outcome<void*> nccl_library::join(const unique_id& id, std::uint32_t rank,
                                  std::uint32_t size) const {
  void* communicator = nullptr;
  if (auto done =
          checked(init_rank_(&communicator, static_cast<int>(size), id, static_cast<int>(rank)),
                  "ncclCommInitRank");
      !done)
    return fail(done.error());
  return communicator;
}

outcome<void> nccl_library::all_reduce(void* with, kernels::stream_ref in, const void* send,
                                       void* receive, std::uint64_t count) const {
  return checked(all_reduce_(send, receive, count, float32_of_nccl, sum_of_nccl, with, in.native),
                 "ncclAllReduce");
}

outcome<void> nccl_library::all_gather(void* with, kernels::stream_ref in, const void* send,
                                       void* receive, std::uint64_t count) const {
  return checked(all_gather_(send, receive, count, float32_of_nccl, with, in.native),
                 "ncclAllGather");
}

outcome<void> nccl_library::exchange_with(void* with, kernels::stream_ref in, const exchange* peers,
                                          std::uint32_t peer_count, std::uint64_t count) const {
  auto done = checked(group_start_(), "ncclGroupStart");
  for (std::uint32_t i = 0; i < peer_count; ++i) {
    const int peer = static_cast<int>(peers[i].peer);
    if (done)
      done =
          checked(send_(peers[i].send, count, float32_of_nccl, peer, with, in.native), "ncclSend");
    if (done)
      done = checked(receive_(peers[i].receive, count, float32_of_nccl, peer, with, in.native),
                     "ncclRecv");
  }
  const auto ended = checked(group_end_(), "ncclGroupEnd");
  return done ? ended : done;
}

}  // namespace troupe::bench
