#include "net/registration/bounce_pool.hpp"

#include <algorithm>

#include "runtime/assert.hpp"

namespace troupe::net {

bounce_pool::bounce_pool(std::uint64_t place_bytes, std::uint32_t place_count)
    : place_bytes_(place_bytes), taken_(place_count, false) {
  TROUPE_ASSERT(place_bytes > 0);
  // The place that was free longest is taken last: a hot one is in the cache.
  for (auto place = place_count; place > 0; --place)
    free_.push_back(place - 1);
}

std::optional<std::uint64_t> bounce_pool::take() {
  if (free_.empty()) {
    ++refused_total_;
    return std::nullopt;
  }
  const auto place = free_.back();
  free_.pop_back();
  taken_[place] = true;
  taken_count_max_ = std::max(taken_count_max_, ++taken_count_);
  return place * place_bytes_;
}

void bounce_pool::give_back(std::uint64_t offset) {
  TROUPE_ASSERT(offset % place_bytes_ == 0);
  const auto place = offset / place_bytes_;
  TROUPE_ASSERT(place < taken_.size());
  TROUPE_ASSERT(taken_[place]);
  taken_[place] = false;
  --taken_count_;
  free_.push_back(static_cast<std::uint32_t>(place));
}

}  // namespace troupe::net
