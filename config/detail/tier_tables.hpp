#pragma once

#include "config/detail/option_units.hpp"
#include "config/option_description.hpp"

#include <string_view>

namespace troupe::config::detail {

// A budget below one lease could never be lent out.
constexpr option_description budget(std::string_view name, field_access access,
                                    std::string_view sentence) {
  return {.name = name,
          .kind = value_kind::bytes,
          .field = access,
          .unit = "bytes",
          .low = 64 * kib,
          .high = 1 * tib,
          .sentence = sentence};
}

/// The options of section [dqplb].
inline constexpr option_description dqplb_table[] = {
    budget("dqplb.same_rack_bytes", field<&options::dqplb, &dqplb_options::same_rack_bytes>,
           "Bytes in flight to all peers of the same rack."),
    budget("dqplb.same_zone_bytes", field<&options::dqplb, &dqplb_options::same_zone_bytes>,
           "Bytes in flight to all peers of the same zone in other racks."),
    budget("dqplb.cross_zone_bytes", field<&options::dqplb, &dqplb_options::cross_zone_bytes>,
           "Bytes in flight to all peers of other zones in the same data centre."),
    budget("dqplb.cross_data_center_bytes",
           field<&options::dqplb, &dqplb_options::cross_data_center_bytes>,
           "Bytes in flight to all peers of other data centres."),
    budget("dqplb.unknown_bytes", field<&options::dqplb, &dqplb_options::unknown_bytes>,
           "Bytes in flight to all peers whose place is not known."),
    {.name = "dqplb.lease_bytes",
     .kind = value_kind::bytes,
     .field = field<&options::dqplb, &dqplb_options::lease_bytes>,
     .unit = "bytes",
     .low = 4 * kib,
     .high = 1 * gib,
     .sentence =
         "Part of a tier's budget that a link gets at a time; at least one segment, at most "
         "the smallest budget."},
};

}  // namespace troupe::config::detail
