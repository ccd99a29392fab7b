#include <cstdio>

#include "actors/collector/metric_table.hpp"

int main() {
  std::fputs(troupe::actors::metrics_page().c_str(), stdout);
}
