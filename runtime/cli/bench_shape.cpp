#include "runtime/cli/bench_shape.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace troupe::cli {
namespace {

constexpr std::array<std::pair<bench_kind, std::string_view>, 11> kind_names{{
    {bench_kind::all_reduce, "all_reduce"},
    {bench_kind::all_gather, "all_gather"},
    {bench_kind::reduce_scatter, "reduce_scatter"},
    {bench_kind::broadcast, "broadcast"},
    {bench_kind::reduce, "reduce"},
    {bench_kind::gather, "gather"},
    {bench_kind::scatter, "scatter"},
    {bench_kind::all_to_all, "all_to_all"},
    {bench_kind::all_to_all_v, "all_to_all_v"},
    {bench_kind::sendrecv, "sendrecv"},
    {bench_kind::barrier, "barrier"},
}};

constexpr std::array<std::pair<std::string_view, bench_kind>, 2> names_of_nccl_tests{{
    {"alltoall", bench_kind::all_to_all},
    {"alltoallv", bench_kind::all_to_all_v},
}};

constexpr std::array<std::string_view, 1> names_of_later{"hypercube"};

constexpr std::array<std::string_view, data_type_count> type_names{
    "int8",   "uint8", "int16",    "uint16", "int32",  "uint32", "int64",
    "uint64", "half",  "bfloat16", "float",  "double", "f8e4m3", "f8e5m2"};

constexpr std::array<std::string_view, reduction_count> reduction_names{"sum", "prod", "min",
                                                                        "max", "avg",  "mulsum"};

/// Rows that fit one run. Chosen: a step of one byte over a gigabyte is a mistake.
constexpr std::size_t row_count_max = 10'000;

/// The entry of that name: ours, or that of nccl-tests.
template <class Value, std::size_t N>
outcome<Value> find_name(std::string_view name, const std::array<std::string_view, N>& names,
                         const char* what) {
  std::string known;
  for (std::size_t i = 0; i < N; ++i) {
    const auto value = static_cast<Value>(i);
    if (name == names[i] || name == to_string(value)) return value;
    known += (known.empty() ? "" : ", ") + std::string(to_string(value));
  }
  return fail(errc::bad_argument,
              std::string(what) + " '" + std::string(name) + "' is unknown; there are: " + known);
}

}  // namespace

std::string_view to_string(bench_kind kind) {
  return kind_names[static_cast<std::size_t>(kind)].second;
}

outcome<bench_kind> parse_bench_kind(std::string_view name) {
  std::string known;
  for (const auto& [kind, kind_name] : kind_names) {
    if (name == kind_name) return kind;
    known += (known.empty() ? "" : ", ") + std::string(kind_name);
  }
  for (const auto& [kind_name, kind] : names_of_nccl_tests)
    if (name == kind_name) return kind;
  if (std::find(names_of_later.begin(), names_of_later.end(), name) != names_of_later.end())
    return fail(errc::not_available,
                "not_available: " + std::string(name) + " is not built yet; there are: " + known);
  return fail(errc::bad_argument,
              "collective '" + std::string(name) + "' is unknown; there are: " + known);
}

std::string_view table_name(data_type type) {
  return type_names[static_cast<std::size_t>(type)];
}

std::string_view table_name(reduction op) {
  return reduction_names[static_cast<std::size_t>(op)];
}

outcome<data_type> parse_data_type(std::string_view name) {
  return find_name<data_type>(name, type_names, "--type");
}

outcome<reduction> parse_reduction(std::string_view name) {
  return find_name<reduction>(name, reduction_names, "--op");
}

bool reduces(bench_kind kind) {
  return kind == bench_kind::all_reduce || kind == bench_kind::reduce_scatter ||
         kind == bench_kind::reduce;
}

bool has_root(bench_kind kind) {
  return kind == bench_kind::broadcast || kind == bench_kind::reduce ||
         kind == bench_kind::gather || kind == bench_kind::scatter;
}

bench_shape shape_of(bench_kind kind, data_type type, std::uint32_t rank_count,
                     std::uint64_t bytes) {
  const std::uint64_t element_bytes = size_of(type);
  const bool exchanges = kind == bench_kind::all_to_all || kind == bench_kind::all_to_all_v;
  const bool gathers = exchanges || kind == bench_kind::all_gather || kind == bench_kind::gather;
  const bool scatters =
      exchanges || kind == bench_kind::reduce_scatter || kind == bench_kind::scatter;
  if (kind == bench_kind::barrier) return {};
  const std::uint64_t blocks = gathers || scatters ? rank_count : 1;
  bench_shape shape;
  shape.count = std::max<std::uint64_t>(bytes / element_bytes / blocks, 1);
  shape.send_bytes = shape.count * element_bytes * (scatters ? blocks : 1);
  shape.receive_bytes = shape.count * element_bytes * (gathers ? blocks : 1);
  return shape;
}

double bus_factor(bench_kind kind, std::uint32_t rank_count) {
  const double n = rank_count;
  switch (kind) {
    case bench_kind::all_reduce: return 2 * (n - 1) / n;
    case bench_kind::all_gather:
    case bench_kind::reduce_scatter:
    case bench_kind::gather:
    case bench_kind::scatter:
    case bench_kind::all_to_all:
    case bench_kind::all_to_all_v: return (n - 1) / n;
    case bench_kind::broadcast:
    case bench_kind::reduce:
    case bench_kind::sendrecv: return 1;
    case bench_kind::barrier: return 0;
  }
  return 0;
}

outcome<std::vector<bench_shape>> shapes_of(bench_kind kind, data_type type,
                                            std::uint32_t rank_count, const size_range& range) {
  if (kind == bench_kind::barrier) return std::vector<bench_shape>(1);
  if (range.first_bytes > range.last_bytes)
    return fail(errc::bad_argument, "-b " + std::to_string(range.first_bytes) +
                                        " is larger than -e " + std::to_string(range.last_bytes) +
                                        "; give a first size up to the last");
  if (range.step_bytes == 0 && !(range.factor > 1))
    return fail(errc::bad_argument, "-f must be larger than 1, or the size never grows");
  std::vector<bench_shape> shapes;
  double bytes = static_cast<double>(range.first_bytes);
  // Half a byte of slack: the sizes of a factor like 1.5 are not exact.
  while (bytes <= static_cast<double>(range.last_bytes) + 0.5) {
    const auto whole = static_cast<std::uint64_t>(std::llround(bytes));
    const bench_shape shape = shape_of(kind, type, rank_count, whole);
    if (shapes.empty() || shapes.back().count != shape.count) shapes.push_back(shape);
    if (shapes.size() > row_count_max)
      return fail(errc::bad_argument, "the sizes make more than " + std::to_string(row_count_max) +
                                          " rows; give a larger step (-i) or factor (-f)");
    bytes = range.step_bytes != 0 ? bytes + static_cast<double>(range.step_bytes)
                                  : std::max(bytes * range.factor, bytes + 1);
  }
  return shapes;
}

}  // namespace troupe::cli
