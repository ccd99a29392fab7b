#pragma once

#include <cstdint>
#include <string>

#include "runtime/place.hpp"

namespace troupe::config {

struct options;

/// What an endpoint may have in flight to the peers of one distance tier. Sections [tier_same_host]
/// to [tier_unknown]. Where the numbers come from: docs/dqplb.md.
struct tier_options {
  std::string cap = "fixed";                 ///< "fixed", "adaptive" or "off"
  std::uint64_t bytes = 64ull << 20;         ///< to all peers of the tier together
  std::uint32_t write_count = 1024;          ///< the same in writes
  std::uint64_t segment_bytes = 256 * 1024;  ///< largest write; not above transport.segment_bytes
  std::uint64_t lane_bytes = 0;              ///< on one lane; 0: an even share of `bytes`
  std::uint32_t lane_write_count = 128;      ///< on one lane, if its depth allows that many
};

/// The section of that tier.
const tier_options& limits_of(const options& all, tier which);

/// Bytes on one data lane: as set, or an even share of the most that the tier may have, so that a
/// lane that is slower than the others fills up and carries less, and they have the rest of the
/// budget for themselves.
std::uint64_t lane_bytes_of(const options& all, tier which);

/// What a link gets at a time: an eighth of the tier's bytes, so that eight links share a tier
/// evenly; at least one segment and at most `dqplb.lease_bytes`.
std::uint64_t lease_bytes_of(const options& all, tier which);

/// The most that may be in flight to the peers of a tier together. Adaptive windows may find that
/// four times the configured bytes are of use.
std::uint64_t most_bytes_of(const tier_options& limits);

}  // namespace troupe::config
