#include "config/toml_items.hpp"

#include <algorithm>
#include <utility>

#include "config/toml_tree.hpp"

namespace troupe::config {
namespace {

written_value read_value(const toml_node& node) {
  using form = written_value::form;
  if (node.what == toml_node::form::string) return {form::string, node.text};
  if (node.what == toml_node::form::integer) return {form::integer, std::to_string(node.integer)};
  return {form::other, std::string(to_string(node.what))};
}

void append_section(const toml_entry& section, std::vector<toml_item>& out) {
  out.push_back({toml_item::kind::section, section.key, {}, section.value.line});
  for (const toml_entry& entry : section.value.entries)
    out.push_back({toml_item::kind::value, section.key + '.' + entry.key, read_value(entry.value),
                   entry.line});
}

}  // namespace

outcome<std::vector<toml_item>> read_toml(std::string_view text, std::string_view file_name) {
  const auto root = read_toml_tree(text, file_name);
  if (!root) return fail(root.error());
  std::vector<toml_item> out;
  for (const toml_entry& entry : root->entries) {
    if (entry.value.what == toml_node::form::table)
      append_section(entry, out);
    else
      out.push_back({toml_item::kind::value, entry.key, read_value(entry.value), entry.line});
  }
  std::ranges::stable_sort(out, {}, &toml_item::line);
  return out;
}

}  // namespace troupe::config
