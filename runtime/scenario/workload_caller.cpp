#include "runtime/scenario/workload_caller.hpp"

#include <cstring>
#include <numeric>

#include "runtime/scenario/fault_plan.hpp"

namespace troupe::scenario {
namespace {

bool is_exchange(operation_kind kind) {
  return kind == operation_kind::all_to_all || kind == operation_kind::all_to_all_v;
}

/// The same for each type that the language has.
template <class Visit>
auto with_element(data_type type, Visit visit) {
  switch (type) {
    case data_type::float64: return visit(double{});
    case data_type::int32: return visit(std::int32_t{});
    case data_type::int64: return visit(std::int64_t{});
    default: return visit(float{});
  }
}

}  // namespace

std::int64_t workload_caller::input(std::uint32_t r, std::uint64_t i) const {
  return static_cast<std::int64_t>((r * 7ull + i * 13 + step_ * 3ull) % 5) - 2;
}

template <class Element>
void workload_caller::fill(std::uint32_t self) {
  const operation_kind kind = operation_->kind;
  const bool blocks_in = is_exchange(kind) || kind == operation_kind::reduce_scatter ||
                         kind == operation_kind::scatter;
  const bool blocks_out =
      is_exchange(kind) || kind == operation_kind::all_gather || kind == operation_kind::gather;
  const std::uint64_t count = kind == operation_kind::barrier ? 0 : operation_->count;
  const std::uint64_t in = count * (blocks_in ? rank_count_ : 1);
  send_.assign(in * sizeof(Element), std::byte{});
  receive_.assign(count * (blocks_out ? rank_count_ : 1) * sizeof(Element), std::byte{0x5a});
  for (std::uint64_t i = 0; i < in; ++i) {
    const auto value = static_cast<Element>(input(self, i));
    std::memcpy(send_.data() + i * sizeof(Element), &value, sizeof value);
  }
  // One buffer, in and out.
  if (kind == operation_kind::broadcast && self == operation_->root) receive_ = send_;
}

outcome<work_handle> workload_caller::call(communicator& world, std::uint32_t step,
                                           std::size_t index) {
  operation_ = &work_.operations[index];
  step_ = step;
  self_ = world.rank().value;
  with_element(operation_->type, [this](auto element) { fill<decltype(element)>(self_); });
  return start(world);
}

outcome<work_handle> workload_caller::start(communicator& world) const {
  const workload_operation& what = *operation_;
  const operation_options options{.timeout = what.timeout, .algorithm = what.algorithm};
  const void* send = send_.data();
  void* receive = receive_.data();
  const rank root{what.root};
  switch (what.kind) {
    case operation_kind::all_gather:
      return world.all_gather({send, receive, what.count, what.type, options});
    case operation_kind::reduce_scatter:
      return world.reduce_scatter(
          {send, receive, what.count, what.type, reduction::sum, 1.0, options});
    case operation_kind::broadcast:
      return world.broadcast({receive, what.count, what.type, root, options});
    case operation_kind::reduce:
      return world.reduce(
          {send, receive, what.count, what.type, reduction::sum, 1.0, root, options});
    case operation_kind::gather:
      return world.gather({send, receive, what.count, what.type, root, options});
    case operation_kind::scatter:
      return world.scatter({send, receive, what.count, what.type, root, options});
    case operation_kind::all_to_all:
      return world.all_to_all({send, receive, what.count, what.type, options});
    case operation_kind::all_to_all_v: {
      const std::vector<std::uint64_t> counts(rank_count_, what.count);
      std::vector<std::uint64_t> offsets(rank_count_);
      for (std::uint32_t r = 0; r < rank_count_; ++r)
        offsets[r] = r * what.count;
      return world.all_to_all_v(
          {send, receive, counts, offsets, counts, offsets, what.type, options});
    }
    case operation_kind::barrier: return world.barrier(options);
    default:
      return world.all_reduce({send, receive, what.count, what.type, reduction::sum, 1.0, options});
  }
}

std::int64_t workload_caller::expected(std::uint64_t i,
                                       const std::vector<rank>& contributors) const {
  const std::uint64_t count = operation_->count;
  const auto sum = [&](std::uint64_t at) {
    return std::accumulate(
        contributors.begin(), contributors.end(), std::int64_t{0},
        [&](std::int64_t total, rank each) { return total + input(each.value, at); });
  };
  switch (operation_->kind) {
    case operation_kind::all_gather:
    case operation_kind::gather: return input(static_cast<std::uint32_t>(i / count), i % count);
    case operation_kind::broadcast: return input(operation_->root, i);
    case operation_kind::scatter: return input(operation_->root, self_ * count + i);
    case operation_kind::all_to_all:
    case operation_kind::all_to_all_v:
      return input(static_cast<std::uint32_t>(i / count), self_ * count + i % count);
    case operation_kind::reduce_scatter: return sum(self_ * count + i);
    default: return sum(i);
  }
}

template <class Element>
std::uint64_t workload_caller::count_wrong(const std::vector<rank>& contributors) const {
  const bool reduces = operation_->kind == operation_kind::all_reduce ||
                       operation_->kind == operation_kind::reduce ||
                       operation_->kind == operation_kind::reduce_scatter;
  // Inputs repeat every five elements, and sums of them, too.
  std::int64_t sums[5]{};
  for (std::uint64_t i = 0; reduces && i < 5; ++i)
    sums[i] = expected(i, contributors);
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < receive_.size() / sizeof(Element); ++i) {
    Element found{};
    std::memcpy(&found, receive_.data() + i * sizeof(Element), sizeof found);
    wrong += found != static_cast<Element>(reduces ? sums[i % 5] : expected(i, contributors));
  }
  return wrong;
}

std::uint64_t workload_caller::wrong_elements(const work& done) const {
  const bool to_root =
      operation_->kind == operation_kind::reduce || operation_->kind == operation_kind::gather;
  if (operation_->kind == operation_kind::barrier || (to_root && self_ != operation_->root))
    return 0;
  std::vector<rank> contributors = done.contributors();
  if (contributors.empty())
    for (std::uint32_t r = 0; r < rank_count_; ++r)
      contributors.push_back(rank{r});
  return with_element(operation_->type,
                      [&](auto element) { return count_wrong<decltype(element)>(contributors); });
}

}  // namespace troupe::scenario
