#include "net/membership/epoch_record.hpp"

namespace troupe::net {

epoch_record first_epoch(std::uint32_t size) {
  epoch_record first;
  for (std::uint32_t i = 0; i < size; ++i)
    first.members.push_back({i});
  first.next_member = {size};
  return first;
}

}  // namespace troupe::net
