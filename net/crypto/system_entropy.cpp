#include "net/crypto/system_entropy.hpp"

#include <sys/random.h>

#include <cerrno>

namespace troupe::net {

result<std::array<std::byte, 32>> system_entropy() {
  std::array<std::byte, 32> out{};
  std::size_t filled = 0;
  while (filled < out.size()) {
    const auto got = ::getrandom(out.data() + filled, out.size() - filled, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return fail(errc::system_failure, errno);
    filled += static_cast<std::size_t>(got);
  }
  return out;
}

}  // namespace troupe::net
