#include "docs/examples/summation_order.hpp"

#include <bit>
#include <vector>

namespace examples {

void add_like_reduce_scatter(std::span<const float* const> members, std::size_t owner,
                             std::span<float> sum) {
  for (std::size_t i = 0; i < sum.size(); ++i) {
    float total = members[(owner + 1) % members.size()][i];
    for (std::size_t away = 2; away <= members.size(); ++away)
      total += members[(owner + away) % members.size()][i];
    sum[i] = total;
  }
}

void add_like_recursive_doubling(std::span<const float* const> members, std::span<float> sum) {
  const std::size_t folded = members.size() - std::bit_floor(members.size());
  std::vector<float> partial(members.size());
  for (std::size_t i = 0; i < sum.size(); ++i) {
    std::size_t count = 0;
    for (std::size_t m = 0; m < members.size(); ++m) {
      const bool in_pair = m < 2 * folded;
      partial[count++] = in_pair ? members[m][i] + members[m + 1][i] : members[m][i];
      if (in_pair) ++m;
    }
    for (; count > 1; count /= 2) {
      for (std::size_t pair = 0; pair < count / 2; ++pair)
        partial[pair] = partial[2 * pair] + partial[2 * pair + 1];
    }
    sum[i] = partial[0];
  }
}

}  // namespace examples
