#include "config/launch_environment.hpp"

#include "config/quantity.hpp"
#include "config/slurm_lists.hpp"

#include <array>
#include <span>
#include <utility>

namespace troupe::config {
namespace {

/// The variables of one launcher. Where two are listed the first that is set counts.
struct dialect {
  launcher from;
  std::string_view rank;
  std::array<std::string_view, 2> world_size;
  std::string_view local_rank;
  std::string_view local_size;
  std::string_view job_id;
  std::string_view fix;
};

// In the order in which they are asked. mpirun under Slurm starts its daemons as Slurm tasks and
// torchrun may run under both, so the innermost launcher comes first.
constexpr std::array dialects{
    dialect{launcher::torchrun,
            "RANK",
            {"WORLD_SIZE", ""},
            "LOCAL_RANK",
            "LOCAL_WORLD_SIZE",
            "TORCHELASTIC_RUN_ID",
            "start with torchrun or `troupe launch`, or set both"},
    dialect{launcher::open_mpi,
            "OMPI_COMM_WORLD_RANK",
            {"OMPI_COMM_WORLD_SIZE", ""},
            "OMPI_COMM_WORLD_LOCAL_RANK",
            "OMPI_COMM_WORLD_LOCAL_SIZE",
            "PMIX_NAMESPACE",
            "start with mpirun"},
    // A step may have fewer tasks than its job; the step's number is the size of this world.
    dialect{launcher::slurm,
            "SLURM_PROCID",
            {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"},
            "SLURM_LOCALID",
            "",
            "SLURM_JOB_ID",
            "start with srun"},
};

class reader {
 public:
  reader(const launch_overrides& overrides, const environment_variables& variables)
      : overrides_(overrides), variables_(variables) {}

  outcome<launch_environment> read();

 private:
  const std::string* find(std::string_view name) const;
  std::string_view size_variable(const dialect& d) const;
  std::string assignment(std::string_view name) const;
  outcome<std::uint32_t> number(std::string_view name, std::uint32_t most) const;
  outcome<std::optional<std::uint32_t>> optional_number(std::string_view name) const;

  outcome<const dialect*> choose() const;
  failure nobody() const;
  outcome<void> read_place(const dialect& d, launch_environment& out) const;
  outcome<void> read_local(const dialect& d, launch_environment& out) const;
  outcome<std::optional<std::uint32_t>> read_local_size(const dialect& d) const;
  outcome<host_port> read_rendezvous(launcher from) const;
  outcome<host_port> read_master(launcher from) const;
  outcome<std::uint16_t> read_port(launcher from) const;
  outcome<std::string> read_first_host() const;

  const launch_overrides& overrides_;
  const environment_variables& variables_;
};

tl::unexpected<failure> bad(std::string text) {
  return fail(errc::bad_configuration, std::move(text));
}

const std::string* reader::find(std::string_view name) const {
  const auto at = name.empty() ? variables_.end() : variables_.find(name);
  return at == variables_.end() ? nullptr : &at->second;
}

std::string_view reader::size_variable(const dialect& d) const {
  return find(d.world_size[0]) != nullptr || d.world_size[1].empty() ? d.world_size[0]
                                                                     : d.world_size[1];
}

/// `RANK="3"`.
std::string reader::assignment(std::string_view name) const {
  const std::string* text = find(name);
  TROUPE_ASSERT(text != nullptr);
  return std::string(name) + "=\"" + printable(text->substr(0, 80)) + '"';
}

outcome<std::uint32_t> reader::number(std::string_view name, std::uint32_t most) const {
  const quantity value = parse_whole_number(*find(name));
  if (!value) return bad(assignment(name) + ' ' + value.error());
  if (*value < 0 || *value > most)
    return bad(assignment(name) + " is out of range; allowed: 0 to " + std::to_string(most));
  return static_cast<std::uint32_t>(*value);
}

outcome<std::optional<std::uint32_t>> reader::optional_number(std::string_view name) const {
  if (find(name) == nullptr) return std::nullopt;
  const auto value = number(name, world_size_max);
  if (!value) return fail(value.error());
  return *value;
}

/// The launcher whose variables are there; null if nobody's are needed.
outcome<const dialect*> reader::choose() const {
  const bool need_rank = !overrides_.rank;
  const bool need_size = !overrides_.world_size;
  for (const dialect& d : dialects) {
    const std::string_view size = size_variable(d);
    const bool has_rank = find(d.rank) != nullptr;
    const bool has_size = find(size) != nullptr;
    if (!has_rank && !has_size) continue;
    if ((has_rank || !need_rank) && (has_size || !need_size)) return &d;
    const std::string_view set = has_rank ? d.rank : size;
    const std::string_view missing = has_rank ? size : d.rank;
    return bad(assignment(set) + " is set but " + std::string(missing) + " is not: " +
               std::string(d.fix) + "; or unset " + std::string(set) + " if it is not meant");
  }
  if (!need_rank && !need_size) return nullptr;
  return fail(nobody());
}

failure reader::nobody() const {
  std::string text =
      "no launcher says which rank this process is: set RANK, WORLD_SIZE, "
      "MASTER_ADDR and MASTER_PORT, or start with `troupe launch`, torchrun, srun "
      "or mpirun";
  for (const dialect& d : dialects)
    text.append(&d == &dialects.front() ? "; none of " : " or ").append(d.rank);
  return {errc::bad_configuration, text + " is set"};
}

outcome<void> reader::read_place(const dialect& d, launch_environment& out) const {
  if (!overrides_.rank) {
    const auto value = number(d.rank, world_size_max - 1);
    if (!value) return fail(value.error());
    out.rank = troupe::rank{*value};
  }
  if (!overrides_.world_size) {
    const auto value = number(size_variable(d), world_size_max);
    if (!value) return fail(value.error());
    out.world_size = *value;
  }
  const std::string* job = find(d.job_id);
  if (job != nullptr) out.job_id = printable(*job);
  return {};
}

outcome<std::optional<std::uint32_t>> reader::read_local_size(const dialect& d) const {
  if (d.from != launcher::slurm) return optional_number(d.local_size);
  constexpr std::string_view step_tasks = "SLURM_STEP_TASKS_PER_NODE";
  const std::string_view tasks =
      find(step_tasks) != nullptr ? step_tasks : std::string_view("SLURM_TASKS_PER_NODE");
  const auto node = optional_number("SLURM_NODEID");
  if (!node) return fail(node.error());
  if (!*node || find(tasks) == nullptr) return std::nullopt;
  const auto size = tasks_on_node(*find(tasks), **node);
  if (!size)
    return bad(assignment(tasks) + " does not say how many tasks node " + std::to_string(**node) +
               " (SLURM_NODEID) has; its form is 2(x3),1");
  return size;
}

outcome<void> reader::read_local(const dialect& d, launch_environment& out) const {
  const auto local_rank = optional_number(d.local_rank);
  if (!local_rank) return fail(local_rank.error());
  const auto local_size = read_local_size(d);
  if (!local_size) return fail(local_size.error());
  out.local_rank = *local_rank;
  out.local_size = *local_size;
  if (out.local_size && (*out.local_size == 0 || *out.local_size > out.world_size))
    return bad(std::string(to_string(d.from)) + " says that " + std::to_string(*out.local_size) +
               " ranks run on this host, but the world has " + std::to_string(out.world_size));
  const std::uint32_t limit = out.local_size.value_or(out.world_size);
  if (out.local_rank && *out.local_rank >= limit)
    return bad(assignment(d.local_rank) +
               " is not below the number of ranks on this host, at most " + std::to_string(limit));
  return {};
}

outcome<std::string> reader::read_first_host() const {
  constexpr std::string_view step_list = "SLURM_STEP_NODELIST";
  constexpr std::string_view job_list = "SLURM_JOB_NODELIST";
  const std::string_view list = find(step_list) != nullptr ? step_list : job_list;
  if (find(list) == nullptr)
    return bad(
        "none of MASTER_ADDR, SLURM_STEP_NODELIST and SLURM_JOB_NODELIST is set: set "
        "MASTER_ADDR to the host of rank 0");
  auto host = first_host(*find(list));
  if (!host)
    return bad(assignment(list) +
               " is not a list of hosts such as node[003-005,9]; set "
               "MASTER_ADDR to the host of rank 0");
  return std::move(*host);
}

outcome<std::uint16_t> reader::read_port(launcher from) const {
  if (find("MASTER_PORT") != nullptr) {
    const auto port = number("MASTER_PORT", 65535);
    if (!port) return fail(port.error());
    if (*port == 0) return bad(assignment("MASTER_PORT") + " is not a port: use 1 to 65535");
    return static_cast<std::uint16_t>(*port);
  }
  if (from == launcher::slurm) return default_rendezvous_port;
  return bad("MASTER_PORT is not set: set it to the same free port on every rank, " +
             std::to_string(default_rendezvous_port) + " for instance");
}

outcome<host_port> reader::read_master(launcher from) const {
  host_port out;
  if (const std::string* address = find("MASTER_ADDR"); address != nullptr) {
    if (!is_host(*address)) return bad(assignment("MASTER_ADDR") + " is not a host or an address");
    out.host = *address;
  } else if (from == launcher::slurm) {
    auto host = read_first_host();
    if (!host) return fail(host.error());
    out.host = std::move(*host);
  } else {
    return bad(std::string(from == launcher::none ? "nobody" : to_string(from)) +
               " says where rank 0 is: set MASTER_ADDR to its host and MASTER_PORT to a free port "
               "there, or bootstrap.rendezvous to host:port");
  }
  const auto port = read_port(from);
  if (!port) return fail(port.error());
  out.port = *port;
  return out;
}

outcome<host_port> reader::read_rendezvous(launcher from) const {
  if (!overrides_.rendezvous) return read_master(from);
  const auto given = parse_host_port(*overrides_.rendezvous);
  if (given && given->port != 0) return *given;
  return bad("rendezvous \"" + printable(overrides_.rendezvous->substr(0, 300)) +
             "\" is not host:port; IPv6 addresses stand in brackets");
}

outcome<launch_environment> reader::read() {
  const auto dialect_found = choose();
  if (!dialect_found) return fail(dialect_found.error());
  const dialect* d = *dialect_found;
  launch_environment out;
  out.rank = troupe::rank{overrides_.rank.value_or(0)};
  out.world_size = overrides_.world_size.value_or(1);
  if (d != nullptr) {
    out.from = d->from;
    if (const auto done = read_place(*d, out); !done) return fail(done.error());
  }
  if (out.world_size == 0 || out.world_size > world_size_max)
    return bad("a world of " + std::to_string(out.world_size) + " ranks: allowed are 1 to " +
               std::to_string(world_size_max));
  if (to_index(out.rank) >= out.world_size)
    return bad("rank " + std::to_string(to_index(out.rank)) + " is not in a world of " +
               std::to_string(out.world_size) + " ranks (rank from " +
               std::string(overrides_.rank ? "the caller" : d->rank) + ", world size from " +
               std::string(overrides_.world_size ? "the caller" : size_variable(*d)) + ')');
  // A rank of the caller's own is not the one whose place on the host the launcher knows.
  if (d != nullptr && !overrides_.rank && !overrides_.world_size)
    if (const auto done = read_local(*d, out); !done) return fail(done.error());
  // A rank that is alone meets nobody.
  if (out.world_size == 1 && !overrides_.rendezvous) return out;
  auto rendezvous = read_rendezvous(out.from);
  if (!rendezvous) return fail(rendezvous.error());
  out.rendezvous = std::move(*rendezvous);
  return out;
}

}  // namespace

std::string_view to_string(launcher l) {
  switch (l) {
    case launcher::none: return "none";
    case launcher::torchrun: return "torchrun";
    case launcher::open_mpi: return "Open MPI";
    case launcher::slurm: return "Slurm";
  }
  return "unknown";
}

outcome<launch_environment> find_launch_environment(const launch_overrides& overrides,
                                                    const environment_variables& variables) {
  return reader(overrides, variables).read();
}

}  // namespace troupe::config
