#define BOOST_TEST_MODULE data_type
#include "runtime/data_type.hpp"

#include <boost/test/unit_test.hpp>
#include <set>
#include <string_view>

using troupe::data_type;
using troupe::data_type_count;
using troupe::data_type_from;
using troupe::reduction;
using troupe::reduction_count;
using troupe::reduction_from;
using troupe::size_of;
using troupe::to_string;

BOOST_AUTO_TEST_CASE(every_type_has_a_name_of_its_own_that_leads_back_to_it) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < data_type_count; ++i) {
    const auto type = static_cast<data_type>(i);
    BOOST_TEST(names.insert(to_string(type)).second);
    BOOST_TEST((data_type_from(to_string(type)) == type));
  }
}

BOOST_AUTO_TEST_CASE(every_operator_has_a_name_of_its_own_that_leads_back_to_it) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < reduction_count; ++i) {
    const auto op = static_cast<reduction>(i);
    BOOST_TEST(names.insert(to_string(op)).second);
    BOOST_TEST((reduction_from(to_string(op)) == op));
  }
}

BOOST_AUTO_TEST_CASE(the_name_says_the_size) {
  for (std::size_t i = 0; i < data_type_count; ++i) {
    const auto type = static_cast<data_type>(i);
    const auto name = to_string(type);
    const bool is_8 = name.find("8") != name.npos;
    const bool is_16 = name.find("16") != name.npos;
    const bool is_32 = name.find("32") != name.npos;
    BOOST_TEST(size_of(type) == (is_16 ? 2u : is_32 ? 4u : is_8 ? 1u : 8u), name);
  }
}

BOOST_AUTO_TEST_CASE(wire_numbers_do_not_move) {
  BOOST_TEST(static_cast<int>(data_type::int8) == 0);
  BOOST_TEST(static_cast<int>(data_type::float16) == 8);
  BOOST_TEST(static_cast<int>(data_type::bfloat16) == 9);
  BOOST_TEST(static_cast<int>(data_type::float32) == 10);
  BOOST_TEST(static_cast<int>(data_type::float8_e5m2) == 13);
  BOOST_TEST(static_cast<int>(reduction::sum) == 0);
  BOOST_TEST(static_cast<int>(reduction::premultiplied_sum) == 5);
}

BOOST_AUTO_TEST_CASE(values_outside_the_lists_are_invalid) {
  const auto type = static_cast<data_type>(data_type_count);
  BOOST_TEST(to_string(type) == "invalid");
  BOOST_TEST(size_of(type) == 0u);
  BOOST_TEST(to_string(static_cast<reduction>(reduction_count)) == "invalid");
  BOOST_TEST(!data_type_from("invalid").has_value());
  BOOST_TEST(!data_type_from("").has_value());
  BOOST_TEST(!data_type_from("Float32").has_value());
  BOOST_TEST(!reduction_from("max").has_value());
}
