#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "kernels/detail/cuda_status.hpp"
#include "kernels/domain/detail/host_board_memory.hpp"

namespace troupe::kernels::detail {

namespace {

failure system_text(const std::string& what) {
  return {{errc::system_failure, errno}, what + ": " + std::strerror(errno)};
}

}  // namespace

outcome<host_board_memory> host_board_memory::create() {
  host_board_memory made;
  made.descriptor_ = ::memfd_create("troupe.domain", MFD_CLOEXEC);
  if (made.descriptor_ < 0) return fail(system_text("memfd_create"));
  if (::ftruncate(made.descriptor_, sizeof(host_board)) != 0)
    return fail(system_text("allocating the shared page of a domain"));
  if (auto done = made.map(); !done) return fail(done.error());
  return made;
}

outcome<host_board_memory> host_board_memory::open(std::int64_t process, std::int32_t descriptor) {
  host_board_memory made;
  const auto path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(descriptor);
  made.descriptor_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (made.descriptor_ < 0)
    return fail(system_text("opening the shared page of process " + std::to_string(process)));
  if (auto done = made.map(); !done) return fail(done.error());
  return made;
}

outcome<void> host_board_memory::map() {
  void* const place = ::mmap(nullptr, sizeof(host_board), PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_POPULATE, descriptor_, 0);
  if (place == MAP_FAILED) return fail(system_text("mapping the shared page of a domain"));
  board_ = static_cast<host_board*>(place);
  ::madvise(place, sizeof(host_board), MADV_DONTFORK);
  auto done = checked(cudaHostRegister(place, sizeof(host_board), cudaHostRegisterPortable),
                      "pinning the shared page of a domain");
  pinned_ = done.has_value();
  return done;
}

host_board_memory::host_board_memory(host_board_memory&& other) noexcept {
  *this = std::move(other);
}

host_board_memory& host_board_memory::operator=(host_board_memory&& other) noexcept {
  if (this == &other) return *this;
  reset();
  board_ = std::exchange(other.board_, nullptr);
  descriptor_ = std::exchange(other.descriptor_, -1);
  pinned_ = std::exchange(other.pinned_, false);
  return *this;
}

void host_board_memory::forget_descriptor() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

void host_board_memory::reset() {
  if (pinned_) static_cast<void>(cudaHostUnregister(board_));
  if (board_ != nullptr) ::munmap(board_, sizeof(host_board));
  board_ = nullptr;
  pinned_ = false;
  forget_descriptor();
}

}  // namespace troupe::kernels::detail
