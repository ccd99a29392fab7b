#define BOOST_TEST_MODULE mark
#include "runtime/mark.hpp"

#include <boost/test/unit_test.hpp>
#include <string_view>
#include <thread>

using troupe::mark;

namespace {

const mark* find(std::string_view name) {
  for (const auto* m = mark::first(); m != nullptr; m = m->next())
    if (name == m->name()) return m;
  return nullptr;
}

void rare_branch(bool taken) {
  if (taken) TROUPE_MARK("rare branch of the test");
}

void branch_never_taken() {
  TROUPE_MARK("branch never taken by the test");
}

template <class T>
void branch_of_a_template() {
  TROUPE_MARK("branch of a template");
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_branch_never_taken_is_listed_with_zero_hits) {
  BOOST_TEST((&branch_never_taken != nullptr));
  const auto* m = find("branch never taken by the test");
  BOOST_REQUIRE(m != nullptr);
  BOOST_TEST(m->hits() == 0u);
}

BOOST_AUTO_TEST_CASE(each_visit_counts_once) {
  const auto* m = find("rare branch of the test");
  BOOST_REQUIRE(m != nullptr);
  const auto before = m->hits();
  rare_branch(false);
  BOOST_TEST(m->hits() == before);
  rare_branch(true);
  rare_branch(true);
  BOOST_TEST(m->hits() == before + 2);
}

BOOST_AUTO_TEST_CASE(visits_of_two_threads_are_all_counted) {
  const auto* m = find("rare branch of the test");
  const auto before = m->hits();
  const auto many = [] {
    for (int i = 0; i < 10'000; ++i)
      rare_branch(true);
  };
  std::thread other(many);
  many();
  other.join();
  BOOST_TEST(m->hits() == before + 20'000);
}

BOOST_AUTO_TEST_CASE(a_mark_in_a_template_counts) {
  branch_of_a_template<int>();
  const auto* m = find("branch of a template");
  BOOST_REQUIRE(m != nullptr);
  BOOST_TEST(m->hits() == 1u);
}
