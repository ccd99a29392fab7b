#define BOOST_TEST_MODULE operation_cells
#include "actors/collector/operation_cells.hpp"

#include <boost/test/unit_test.hpp>

#include <set>
#include <string>

namespace troupe::actors {
namespace {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_CASE(operations_alike_share_a_cell) {
  operation_cells cells;
  const operation_cell::key ring{operation_kind::all_reduce, algorithm::ring, lane_kind::shm,
                                 size_class::mib1};
  auto tree = ring;
  tree.algorithm = algorithm::recursive_doubling;
  auto& one = cells.of(ring);
  BOOST_TEST(&cells.of(tree) != &one);
  BOOST_TEST(&cells.of(ring) == &one);
  BOOST_TEST(cells.size() == 2u);
}

BOOST_AUTO_TEST_CASE(the_number_of_cells_is_bounded_whatever_is_called) {
  operation_cells cells;
  for (unsigned kind = 1; kind <= 16; ++kind)
    for (unsigned a = 0; a < algorithm_count; ++a)
      for (unsigned size = 0; size < 8; ++size)
        cells
            .of({static_cast<operation_kind>(kind), static_cast<algorithm>(a), lane_kind::tcp,
                 static_cast<size_class>(size)})
            .finished.add(1);
  BOOST_TEST(cells.size() == operation_cells::cell_count);
  std::uint64_t counted = cells.others().finished.get();
  BOOST_TEST(counted > 0u);
  for (std::size_t i = 0; i < cells.size(); ++i)
    counted += cells[i].finished.get();
  BOOST_TEST(counted == 16u * algorithm_count * 8u);
}

BOOST_AUTO_TEST_CASE(a_duration_counts_in_the_first_bucket_that_is_not_below_it) {
  for (std::size_t b = 0; b < duration_histogram::bound_count; ++b) {
    const auto bound = 1us * (1ll << (2 * b));
    BOOST_TEST(duration_histogram::bucket_of(bound) == b);
    BOOST_TEST(duration_histogram::bucket_of(bound + 1ns) == b + 1);
  }
  BOOST_TEST(duration_histogram::bucket_of(0ns) == 0u);
  BOOST_TEST(duration_histogram::bucket_of(-5ns) == 0u);
  BOOST_TEST(duration_histogram::bucket_of(24h) == duration_histogram::bound_count);
}

BOOST_AUTO_TEST_CASE(sizes_fall_into_classes_by_their_upper_bound) {
  BOOST_TEST((class_of(0) == size_class::none));
  BOOST_TEST((class_of(1) == size_class::b256));
  BOOST_TEST((class_of(256) == size_class::b256));
  BOOST_TEST((class_of(257) == size_class::kib4));
  BOOST_TEST((class_of(1 << 20) == size_class::mib1));
  BOOST_TEST((class_of(256ull << 20) == size_class::mib256));
  BOOST_TEST((class_of((256ull << 20) + 1) == size_class::larger));
  std::set<std::string> names;
  for (unsigned c = 0; c < 8; ++c)
    names.insert(to_string(static_cast<size_class>(c)));
  BOOST_TEST(names.size() == 8u);
}

BOOST_AUTO_TEST_CASE(bus_bytes_are_those_of_the_formula) {
  BOOST_TEST(bus_bytes(operation_kind::all_reduce, 400, 4) == 600u);
  BOOST_TEST(bus_bytes(operation_kind::all_gather, 400, 4) == 300u);
  BOOST_TEST(bus_bytes(operation_kind::broadcast, 400, 4) == 400u);
  BOOST_TEST(bus_bytes(operation_kind::all_reduce, 400, 1) == 0u);
}

}  // namespace
}  // namespace troupe::actors
