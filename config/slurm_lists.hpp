#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::config {

/// The first host of a Slurm node list: "node003" of "node[003-005,9],login1". Nothing if the text
/// is no such list.
std::optional<std::string> first_host(std::string_view node_list);

/// Tasks on the node of that number, from "2(x3),1" (2 on each of three nodes, then 1). Nothing if
/// the text is no such list or ends before the node.
std::optional<std::uint32_t> tasks_on_node(std::string_view tasks_per_node, std::uint32_t node);

}  // namespace troupe::config
