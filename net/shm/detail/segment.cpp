#include "net/shm/detail/segment.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>

namespace troupe::net::detail {

namespace {

constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW;

std::uint64_t page_size() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

// The number in the first line of a file; `no_limit` if there is none ("max").
std::uint64_t number_in(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t value = no_limit;
  return file >> value ? value : no_limit;
}

std::uint64_t available_to_machine() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  std::uint64_t kib = 0;
  while (file >> word)
    if (word == "MemAvailable:" && file >> kib) return kib * 1024;
  return no_limit;
}

// Version 2 shows a group's own files at the mount; version 1 below "memory".
std::uint64_t available_to_group() {
  const auto limit = std::min(number_in("/sys/fs/cgroup/memory.max"),
                              number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
  if (limit == no_limit) return no_limit;
  auto used = number_in("/sys/fs/cgroup/memory.current");
  if (used == no_limit) used = number_in("/sys/fs/cgroup/memory/memory.usage_in_bytes");
  return used == no_limit ? limit : limit - std::min(limit, used);
}

std::uint64_t file_size_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return no_limit;
  return limit.rlim_cur;
}

failure too_small(std::uint64_t needed, int code) {
  const std::array<std::pair<std::uint64_t, const char*>, 3> bounds{
      {{available_to_machine(), "MemAvailable of /proc/meminfo"},
       {available_to_group(), "the control group's memory limit"},
       {file_size_limit(), "RLIMIT_FSIZE, ulimit -f"}}};
  const auto least = *std::min_element(bounds.begin(), bounds.end());
  return {{errc::resource_exhausted, code},
          "not enough shared memory for a lane: " + std::to_string(needed) + " bytes needed, " +
              std::to_string(least.first) + " available (" + least.second + "; " +
              std::strerror(code) +
              "); free memory, lower shm.ring_bytes or shm.lane_depth, or set transport.lanes "
              "to tcp"};
}

// Everything is allocated now: memory that is promised and not there would kill the process that
// touches it.
outcome<void> allocate(const descriptor& file, std::uint64_t bytes) {
  // Beyond this limit the system sends a signal that ends the process instead of an error.
  if (bytes > file_size_limit()) return fail(too_small(bytes, EFBIG));
  if (::ftruncate(file.number(), static_cast<off_t>(bytes)) != 0)
    return fail(too_small(bytes, errno));
  int done = 0;
  do {
    done = ::fallocate(file.number(), 0, 0, static_cast<off_t>(bytes));
  } while (done != 0 && errno == EINTR);
  if (done != 0) return fail(too_small(bytes, errno));
  return {};
}

// A peer that could shrink its file would end us with SIGBUS; a file of a disk could do so, too.
bool is_safe(int file, std::uint64_t bytes) {
  struct statfs system {};
  struct stat status {};
  const int has = ::fcntl(file, F_GET_SEALS);
  return has >= 0 && (has & seals) == seals && ::fstatfs(file, &system) == 0 &&
         system.f_type == TMPFS_MAGIC && ::fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
         static_cast<std::uint64_t>(status.st_size) == bytes;
}

// Maps `bytes` of `file` from `at` on to `place`, twice in a row.
bool map_twice(std::byte* place, std::uint64_t bytes, int file, std::uint64_t at) {
  for (int copy = 0; copy < 2; ++copy)
    if (::mmap(place + static_cast<std::uint64_t>(copy) * bytes, bytes, PROT_READ | PROT_WRITE,
               MAP_SHARED | MAP_FIXED, file, static_cast<off_t>(at)) == MAP_FAILED)
      return false;
  return true;
}

}  // namespace

segment& segment::operator=(segment&& other) noexcept {
  if (this == &other) return *this;
  reset();
  sizes_ = other.sizes_;
  file_ = std::move(other.file_);
  base_ = std::exchange(other.base_, nullptr);
  mapped_bytes_ = std::exchange(other.mapped_bytes_, 0);
  page_bytes_ = other.page_bytes_;
  return *this;
}

void segment::reset() {
  if (base_ != nullptr) ::munmap(base_, mapped_bytes_);
  base_ = nullptr;
  file_.reset();
}

result<void> segment::map() {
  page_bytes_ = page_size();
  mapped_bytes_ = page_bytes_ + 4 * (sizes_.ring_bytes + sizes_.bulk_bytes);
  auto* const place =
      ::mmap(nullptr, mapped_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) return fail(errc::resource_exhausted, errno);
  base_ = static_cast<std::byte*>(place);
  const int file = file_.number();
  bool mapped = ::mmap(base_, page_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                       0) != MAP_FAILED;
  auto at = page_bytes_;
  for (int side = 0; side < 2 && mapped; ++side, at += sizes_.ring_bytes)
    mapped = map_twice(ring(side), sizes_.ring_bytes, file, at);
  for (int side = 0; side < 2 && mapped && sizes_.bulk_bytes != 0; ++side, at += sizes_.bulk_bytes)
    mapped = map_twice(bulk(side), sizes_.bulk_bytes, file, at);
  if (!mapped) return fail(errc::resource_exhausted, errno);
  ::madvise(base_, mapped_bytes_, MADV_DONTFORK);
  return {};
}

outcome<segment> segment::create(const shm_geometry& sizes) {
  const auto bytes = segment_bytes(sizes, page_size());
  segment made;
  made.sizes_ = sizes;
  made.file_ = descriptor(::memfd_create("troupe.lane", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!made.file_.valid())
    return fail(failure({errc::system_failure, errno},
                        std::string("memfd_create: ") + std::strerror(errno)));
  if (auto done = allocate(made.file_, bytes); !done) return fail(done.error());
  if (::fcntl(made.file_.number(), F_ADD_SEALS, seals | F_SEAL_SEAL) != 0)
    return fail(failure({errc::system_failure, errno},
                        std::string("F_ADD_SEALS: ") + std::strerror(errno)));
  if (const auto mapped = made.map(); !mapped)
    return fail(failure(mapped.error(),
                        "cannot map " + std::to_string(bytes) +
                            " bytes of shared memory: " + std::strerror(mapped.error().native)));
  return made;
}

result<segment> segment::adopt(descriptor file, const shm_geometry& sizes) {
  if (!file.valid() || !is_safe(file.number(), segment_bytes(sizes, page_size())))
    return fail(errc::malformed);
  segment made;
  made.sizes_ = sizes;
  made.file_ = std::move(file);
  if (const auto mapped = made.map(); !mapped) return tl::unexpected<error>(mapped.error());
  made.forget_file();
  return made;
}

}  // namespace troupe::net::detail
