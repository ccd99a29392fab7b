#pragma once

#include "config/options.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::config {

/// A must-agree option and the canonical text of its value ("256KiB").
struct agreed_option {
  std::string name;
  std::string value;

  friend bool operator==(const agreed_option&, const agreed_option&) = default;
};

/// Every option that must be equal on all ranks, in the order of the tables. The secret is not
/// among them: the handshake proves it and nothing may send it.
std::vector<agreed_option> must_agree_options(const options& values);

/// One number for the whole list, for logs and dumps: two ranks with different numbers differ in an
/// option that must agree. FNV-1a, 64 bit, over "name=value\n" of each.
std::uint64_t must_agree_hash(const options& values);

/// Two ranks' values of one option; a missing one (another version) is empty.
struct option_difference {
  std::string name;
  std::string ours;
  std::string theirs;
};

/// The first option in which the lists differ.
std::optional<option_difference> find_difference(const std::vector<agreed_option>& ours,
                                                 const std::vector<agreed_option>& theirs);

/// "transport.segment_bytes is 256KiB on rank 0 and 1MiB on rank 3; it must agree on all ranks".
std::string describe(const option_difference& difference, std::string_view us,
                     std::string_view them);

}  // namespace troupe::config
