#include "net/membership/epoch_record.hpp"

#include "runtime/assert.hpp"

namespace troupe::net {

epoch_record first_epoch(std::uint32_t size) {
  epoch_record first;
  for (std::uint32_t i = 0; i < size; ++i) {
    first.members.push_back({i});
    first.processes.push_back(i);
  }
  first.next_member = {size};
  return first;
}

std::uint32_t process_of(const epoch_record& record, member_id member) {
  const auto at = std::lower_bound(record.members.begin(), record.members.end(), member);
  TROUPE_ASSERT(at != record.members.end() && *at == member);
  return record.processes[static_cast<std::size_t>(at - record.members.begin())];
}

}  // namespace troupe::net
