#pragma once

#include <string>
#include <string_view>

#include "runtime/result.hpp"

namespace troupe::config {

/// Whether `host` is in a list as Slurm writes it: "login1,node[003-005,9]-ib". Zeros before a
/// range count: node[003-005] has node003 and not node3.
/// Errors: bad_configuration if the text is no such list; the message says what is wrong with it.
outcome<bool> host_list_contains(std::string_view list, std::string_view host);

}  // namespace troupe::config
