#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/instant.hpp"
#include "runtime/rank_dump.hpp"
#include "runtime/result.hpp"

namespace troupe::cli {

/// A rank on this host that can be asked for its dump.
struct rank_door {
  std::uint32_t process = 0;
  std::uint32_t rank = 0;
  std::string name;  ///< of its socket, in the abstract namespace

  friend bool operator==(const rank_door&, const rank_door&) = default;
};

/// The ranks of one user among the sockets of this host. `sockets`: text of /proc/net/unix. In the
/// order of processes and ranks.
std::vector<rank_door> find_rank_doors(std::string_view sockets, std::uint32_t user);

/// The ranks of the calling user on this host.
/// Errors: system_failure if /proc/net/unix cannot be read.
outcome<std::vector<rank_door>> rank_doors_of_this_host();

/// Dumps, and what is to be said about those that could not be had.
struct gathered_dumps {
  std::vector<rank_dump> dumps;
  std::vector<std::string> notes;
};

/// Asks all at once and waits for their answers, at most `limit` for all together. Who does not
/// answer costs a note, and nobody else anything.
gathered_dumps ask_ranks(const std::vector<rank_door>& doors, duration limit);

/// Where a command takes dumps from.
struct dump_request {
  /// Process numbers, files of dumps (one a line), or directories of such files (`*.json`). None:
  /// every rank of the calling user on this host.
  std::vector<std::string> targets;
  std::string job;  ///< only dumps of this job; empty: there must be one
  duration limit = std::chrono::seconds(2);
};

/// Errors: bad_argument if a target is nothing of this, a file holds no dump, or the dumps are of
///         several jobs and `job` does not say which; not_available if there is none.
outcome<gathered_dumps> gather_dumps(const dump_request& request);

/// "a3f0...": how a job is named in messages and with `--job`.
std::string job_name(const rank_dump& dump);

}  // namespace troupe::cli
