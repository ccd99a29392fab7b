#include "config/configuration_page.hpp"

#include "config/print.hpp"

#include <iostream>
#include <string_view>

// Writes docs/configuration.md or config/troupe.example.toml to standard output.
int main(int argument_count, char** arguments) {
  const std::string_view what = argument_count == 2 ? arguments[1] : "";
  if (what == "page") {
    std::cout << troupe::config::configuration_page();
  } else if (what == "example") {
    std::cout << troupe::config::example_file();
  } else {
    std::cerr << "usage: troupe_configuration_page page|example\n";
    return 2;
  }
  return std::cout.flush() ? 0 : 1;
}
