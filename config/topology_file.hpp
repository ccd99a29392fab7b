#pragma once

#include <string>
#include <string_view>

#include "config/topology_options.hpp"
#include "runtime/place.hpp"
#include "runtime/result.hpp"

namespace troupe::config {

/// A place, and who said so.
struct found_place {
  place where;
  std::string said_by{};  ///< "options", "cluster.toml:12", "not in cluster.toml" or "nobody"
};

/// Looks `host` up in the text of a topology file: a section for every rack, with the names of its
/// data centre and zone, and a list of its hosts (`host_list_contains`). A name with dots that is
/// not there is looked up once more as its first label. A host that is in no rack has a place
/// without names.
/// Errors: bad_configuration with file, line and reason; a host in two racks names both lines.
outcome<found_place> place_in(std::string_view toml, std::string_view file_name,
                              std::string_view host);

/// The place of a process: `options` where they name a data centre, else its file, else unknown.
/// `system_host` is the host where `options` name none.
/// Errors: as `place_in`; bad_configuration for a file that cannot be read, and for a level that is
///         named without the one around it.
outcome<found_place> find_place(const topology_options& options, const std::string& system_host);

}  // namespace troupe::config
