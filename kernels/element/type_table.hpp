#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "runtime/data_type.hpp"

namespace troupe::kernels {

/// Entry<type>::get() of every type, in the order of their numbers.
template <template <data_type> class Entry>
auto of_all_types() {
  return []<std::size_t... Number>(std::index_sequence<Number...>) {
    return std::array{Entry<static_cast<data_type>(Number)>::get()...};
  }
  (std::make_index_sequence<data_type_count>{});
}

/// Entry<type>::get() of a type that is known at run time; null for a value outside the list.
template <template <data_type> class Entry>
auto of_type(data_type type) {
  const auto entries = of_all_types<Entry>();
  const auto number = static_cast<std::size_t>(type);
  return number < entries.size() ? entries[number] : nullptr;
}

}  // namespace troupe::kernels
