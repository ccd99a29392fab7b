#define BOOST_TEST_MODULE metrics_page
#include <boost/test/unit_test.hpp>

#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "actors/collector/metric_table.hpp"

namespace troupe::actors {
namespace {

BOOST_AUTO_TEST_CASE(the_committed_page_is_the_generated_one) {
  auto& suite = boost::unit_test::framework::master_test_suite();
  BOOST_REQUIRE_MESSAGE(suite.argc == 2, "the source tree is the argument");
  std::ifstream file(std::string(suite.argv[1]) + "/docs/metrics.md", std::ios::binary);
  const std::string page(std::istreambuf_iterator<char>(file), {});
  BOOST_TEST((page == metrics_page()), "run: troupe_metrics_page > docs/metrics.md");
}

BOOST_AUTO_TEST_CASE(names_keep_to_the_conventions_of_prometheus) {
  std::set<std::string_view> names;
  for (const auto& one : metric_table) {
    BOOST_TEST(names.insert(one.name).second, one.name);
    BOOST_TEST((one.name.starts_with("troupe_") || one.name.starts_with("process_")), one.name);
    BOOST_TEST(one.name.ends_with("_total") == (one.type == metric_type::counter), one.name);
    for (const char* unit : {"_ms", "_us", "_ns", "_kib", "_percent", "_milliseconds"})
      BOOST_TEST(!one.name.ends_with(unit), one.name);
    BOOST_TEST(one.help.ends_with('.'), one.name);
  }
}

BOOST_AUTO_TEST_CASE(no_label_names_a_peer_an_address_or_an_actor) {
  const std::set<std::string_view> allowed{"",
                                           "kind",
                                           "operation",
                                           "purpose",
                                           "phase",
                                           "tier",
                                           "operation, algorithm, lanes, size",
                                           "rank, world_size, version"};
  for (const auto& one : metric_table)
    BOOST_TEST(allowed.contains(one.labels), one.name << ": " << one.labels);
}

}  // namespace
}  // namespace troupe::actors
