#include "config/agreement.hpp"

#include "config/option_text.hpp"

#include <algorithm>

namespace troupe::config {
namespace {

const agreed_option* find_by_name(const std::vector<agreed_option>& list, std::string_view name) {
  const auto at = std::ranges::find(list, name, &agreed_option::name);
  return at == list.end() ? nullptr : &*at;
}

std::string_view or_missing(std::string_view value) {
  return value.empty() ? std::string_view("unknown") : value;
}

}  // namespace

std::vector<agreed_option> must_agree_options(const options& values) {
  std::vector<agreed_option> out;
  for (const section_description& section : sections()) {
    for (const option_description& option : section.entries) {
      if (option.agrees != agreement::must_agree || option.shows == visibility::secret) continue;
      out.push_back({std::string(option.name), format_value(option, value_in(values, option))});
    }
  }
  return out;
}

std::uint64_t must_agree_hash(const options& values) {
  std::uint64_t hash = 0xcbf2'9ce4'8422'2325ull;
  for (const agreed_option& option : must_agree_options(values)) {
    for (const char c : option.name + '=' + option.value + '\n') {
      hash ^= static_cast<unsigned char>(c);
      hash *= 0x0000'0100'0000'01b3ull;
    }
  }
  return hash;
}

std::optional<option_difference> find_difference(const std::vector<agreed_option>& ours,
                                                 const std::vector<agreed_option>& theirs) {
  for (const agreed_option& option : ours) {
    const agreed_option* other = find_by_name(theirs, option.name);
    if (other == nullptr) return option_difference{option.name, option.value, {}};
    if (other->value != option.value)
      return option_difference{option.name, option.value, other->value};
  }
  for (const agreed_option& option : theirs)
    if (find_by_name(ours, option.name) == nullptr)
      return option_difference{option.name, {}, option.value};
  return std::nullopt;
}

std::string describe(const option_difference& difference, std::string_view us,
                     std::string_view them) {
  std::string out = difference.name + " is ";
  out.append(or_missing(difference.ours)).append(" on ").append(us);
  out.append(" and ").append(or_missing(difference.theirs)).append(" on ").append(them);
  return out + "; it must agree on all ranks";
}

}  // namespace troupe::config
