#include "net/link/control_stream.hpp"

#include <bit>

#include "runtime/assert.hpp"

namespace troupe::net {

// The ring is a power of two, so that number % size goes on across the wrap of the numbers.
control_stream::control_stream(std::uint32_t limit, std::uint32_t first_number,
                               std::pmr::memory_resource* memory)
    : limit_(limit),
      base_(first_number),
      cursor_(first_number),
      end_(first_number),
      highest_posted_(first_number),
      expected_(first_number),
      ring_(std::bit_ceil(limit), memory) {}

std::uint32_t control_stream::room() const {
  return outstanding() + 1 < limit_ ? limit_ - 1 - outstanding() : 0;
}

bool control_stream::has_room_to_acknowledge(bool new_to_peer) const {
  return outstanding() + (new_to_peer ? 0u : 1u) < limit_;
}

std::uint32_t control_stream::append(const control_body& body) {
  TROUPE_ASSERT(outstanding() < limit_);
  auto& f = at(end_);
  f.kind = kind_of(body);
  f.posted = false;
  f.posted_elsewhere = false;
  f.length = static_cast<std::uint16_t>(encode(body, f.body));
  if (f.kind != control_kind::acknowledge) ++answerable_;
  return end_++;
}

void control_stream::note_posted() {
  ++cursor_;
  if (static_cast<std::int32_t>(cursor_ - highest_posted_) > 0) highest_posted_ = cursor_;
}

bool control_stream::acknowledge(std::uint32_t number) {
  const auto ahead = static_cast<std::int32_t>(number - base_);
  if (ahead <= 0) return true;  // old news
  if (static_cast<std::int32_t>(highest_posted_ - number) < 0) return false;
  for (; base_ != number; ++base_) {
    if (at(base_).kind != control_kind::acknowledge) --answerable_;
  }
  if (static_cast<std::int32_t>(cursor_ - base_) < 0) cursor_ = base_;
  return true;
}

void control_stream::move() {
  for (auto n = base_; n != end_; ++n) {
    if (at(n).posted) at(n).posted_elsewhere = true;
  }
  cursor_ = base_;
}

control_stream::verdict control_stream::receive(std::uint32_t number) {
  const auto ahead = static_cast<std::int32_t>(number - expected_);
  if (ahead < 0) return verdict::duplicate;
  if (ahead > 0) return verdict::gap;
  ++expected_;
  return verdict::fresh;
}

}  // namespace troupe::net
