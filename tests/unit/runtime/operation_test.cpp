#define BOOST_TEST_MODULE operation
#include "runtime/operation.hpp"

#include <boost/test/unit_test.hpp>
#include <set>
#include <string>
#include <string_view>

using namespace troupe;

BOOST_AUTO_TEST_CASE(a_signature_says_what_was_called_and_only_what_matters_for_its_kind) {
  BOOST_TEST(to_string(operation_signature{operation_kind::all_reduce, data_type::float32,
                                           reduction::sum, 0, 1024}) ==
             "all_reduce(count 1024, float32, sum)");
  BOOST_TEST(to_string(operation_signature{operation_kind::all_gather, data_type::int8,
                                           reduction::sum, 0, 7}) == "all_gather(count 7, int8)");
  BOOST_TEST(to_string(operation_signature{operation_kind::broadcast, data_type::bfloat16,
                                           reduction::sum, 3, 1}) ==
             "broadcast(count 1, bfloat16, root 3)");
  BOOST_TEST(to_string(operation_signature{operation_kind::reduce, data_type::float64,
                                           reduction::maximum, 2, 5}) ==
             "reduce(count 5, float64, maximum, root 2)");
  BOOST_TEST(to_string(operation_signature{}) == "barrier()");
}

BOOST_AUTO_TEST_CASE(signatures_that_differ_in_one_field_are_different) {
  const operation_signature one{operation_kind::all_reduce, data_type::float32, reduction::sum, 0,
                                8};
  auto other = one;
  BOOST_TEST((one == other));
  other.count = 9;
  BOOST_TEST((one != other));
  other = one;
  other.op = reduction::maximum;
  BOOST_TEST((one != other));
  other = one;
  other.type = data_type::int32;
  BOOST_TEST((one != other));
}

BOOST_AUTO_TEST_CASE(a_path_shows_the_choice_and_the_numbers_it_was_made_of) {
  operation_path path{
      algorithm::ring, lane_kind::tcp, choice_reason::above_threshold, 1048576, 4, 65536};
  BOOST_TEST(to_string(path) == "ring over tcp: above_threshold (1048576 bytes > 65536, 4 ranks)");
  path.algorithm = algorithm::recursive_doubling;
  path.reason = choice_reason::below_threshold;
  path.bytes = 8;
  BOOST_TEST(to_string(path) ==
             "recursive_doubling over tcp: below_threshold (8 bytes <= 65536, 4 ranks)");
  path.reason = choice_reason::requested_by_call;
  BOOST_TEST(to_string(path) ==
             "recursive_doubling over tcp: requested_by_call (8 bytes, 4 ranks)");
}

BOOST_AUTO_TEST_CASE(every_kind_algorithm_and_reason_has_a_name_of_its_own) {
  std::set<std::string_view> kinds, algorithms, reasons;
  for (int i = 1; i <= 13; ++i)
    BOOST_TEST(kinds.insert(to_string(static_cast<operation_kind>(i))).second, i);
  for (int i = 0; i < static_cast<int>(algorithm_count); ++i)
    BOOST_TEST(algorithms.insert(to_string(static_cast<algorithm>(i))).second, i);
  for (int i = 0; i <= 7; ++i)
    BOOST_TEST(reasons.insert(to_string(static_cast<choice_reason>(i))).second, i);
  BOOST_TEST(kinds.count("invalid") + algorithms.count("invalid") + reasons.count("invalid") == 0u);
  BOOST_TEST(to_string(static_cast<operation_kind>(0)) == "invalid");
  BOOST_TEST(to_string(static_cast<algorithm>(99)) == "invalid");
  BOOST_TEST(to_string(static_cast<choice_reason>(99)) == "invalid");
}

BOOST_AUTO_TEST_CASE(a_transfer_is_named_by_all_four_of_its_parts) {
  const transfer_id one{communicator_id{1}, epoch{2}, operation_number{3}, 4};
  BOOST_TEST((one == transfer_id{communicator_id{1}, epoch{2}, operation_number{3}, 4}));
  BOOST_TEST((one != transfer_id{communicator_id{9}, epoch{2}, operation_number{3}, 4}));
  BOOST_TEST((one != transfer_id{communicator_id{1}, epoch{9}, operation_number{3}, 4}));
  BOOST_TEST((one != transfer_id{communicator_id{1}, epoch{2}, operation_number{9}, 4}));
  BOOST_TEST((one != transfer_id{communicator_id{1}, epoch{2}, operation_number{3}, 9}));
}
