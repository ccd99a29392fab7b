#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/cli/bench_table.hpp"
#include "runtime/communicator.hpp"

namespace troupe::cli {

/// Where one call reads and writes.
struct call_buffers {
  std::span<std::byte> send;
  std::span<std::byte> receive;
};

/// Which half of a row.
enum class bench_half : std::uint8_t { out_of_place, in_place };

/// Whether the collective has an in-place form with two buffers to measure.
bool has_in_place_half(bench_kind kind);

/// Elements that rank `from` sends to rank `to` in a measured all_to_all_v: between none and twice
/// the mean `count`, growing with (from + to) mod n, so that every rank sends and receives the
/// same amount in all.
std::uint64_t pair_count(std::uint64_t count, std::uint32_t rank_count, std::uint32_t from,
                         std::uint32_t to);

/// One rank's calls of one collective, with the data they move and the check of what came.
///
/// Thread: one.
class bench_caller {
 public:
  bench_caller(communicator& world, const bench_heading& heading)
      : world_(world), heading_(heading) {}

  /// Makes room for calls of this shape. Errors: resource_exhausted.
  void reserve(const bench_shape& shape);

  void take(std::optional<algorithm> wanted) { wanted_ = wanted; }

  /// One call, waited for.
  outcome<void> call(const bench_shape& shape, bench_half half);

  /// One call with fresh data of this seed; elements of this rank that came out wrong, or were
  /// written where nothing should be.
  outcome<std::uint64_t> check(const bench_shape& shape, bench_half half, std::uint64_t seed);

  /// The path of the last call.
  const operation_path& path() const { return path_; }

 private:
  outcome<void> wait_for(outcome<work_handle> work);
  outcome<work_handle> start(const call_buffers& buffers, std::uint64_t count);
  outcome<work_handle> start_all_to_all_v(const call_buffers& buffers, std::uint64_t count);
  outcome<void> exchange(const call_buffers& buffers, std::uint64_t count);
  call_buffers buffers_of(const bench_shape& shape, bench_half half);
  void fill(const call_buffers& buffers, std::uint64_t seed);
  void fill_blocks(const call_buffers& buffers, std::uint64_t count, std::uint64_t seed);
  std::uint64_t compare(const call_buffers& buffers, const bench_shape& shape, bench_half half,
                        std::uint64_t seed) const;
  std::uint64_t compare_moved(const call_buffers& buffers, std::uint64_t count,
                              std::uint64_t seed) const;
  std::uint64_t count_touched(std::span<const std::byte> bytes) const;
  std::uint64_t element_bytes() const { return size_of(heading_.type); }
  std::uint32_t me() const { return to_index(world_.rank()); }
  bool is_root() const { return me() == heading_.root; }

  communicator& world_;
  const bench_heading& heading_;
  std::optional<algorithm> wanted_;
  operation_path path_;
  std::vector<std::byte> a_;
  std::vector<std::byte> b_;
};

}  // namespace troupe::cli
