#define BOOST_TEST_MODULE config_table
#include "runtime/cli/config_table.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::cli;

BOOST_AUTO_TEST_CASE(every_option_has_a_line_with_value_and_origin_and_the_secret_is_not_shown) {
  config::load_request request;
  request.environment = config::environment_variables{{"TROUPE_TRANSPORT_SEGMENT_BYTES", "128KiB"},
                                                      {"TROUPE_BOOTSTRAP_SECRET", "very-secret"}};
  request.settings = {{"tcp.backlog", "77"}};
  const std::string text = config_table(config::load(request).value());
  std::size_t option_count = 0;
  for (const config::section_description& section : config::sections())
    for (const config::option_description& option : section.entries) {
      ++option_count;
      BOOST_CHECK_MESSAGE(text.find("\n" + std::string(option.name) + " ") != std::string::npos,
                          option.name);
    }
  BOOST_CHECK_EQUAL(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')),
                    option_count + 1);
  BOOST_CHECK(text.find(" environment TROUPE_TRANSPORT_SEGMENT_BYTES\n") != std::string::npos);
  BOOST_CHECK(text.find("very-secret") == std::string::npos);
}
