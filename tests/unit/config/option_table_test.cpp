#define BOOST_TEST_MODULE option_table
#include "config/option_description.hpp"
#include "config/option_text.hpp"

#include <boost/test/unit_test.hpp>

#include <cctype>
#include <set>
#include <string>

namespace troupe::config {
namespace {

template <class Check>
void for_each_option(Check check) {
  for (const section_description& section : sections())
    for (const option_description& option : section.entries)
      check(section, option);
}

option_value another_value(const option_description& option) {
  if (option.kind == value_kind::text) return std::string("another");
  return option.low == std::get<std::int64_t>(default_value(option)) ? option.high : option.low;
}

BOOST_AUTO_TEST_CASE(no_name_and_no_variable_stands_twice) {
  std::set<std::string> names, variables;
  for_each_option([&](const section_description&, const option_description& option) {
    BOOST_TEST(names.insert(std::string(option.name)).second, option.name);
    BOOST_TEST(variables.insert(environment_name(option)).second, option.name);
  });
  BOOST_TEST(variables.count("TROUPE_TRANSPORT_SEGMENT_BYTES") == 1u);
  BOOST_TEST(variables.count("TROUPE_CONFIG") == 0u);
  BOOST_TEST(variables.count("TROUPE_LOG") == 0u);
}

BOOST_AUTO_TEST_CASE(an_option_stands_in_the_table_of_its_section) {
  for_each_option([](const section_description& section, const option_description& option) {
    BOOST_TEST(option.section() == section.name);
    BOOST_TEST(std::string(option.section()) + '.' + std::string(option.key()) == option.name);
    BOOST_TEST(find_option(option.name) == &option);
  });
  BOOST_TEST(find_option("transport") == nullptr);
  BOOST_TEST(find_option("") == nullptr);
}

BOOST_AUTO_TEST_CASE(every_option_has_a_field_of_its_own) {
  for_each_option([](const section_description&, const option_description& written) {
    options changed;
    written.field.write(changed, another_value(written));
    for_each_option([&](const section_description&, const option_description& option) {
      const bool differs = value_in(changed, option) != default_value(option);
      BOOST_TEST(differs == (&option == &written), option.name << " after " << written.name);
    });
  });
}

// The tables have as many options as the structs have fields: 10 + 12 + 5 + 5 + 11 + 11 + 5 + 1
// + 6 * 6 + 8 + 6 + 2 + 1 + 4. Structured bindings with another number of names do not compile, so
// a new field needs a row.
BOOST_AUTO_TEST_CASE(no_field_of_the_structs_is_missing) {
  const options o;
  [[maybe_unused]] const auto& [b0, b1, b2, b3, b4, b5, b6, b7, b8, b9] = o.bootstrap;
  [[maybe_unused]] const auto& [t0, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11] = o.transport;
  [[maybe_unused]] const auto& [s0, s1, s2, s3, s4] = o.tcp;
  [[maybe_unused]] const auto& [h0, h1, h2, h3, h4] = o.shm;
  [[maybe_unused]] const auto& [v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10] = o.verbs;
  [[maybe_unused]] const auto& [c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10] = o.collective;
  [[maybe_unused]] const auto& [p0, p1, p2, p3, p4] = o.topology;
  [[maybe_unused]] const auto& [d0] = o.dqplb;
  [[maybe_unused]] const auto& [r0, r1, r2, r3, r4, r5] = o.tier_unknown;
  [[maybe_unused]] const auto& [w0, w1, w2, w3, w4, w5] = o.worker;
  [[maybe_unused]] const auto& [g0, g1] = o.watchdog;
  [[maybe_unused]] const auto& [m0] = o.metrics;
  [[maybe_unused]] const auto& [f0, f1, f2, f3, f4, f5, f6, f7] = o.fault_tolerance;
  [[maybe_unused]] const auto& [e0, e1, e2, e3] = o.trace;
  [[maybe_unused]] const auto& [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14,
                                x15, x16, x17, x18] = o;
  std::size_t rows = 0;
  for_each_option([&](const section_description&, const option_description&) { ++rows; });
  BOOST_TEST(rows == 117u);
  BOOST_TEST(sections().size() == 19u);
}

BOOST_AUTO_TEST_CASE(defaults_are_allowed_values) {
  for_each_option([](const section_description&, const option_description& option) {
    const auto problem = find_problem(option, default_value(option));
    BOOST_TEST(!problem, option.name << ' ' << problem.value_or(""));
  });
}

BOOST_AUTO_TEST_CASE(ranges_are_not_empty_and_fit_their_fields) {
  for_each_option([](const section_description&, const option_description& option) {
    if (option.kind == value_kind::text) {
      BOOST_TEST(option.unit.empty());
    } else {
      BOOST_TEST(option.low >= 0);
      BOOST_TEST(option.low < option.high);
      BOOST_TEST(option.high <= option.field.largest, option.name);
      BOOST_TEST(!option.unit.empty(), option.name);
    }
  });
}

BOOST_AUTO_TEST_CASE(both_ends_of_a_range_are_allowed_and_their_neighbours_are_not) {
  for_each_option([](const section_description&, const option_description& option) {
    if (option.kind == value_kind::text) return;
    BOOST_TEST(!find_problem(option, option.low), option.name);
    BOOST_TEST(!find_problem(option, option.high), option.name);
    BOOST_TEST(find_problem(option, option.high + 1).has_value(), option.name);
    const bool zero_is_unset = option.low == 1 && !option.unset_means.empty();
    if (!zero_is_unset) BOOST_TEST(find_problem(option, option.low - 1).has_value(), option.name);
  });
}

BOOST_AUTO_TEST_CASE(every_option_has_one_sentence) {
  for_each_option([](const section_description& section, const option_description& option) {
    BOOST_TEST(section.sentence.ends_with('.'));
    BOOST_TEST(option.sentence.ends_with('.'), option.name);
    BOOST_TEST(std::isupper(static_cast<unsigned char>(option.sentence.front())) != 0);
    BOOST_TEST(option.sentence.find('|') == std::string_view::npos, "it stands in a table");
  });
}

BOOST_AUTO_TEST_CASE(options_that_peers_compute_with_must_agree) {
  for (const char* name :
       {"transport.segment_bytes", "transport.eager_bytes", "transport.eager_slot_count",
        "transport.window_segment_count", "transport.data_lane_count", "transport.transfer_count",
        "collective.chunk_bytes", "collective.pipeline_chunk_count",
        "collective.all_reduce_ring_above_bytes", "collective.all_gather_ring_above_bytes",
        "collective.reduce_scatter_ring_above_bytes", "collective.all_reduce_halving_above_bytes",
        "collective.all_gather_bruck_above_ranks", "collective.broadcast_chain_above_bytes",
        "collective.reduce_chain_above_bytes"})
    BOOST_TEST((find_option(name)->agrees == agreement::must_agree), name);
}

BOOST_AUTO_TEST_CASE(only_the_secret_is_secret) {
  for_each_option([](const section_description&, const option_description& option) {
    BOOST_TEST((option.shows == visibility::secret) == (option.name == "bootstrap.secret"));
  });
}

BOOST_AUTO_TEST_CASE(an_unsigned_field_beyond_the_signed_range_is_out_of_range) {
  options o;
  o.transport.segment_bytes = ~0ull;
  const option_description& option = *find_option("transport.segment_bytes");
  BOOST_TEST(find_problem(option, value_in(o, option)).has_value());
}

}  // namespace
}  // namespace troupe::config
