#define BOOST_TEST_MODULE inline_list
#include "runtime/inline_list.hpp"

#include <boost/test/unit_test.hpp>
#include <memory>
#include <vector>

using troupe::inline_list;

BOOST_AUTO_TEST_CASE(values_come_back_in_the_order_in_which_they_went_in) {
  inline_list<int, 4> list;
  for (int value : {3, 1, 2})
    list.push_back(value);
  const std::vector<int> got(list.begin(), list.end());
  BOOST_TEST(got == (std::vector<int>{3, 1, 2}), boost::test_tools::per_element());
  BOOST_TEST(list[1] == 1);
}

BOOST_AUTO_TEST_CASE(a_list_holds_its_whole_capacity) {
  inline_list<int, 4> list;
  for (int i = 0; i < 4; ++i)
    list.push_back(i);
  BOOST_TEST(list.size() == list.capacity());
}

BOOST_AUTO_TEST_CASE(a_cleared_list_is_empty_and_takes_values_again) {
  inline_list<int, 2> list;
  list.push_back(1);
  list.push_back(2);
  list.clear();
  BOOST_TEST(list.empty());
  BOOST_TEST((list.begin() == list.end()));
  list.push_back(7);
  BOOST_TEST(list[0] == 7);
}

BOOST_AUTO_TEST_CASE(a_value_that_only_moves_is_welcome) {
  inline_list<std::unique_ptr<int>, 2> list;
  list.push_back(std::make_unique<int>(5));
  BOOST_TEST(*list[0] == 5);
}
