#include "config/load.hpp"

#include "config/config_file.hpp"
#include "config/nearest_name.hpp"
#include "config/option_text.hpp"
#include "config/text_forms.hpp"
#include "config/toml_items.hpp"
#include "config/validate.hpp"

#include <unistd.h>

namespace troupe::config {
namespace {

constexpr std::size_t shown_value_bytes_max = 80;

// A text from outside as an error shows it: one line and not too long.
std::string shortened(std::string_view text) {
  return printable(text.substr(0, shown_value_bytes_max)) +
         (text.size() > shown_value_bytes_max ? "..." : "");
}

std::string shown(const option_description& option, std::string_view text) {
  if (option.shows == visibility::secret) return "(hidden)";
  return '"' + shortened(text) + '"';
}

std::string limits_of(const option_description& option) {
  return range_text(option) + "; unit: " + std::string(unit_text(option));
}

tl::unexpected<failure> bad(std::string_view where, const std::string& problem) {
  return fail(errc::bad_configuration, std::string(where) + ": " + problem);
}

outcome<void> set(loaded_options& loaded, const option_description& option,
                  const written_value& written, std::string_view where, origin from) {
  const auto value = read_value(option, written);
  if (!value) {
    const bool has_text = written.written_as != written_value::form::other;
    std::string text(option.name);
    if (has_text) text += " = " + shown(option, written.text);
    return bad(where, text + ' ' + value.error());
  }
  option.field.write(loaded.values, *value);
  loaded.origins[option.name] = std::move(from);
  return {};
}

outcome<void> check_section(const toml_item& item, std::string_view where) {
  for (const section_description& section : sections())
    if (section.name == item.name) return {};
  return bad(where, "unknown section [" + shortened(item.name) + "]; nearest: [" +
                        std::string(nearest_section(item.name).name) + ']');
}

outcome<void> apply_item(loaded_options& loaded, const toml_item& item,
                         std::string_view file_name) {
  const std::string where = std::string(file_name) + ':' + std::to_string(item.line);
  if (item.what == toml_item::kind::section) return check_section(item, where);
  if (const option_description* option = find_option(item.name))
    return set(loaded, *option, item.value, where, {source::file, where});
  for (const section_description& section : sections())
    if (section.name == item.name)
      return bad(where, item.name + " is a section; write [" + item.name + "] before its options");
  const option_description& nearest = nearest_option(item.name);
  std::string text = "unknown option " + shortened(item.name);
  if (item.name.find('.') == std::string::npos) text += " outside of any [section]";
  return bad(where,
             text + "; nearest: " + std::string(nearest.name) + " (" + limits_of(nearest) + ')');
}

outcome<void> apply_text(loaded_options& loaded, std::string_view toml,
                         std::string_view file_name) {
  const auto items = read_toml(toml, file_name);
  if (!items) return fail(items.error());
  for (const toml_item& item : *items)
    if (const auto applied = apply_item(loaded, item, file_name); !applied) return applied;
  return {};
}

outcome<void> apply_file(loaded_options& loaded, const load_request& request,
                         const environment_variables& environment) {
  std::string_view named_by = "code";
  loaded.config_file = request.config_file;
  if (loaded.config_file.empty()) {
    const auto variable = environment.find(config_file_variable);
    if (variable == environment.end() || variable->second.empty()) return {};
    loaded.config_file = variable->second;
    named_by = config_file_variable;
  }
  const auto text = read_file(loaded.config_file, named_by);
  if (!text) return fail(text.error());
  return apply_text(loaded, *text, loaded.config_file);
}

const option_description* find_variable(std::string_view variable) {
  for (const section_description& section : sections())
    for (const option_description& option : section.entries)
      if (environment_name(option) == variable) return &option;
  return nullptr;
}

outcome<void> apply_environment(loaded_options& loaded, const environment_variables& environment) {
  constexpr std::string_view prefix = "TROUPE_";
  for (auto at = environment.lower_bound(prefix);
       at != environment.end() && at->first.starts_with(prefix); ++at) {
    const auto& [variable, text] = *at;
    if (variable == config_file_variable || variable == log_variable) continue;
    if (variable.starts_with(simulation_prefix)) continue;
    if (variable.starts_with(emulation_prefix)) continue;
    const option_description* option = find_variable(variable);
    if (option == nullptr) {
      const option_description& nearest = nearest_variable(variable);
      return bad("environment", "unknown variable " + shortened(variable) + "; nearest: " +
                                    environment_name(nearest) + " (" + limits_of(nearest) + ')');
    }
    const auto done = set(loaded, *option, {written_value::form::plain, text},
                          "environment " + variable, {source::environment, variable});
    if (!done) return done;
  }
  return {};
}

outcome<void> apply_settings(loaded_options& loaded, const load_request& request) {
  for (const auto& [name, text] : request.settings) {
    const option_description* option = find_option(name);
    if (option == nullptr) {
      const option_description& nearest = nearest_option(name);
      return bad("code", "unknown option " + shortened(name) + "; nearest: " +
                             std::string(nearest.name) + " (" + limits_of(nearest) + ')');
    }
    const auto done =
        set(loaded, *option, {written_value::form::plain, text}, "code", {source::code, {}});
    if (!done) return done;
  }
  return {};
}

outcome<loaded_options> checked(loaded_options loaded) {
  const auto valid = validate(loaded.values, [&loaded](std::string_view name) {
    return to_string(loaded.origin_of(name));
  });
  if (!valid) return fail(valid.error());
  return loaded;
}

}  // namespace

environment_variables process_environment() {
  environment_variables out;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    out.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return out;
}

std::string to_string(const origin& o) {
  switch (o.from) {
    case source::built_in: return "default";
    case source::file: return o.where;
    case source::environment: return "environment " + o.where;
    case source::code: return "code";
  }
  return "unknown";
}

origin loaded_options::origin_of(std::string_view name) const {
  const auto at = origins.find(name);
  return at == origins.end() ? origin{} : at->second;
}

outcome<loaded_options> load(const load_request& request) {
  const environment_variables environment =
      request.environment ? *request.environment : process_environment();
  loaded_options loaded;
  if (const auto file = apply_file(loaded, request, environment); !file) return fail(file.error());
  if (const auto done = apply_environment(loaded, environment); !done) return fail(done.error());
  if (const auto done = apply_settings(loaded, request); !done) return fail(done.error());
  return checked(std::move(loaded));
}

outcome<loaded_options> load_text(std::string_view toml, std::string_view file_name) {
  loaded_options loaded;
  loaded.config_file = file_name;
  if (const auto done = apply_text(loaded, toml, file_name); !done) return fail(done.error());
  return checked(std::move(loaded));
}

}  // namespace troupe::config
