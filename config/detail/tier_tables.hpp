#pragma once

#include "config/detail/option_units.hpp"
#include "config/option_description.hpp"

#include <array>
#include <string_view>

namespace troupe::config::detail {

/// A name of a place as an option: any printable text.
constexpr option_description place_name(std::string_view name, field_access access,
                                        std::string_view unset_means, std::string_view sentence) {
  return {.name = name, .field = access, .unset_means = unset_means, .sentence = sentence};
}

/// The options of section [topology].
inline constexpr option_description topology_table[] = {
    place_name("topology.file", field<&options::topology, &topology_options::file>, "none",
               "TOML file with a section for every rack: data_center, zone, hosts."),
    place_name("topology.data_center", field<&options::topology, &topology_options::data_center>,
               "what the file says, else not known",
               "Name of the data centre of this rank; if set, the file is not asked."),
    place_name("topology.zone", field<&options::topology, &topology_options::zone>,
               "what the file says, else not known",
               "Name of the zone in it; needs topology.data_center."),
    place_name("topology.rack", field<&options::topology, &topology_options::rack>,
               "what the file says, else not known",
               "Name of the rack in that; needs topology.zone."),
    place_name(
        "topology.host", field<&options::topology, &topology_options::host>,
        "the system's host name",
        "Name of the host, by which the file is asked and ranks of one host know each other."),
};

/// The options of section [dqplb].
inline constexpr option_description dqplb_table[] = {
    {.name = "dqplb.lease_bytes",
     .kind = value_kind::bytes,
     .field = field<&options::dqplb, &dqplb_options::lease_bytes>,
     .unit = "bytes",
     .low = 4 * kib,
     .high = 1 * gib,
     .sentence = "Most of a tier's bytes that a link gets at a time; at least one segment. No more "
                 "than an eighth of the tier's bytes is lent at once if that is a segment."},
};

inline constexpr std::array<std::string_view, 3> cap_choices{"fixed", "adaptive", "off"};

/// The options of one tier, in the order of `tier_options`.
template <auto Tier>
constexpr std::array<option_description, 6> tier_rows(
    const std::array<std::string_view, 6>& names) {
  return {{
      {.name = names[0],
       .field = field<Tier, &tier_options::cap>,
       .choices = cap_choices,
       .sentence =
           "With fixed the bytes below are the cap; with adaptive each link finds its own from "
           "the latency of its writes where these complete on arrival (verbs), all together up to "
           "four times the bytes; with off lanes alone are capped."},
      // A page: less could carry no segment worth its cost.
      {.name = names[1],
       .kind = value_kind::bytes,
       .field = field<Tier, &tier_options::bytes>,
       .unit = "bytes",
       .low = 4 * kib,
       .high = 1 * tib,
       .sentence = "Bytes in flight to all peers of this tier together."},
      {.name = names[2],
       .kind = value_kind::count,
       .field = field<Tier, &tier_options::write_count>,
       .unit = "writes",
       .low = 1,
       .high = 1 << 20,
       .sentence = "The same in writes: a short one counts as that part of the bytes."},
      {.name = names[3],
       .kind = value_kind::bytes,
       .field = field<Tier, &tier_options::segment_bytes>,
       .unit = "bytes",
       .low = 4 * kib,
       .high = 64 * mib,
       .sentence = "Largest write to such a peer; never above transport.segment_bytes."},
      {.name = names[4],
       .kind = value_kind::bytes,
       .field = field<Tier, &tier_options::lane_bytes>,
       .unit = "bytes",
       .low = 4 * kib,
       .high = 1 * tib,
       .unset_means = "an even share of the tier's bytes",
       .sentence = "Bytes in flight on one lane; at least one segment."},
      {.name = names[5],
       .kind = value_kind::count,
       .field = field<Tier, &tier_options::lane_write_count>,
       .unit = "writes",
       .low = 1,
       .high = 4096,
       .sentence = "Writes in flight on one lane, if its depth allows that many."},
  }};
}

/// The options of section [tier_same_host].
inline constexpr auto same_host_table = tier_rows<&options::tier_same_host>(
    {"tier_same_host.cap", "tier_same_host.bytes", "tier_same_host.write_count",
     "tier_same_host.segment_bytes", "tier_same_host.lane_bytes",
     "tier_same_host.lane_write_count"});

/// The options of section [tier_same_rack].
inline constexpr auto same_rack_table = tier_rows<&options::tier_same_rack>(
    {"tier_same_rack.cap", "tier_same_rack.bytes", "tier_same_rack.write_count",
     "tier_same_rack.segment_bytes", "tier_same_rack.lane_bytes",
     "tier_same_rack.lane_write_count"});

/// The options of section [tier_same_zone].
inline constexpr auto same_zone_table = tier_rows<&options::tier_same_zone>(
    {"tier_same_zone.cap", "tier_same_zone.bytes", "tier_same_zone.write_count",
     "tier_same_zone.segment_bytes", "tier_same_zone.lane_bytes",
     "tier_same_zone.lane_write_count"});

/// The options of section [tier_cross_zone].
inline constexpr auto cross_zone_table = tier_rows<&options::tier_cross_zone>(
    {"tier_cross_zone.cap", "tier_cross_zone.bytes", "tier_cross_zone.write_count",
     "tier_cross_zone.segment_bytes", "tier_cross_zone.lane_bytes",
     "tier_cross_zone.lane_write_count"});

/// The options of section [tier_cross_data_center].
inline constexpr auto cross_data_center_table = tier_rows<&options::tier_cross_data_center>(
    {"tier_cross_data_center.cap", "tier_cross_data_center.bytes",
     "tier_cross_data_center.write_count", "tier_cross_data_center.segment_bytes",
     "tier_cross_data_center.lane_bytes", "tier_cross_data_center.lane_write_count"});

/// The options of section [tier_unknown].
inline constexpr auto unknown_table = tier_rows<&options::tier_unknown>(
    {"tier_unknown.cap", "tier_unknown.bytes", "tier_unknown.write_count",
     "tier_unknown.segment_bytes", "tier_unknown.lane_bytes", "tier_unknown.lane_write_count"});

}  // namespace troupe::config::detail
