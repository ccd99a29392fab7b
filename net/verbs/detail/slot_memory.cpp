#include "net/verbs/detail/slot_memory.hpp"

#include <cerrno>

namespace troupe::net::detail {

result<slot_memory> slot_memory::make(ibv_pd& domain, const slot_counts& counts) {
  slot_memory made;
  made.counts_ = counts;
  const auto bytes = bytes_of(counts);
  made.bytes_.reset(static_cast<std::byte*>(::operator new[](bytes, alignment)));
  // A number, because the macro behind the call combines it with another enumeration.
  constexpr int access = IBV_ACCESS_LOCAL_WRITE;
  made.registration_.reset(ibv_reg_mr(&domain, made.bytes_.get(), bytes, access));
  if (!made.registration_) return fail(errc::resource_exhausted, errno);
  for (auto slot = counts.send; slot-- > 0;)
    made.free_.push_back(slot);
  return made;
}

}  // namespace troupe::net::detail
