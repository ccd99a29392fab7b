#include "net/verbs/region_directory.hpp"

namespace troupe::net {

const verbs_remote_memory* region_directory::find(std::uint64_t key) const {
  const auto& entry = entries_[place_of(key)];
  return key != 0 && entry.key == key ? &entry.memory : nullptr;
}

void region_directory::put(std::uint64_t key, const verbs_remote_memory& memory) {
  entries_[place_of(key)] = {key, memory};
}

void region_directory::clear() {
  entries_.fill({});
  ++generation_;
}

}  // namespace troupe::net
