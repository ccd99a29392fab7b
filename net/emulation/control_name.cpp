#include "net/emulation/control_name.hpp"

#include <limits>
#include <vector>

#include "net/emulation/text_fields.hpp"

namespace troupe::net::emulation {

namespace {

// Slashes part the fields: a job's name has none.
constexpr std::string_view front = "troupe.emulation.control/";

std::vector<std::string_view> fields_of(std::string_view text) {
  std::vector<std::string_view> fields;
  for (;;) {
    const auto end = text.find('/');
    fields.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return fields;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::string control_name(const control_owner& owner) {
  return std::string(front) + std::to_string(owner.user) + '/' + owner.job + '/' +
         std::to_string(owner.process) + '/' + owner.rank;
}

std::optional<control_owner> read_control_name(std::string_view name) {
  if (!name.starts_with(front)) return std::nullopt;
  const auto fields = fields_of(name.substr(front.size()));
  if (fields.size() != 4) return std::nullopt;
  constexpr auto most = std::numeric_limits<std::uint32_t>::max();
  const auto user = read_count(fields[0], 0, most);
  const auto process = read_count(fields[2], 0, most);
  if (!user || !process) return std::nullopt;
  return control_owner{*user, std::string(fields[1]), *process, std::string(fields[3])};
}

}  // namespace troupe::net::emulation
