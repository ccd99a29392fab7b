#pragma once

#include <string>

namespace troupe::config {

/// Where this rank stands. Section [topology].
struct topology_options {
  std::string file{};         ///< path of a topology file; empty: none
  std::string data_center{};  ///< if set, the file is not asked
  std::string zone{};
  std::string rack{};
  std::string host{};  ///< name to look up; empty: the system's
};

}  // namespace troupe::config
