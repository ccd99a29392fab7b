#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/data_type.hpp"
#include "runtime/operation.hpp"
#include "runtime/result.hpp"

namespace troupe::cli {

/// What can be measured.
enum class bench_kind : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  broadcast,
  reduce,
  gather,
  scatter,
  all_to_all,
  all_to_all_v,  ///< blocks between none and twice the mean
  sendrecv,      ///< every rank sends to the next and receives from the one before
  barrier,
};

std::string_view to_string(bench_kind kind);

/// The kind of that name, ours or that of nccl-tests (alltoall, alltoallv).
/// Errors: not_available for a benchmark that nccl-tests has and Troupe has not, bad_argument with
/// the list of names for anything else.
outcome<bench_kind> parse_bench_kind(std::string_view name);

/// Names of types and operators in nccl-tests' tables ("float", "prod").
std::string_view table_name(data_type type);
std::string_view table_name(reduction op);

/// Type or operator of that name: ours or that of nccl-tests. Errors: bad_argument with all names.
outcome<data_type> parse_data_type(std::string_view name);
outcome<reduction> parse_reduction(std::string_view name);

bool reduces(bench_kind kind);

bool has_root(bench_kind kind);

/// Sizes of one row. All bytes are of one rank.
struct bench_shape {
  std::uint64_t count = 0;  ///< elements, as the call takes them
  std::uint64_t send_bytes = 0;
  std::uint64_t receive_bytes = 0;

  /// The larger of the two: the size column.
  std::uint64_t bytes() const { return send_bytes > receive_bytes ? send_bytes : receive_bytes; }
};

/// The shape closest to `bytes` that gives every rank at least one element.
bench_shape shape_of(bench_kind kind, data_type type, std::uint32_t rank_count,
                     std::uint64_t bytes);

/// Bytes on the busiest link for each byte of the size column, as nccl-tests counts them.
/// Source: nccl-tests, doc/PERFORMANCE.md.
double bus_factor(bench_kind kind, std::uint32_t rank_count);

/// How the size grows from row to row.
struct size_range {
  std::uint64_t first_bytes = 8;
  std::uint64_t last_bytes = 128ull << 20;
  double factor = 2;             ///< used if `step_bytes` is 0
  std::uint64_t step_bytes = 0;  ///< added from row to row
};

/// Rows of one run: no two alike, at least one, a barrier's single one.
/// Errors: bad_argument if the range is empty or does not grow.
outcome<std::vector<bench_shape>> shapes_of(bench_kind kind, data_type type,
                                            std::uint32_t rank_count, const size_range& range);

}  // namespace troupe::cli
