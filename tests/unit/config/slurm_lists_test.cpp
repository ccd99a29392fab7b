#define BOOST_TEST_MODULE slurm_lists
#include "config/slurm_lists.hpp"

#include <boost/test/unit_test.hpp>

namespace troupe::config {
namespace {

BOOST_AUTO_TEST_CASE(the_first_host_keeps_the_zeros_of_its_number) {
  BOOST_TEST(first_host("node[003-005,9]").value() == "node003");
  BOOST_TEST(first_host("node[9,003-005]").value() == "node9");
  BOOST_TEST(first_host("node[7]").value() == "node7");
}

BOOST_AUTO_TEST_CASE(a_plain_list_has_a_plain_first_host) {
  BOOST_TEST(first_host("a").value() == "a");
  BOOST_TEST(first_host("login1,node[1-2]").value() == "login1");
  BOOST_TEST(first_host("node[1-2],login1").value() == "node1");
}

BOOST_AUTO_TEST_CASE(several_brackets_and_a_suffix_are_part_of_the_name) {
  BOOST_TEST(first_host("rack[2-3]-gpu[04,05]-ib").value() == "rack2-gpu04-ib");
  BOOST_TEST(first_host("n[1-2].example.org,x").value() == "n1.example.org");
}

BOOST_AUTO_TEST_CASE(a_broken_list_has_no_first_host) {
  for (const char* text : {"", ",", ",a", "node[", "node[]", "node[1", "node[a-b]", "node]",
                           "node[-3]", "node[,3]", "a b", "node[1 ]"})
    BOOST_TEST(!first_host(text).has_value(), text);
}

BOOST_AUTO_TEST_CASE(tasks_of_a_node_follow_the_repetitions) {
  BOOST_TEST(tasks_on_node("4", 0).value() == 4u);
  BOOST_TEST(tasks_on_node("2(x3),1", 0).value() == 2u);
  BOOST_TEST(tasks_on_node("2(x3),1", 2).value() == 2u);
  BOOST_TEST(tasks_on_node("2(x3),1", 3).value() == 1u);
  BOOST_TEST(!tasks_on_node("2(x3),1", 4).has_value());
}

BOOST_AUTO_TEST_CASE(a_broken_task_list_has_no_answer) {
  for (const char* text : {"", "x", "2(x", "2(x)", "2(x3", "2(x3)4", "(x3)", "2(xa)"})
    BOOST_TEST(!tasks_on_node(text, 0).has_value(), text);
}

}  // namespace
}  // namespace troupe::config
