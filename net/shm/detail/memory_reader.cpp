#include "net/shm/detail/memory_reader.hpp"

#include "runtime/stream_copy.hpp"

#include <sys/uio.h>

#include <cerrno>

namespace troupe::net::detail {

result<std::uint64_t> pull(::pid_t process, std::byte* to, std::uint64_t source,
                           std::uint64_t bytes) {
  const iovec here{to, bytes};
  const iovec there{reinterpret_cast<void*>(static_cast<std::uintptr_t>(source)), bytes};
  const auto got = ::process_vm_readv(process, &here, 1, &there, 1, 0);
  if (got <= 0) return fail(errc::peer_lost, got < 0 ? errno : EFAULT);
  return static_cast<std::uint64_t>(got);
}

result<void> probe(::pid_t process, std::uint64_t source, std::uint64_t value) {
  std::uint64_t found = 0;
  const auto got = pull(process, reinterpret_cast<std::byte*>(&found), source, sizeof found);
  if (!got) return tl::unexpected<error>({errc::not_available, got.error().native});
  if (*got != sizeof found || found != value) return fail(errc::not_available);
  return {};
}

void copy_within(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  copy_memory(to, from, bytes, {.path = store_path::cached});
}

}  // namespace troupe::net::detail
