#include "config/detail/fault_tolerance_table.hpp"
#include "config/detail/lane_tables.hpp"
#include "config/detail/link_tables.hpp"
#include "config/detail/operation_tables.hpp"
#include "config/detail/process_tables.hpp"
#include "config/detail/tier_tables.hpp"
#include "config/option_description.hpp"

// Ranges are chosen: the low end is the smallest value with which the part still works, the high
// end is where a value is more likely a slip of the unit than a wish. Where a number follows from
// something else, the line says so.

namespace troupe::config {
namespace {

constexpr section_description all_sections[] = {
    {"bootstrap", "How ranks find each other.", detail::bootstrap_table},
    {"transport", "The link between two ranks.", detail::transport_table},
    {"tcp", "Sockets.", detail::tcp_table},
    {"shm", "Shared memory between processes of one host.", detail::shm_table},
    {"verbs", "Queue pairs of RDMA devices.", detail::verbs_table},
    {"collective", "Choice and shape of algorithms, and limits on operations.",
     detail::collective_table},
    {"topology", "Where this rank stands.", detail::topology_table},
    {"dqplb", "How the budgets of distance tiers reach links.", detail::dqplb_table},
    {"tier_same_host", "In flight to ranks of this host.", detail::same_host_table},
    {"tier_same_rack", "In flight to other hosts of this rack.", detail::same_rack_table},
    {"tier_same_zone", "In flight to other racks of this zone.", detail::same_zone_table},
    {"tier_cross_zone", "In flight to other zones of this data centre.", detail::cross_zone_table},
    {"tier_cross_data_center", "In flight to other data centres.", detail::cross_data_center_table},
    {"tier_unknown", "In flight to ranks whose data centre is not known.", detail::unknown_table},
    {"fault_tolerance", "Communicators that go on without members that end.",
     detail::fault_tolerance_table},
    {"worker", "The worker thread of an endpoint.", detail::worker_table},
    {"watchdog", "Who looks after deadlines.", detail::watchdog_table},
    {"metrics", "What the process shows of itself.", detail::metrics_table},
    {"trace", "What a process remembers of its operations, and how it gives that out.",
     detail::trace_table},
};

}  // namespace

std::span<const section_description> sections() {
  return all_sections;
}

const option_description* find_option(std::string_view name) {
  for (const section_description& section : all_sections)
    for (const option_description& option : section.entries)
      if (option.name == name) return &option;
  return nullptr;
}

}  // namespace troupe::config
