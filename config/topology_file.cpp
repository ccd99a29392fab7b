#include "config/topology_file.hpp"

#include "config/config_file.hpp"
#include "config/host_list.hpp"
#include "config/text_forms.hpp"
#include "config/toml_items.hpp"

#include <cstdint>
#include <optional>

namespace troupe::config {
namespace {

/// A section of the file, as far as it was read.
struct rack_section {
  std::string name{};
  std::uint32_t line = 0;
  std::string data_center{};
  std::string zone{};
  std::optional<std::string> hosts{};
  std::uint32_t hosts_line = 0;
};

std::string at_line(std::string_view file_name, std::uint32_t line) {
  return std::string(file_name) + ':' + std::to_string(line);
}

tl::unexpected<failure> bad(std::string_view file_name, std::uint32_t line,
                            const std::string& problem) {
  return fail(errc::bad_configuration, at_line(file_name, line) + ": " + problem);
}

outcome<void> set(rack_section& rack, const toml_item& item, std::string_view file_name) {
  const auto key = std::string_view(item.name).substr(item.name.rfind('.') + 1);
  const bool known = key == "data_center" || key == "zone" || key == "hosts";
  if (!known)
    return bad(file_name, item.line,
               "a rack has no \"" + printable(key) + "\"; it has data_center, zone and hosts");
  if (item.value.written_as != written_value::form::string)
    return bad(file_name, item.line, std::string(key) + " is not text in quotes");
  if (!is_printable(item.value.text) || item.value.text.empty())
    return bad(file_name, item.line, std::string(key) + " is empty or not printable");
  if (key == "data_center") rack.data_center = item.value.text;
  if (key == "zone") rack.zone = item.value.text;
  if (key == "hosts") {
    rack.hosts = item.value.text;
    rack.hosts_line = item.line;
  }
  return {};
}

outcome<std::vector<rack_section>> read_racks(std::string_view toml, std::string_view file_name) {
  const auto items = read_toml(toml, file_name);
  if (!items) return fail(items.error());
  std::vector<rack_section> racks;
  for (const toml_item& item : *items) {
    if (item.what == toml_item::kind::section) {
      racks.push_back({.name = item.name, .line = item.line});
      continue;
    }
    const bool inside = !racks.empty() && item.name.starts_with(racks.back().name + '.');
    if (!inside)
      return bad(file_name, item.line,
                 printable(item.name) + " stands outside of any [rack]; write [name-of-the-rack] " +
                     "before it");
    if (const auto done = set(racks.back(), item, file_name); !done) return fail(done.error());
  }
  return racks;
}

outcome<void> check_rack(const rack_section& rack, std::string_view file_name) {
  const auto missing = [&](const char* what) {
    return bad(file_name, rack.line, "rack [" + printable(rack.name) + "] has no " + what);
  };
  if (rack.data_center.empty()) return missing("data_center");
  if (rack.zone.empty()) return missing("zone");
  if (!rack.hosts) return missing("hosts");
  return {};
}

outcome<const rack_section*> rack_of(const std::vector<rack_section>& racks,
                                     std::string_view file_name, std::string_view host) {
  const rack_section* found = nullptr;
  for (const rack_section& rack : racks) {
    if (const auto valid = check_rack(rack, file_name); !valid) return fail(valid.error());
    const auto has = host_list_contains(*rack.hosts, host);
    if (!has) return bad(file_name, rack.hosts_line, "hosts: " + has.error().message);
    if (!*has) continue;
    if (found != nullptr)
      return bad(file_name, rack.hosts_line,
                 "host " + printable(host) + " stands in rack [" + printable(rack.name) +
                     "] and, in line " + std::to_string(found->hosts_line) + ", in [" +
                     printable(found->name) + ']');
    found = &rack;
  }
  return found;
}

}  // namespace

outcome<found_place> place_in(std::string_view toml, std::string_view file_name,
                              std::string_view host) {
  const auto racks = read_racks(toml, file_name);
  if (!racks) return fail(racks.error());
  auto rack = rack_of(*racks, file_name, host);
  const std::size_t dot = host.find('.');
  if (rack && *rack == nullptr && dot != std::string_view::npos)
    rack = rack_of(*racks, file_name, host.substr(0, dot));
  if (!rack) return fail(rack.error());
  if (*rack == nullptr)
    return found_place{{.host = std::string(host)}, "not in " + std::string(file_name)};
  const rack_section& in = **rack;
  return found_place{{in.data_center, in.zone, in.name, std::string(host)},
                     at_line(file_name, in.hosts_line)};
}

outcome<found_place> find_place(const topology_options& options, const std::string& system_host) {
  found_place found{{options.data_center, options.zone, options.rack,
                     options.host.empty() ? system_host : options.host},
                    "nobody"};
  if (const auto complete = check_place(found.where); !complete)
    return fail(errc::bad_configuration, "[topology]: " + complete.error().message);
  if (!options.data_center.empty()) {
    found.said_by = "options";
    return found;
  }
  if (options.file.empty()) return found;
  const auto text = read_file(options.file, "topology.file");
  if (!text) return fail(text.error());
  return place_in(*text, options.file, found.where.host);
}

}  // namespace troupe::config
