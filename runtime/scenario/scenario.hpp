#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/data_type.hpp"
#include "runtime/instant.hpp"
#include "runtime/operation.hpp"

namespace troupe::scenario {

/// Where a scenario can be played.
enum class world_kind : std::uint8_t {
  sim,      ///< real actors on a simulated network, one thread, virtual time, everything seeded
  process,  ///< real processes on this host, real signals, real sockets or emulated RDMA cards
  gpu,      ///< hosts with GPUs
};

/// How far two ranks are from each other.
enum class distance : std::uint8_t {
  same_host,
  same_rack,
  same_zone,
  cross_zone,
  cross_data_center,
};

inline constexpr std::size_t distance_count = 5;

/// The wires of one distance.
struct wire {
  duration latency = std::chrono::microseconds(5);     ///< one way
  std::uint64_t bytes_per_second = 25'000'000'000ull;  ///< of each sending rank
};

/// As many as there are.
inline constexpr std::uint32_t no_limit = 1u << 30;

/// The machines of a scenario. Ranks fill hosts in order, hosts racks, racks zones, zones data
/// centres. Card k of every host is connected to plane k.
struct topology {
  std::uint32_t ranks = 0;
  std::uint32_t ranks_per_host = 1;
  std::uint32_t nics_per_host = 1;  ///< and planes of the network
  std::uint32_t hosts_per_rack = no_limit;
  std::uint32_t racks_per_zone = no_limit;
  std::uint32_t zones_per_data_center = no_limit;
  std::array<wire, distance_count> wires{};

  std::uint32_t host_of(std::uint32_t r) const { return r / ranks_per_host; }
  std::uint32_t rack_of(std::uint32_t r) const { return host_of(r) / hosts_per_rack; }
  std::uint32_t zone_of(std::uint32_t r) const { return rack_of(r) / racks_per_zone; }
  std::uint32_t data_center_of(std::uint32_t r) const { return zone_of(r) / zones_per_data_center; }
  distance between(std::uint32_t a, std::uint32_t b) const;
};

/// One call that every rank makes in each step.
struct workload_operation {
  operation_kind kind = operation_kind::all_reduce;
  std::uint64_t count = 1024;
  data_type type = data_type::float32;
  std::uint32_t root = 0;
  std::optional<troupe::algorithm> algorithm;
  std::optional<duration> timeout;
  std::uint32_t line = 0;
};

/// What the ranks do: `steps` times all operations one after the other, with `compute` between two
/// steps. A rank whose operation fails makes no further call.
struct workload {
  std::uint32_t steps = 10;
  duration compute{};
  std::vector<workload_operation> operations;
};

enum class fault_kind : std::uint8_t {
  kill,                 ///< the process ends without a word
  power_off,            ///< the host of the rank falls silent
  stop,                 ///< the process does nothing and its system does: SIGSTOP
  slow,                 ///< every step begins `by` later
  lane_down,            ///< connections between two ranks are cut
  nic_down,             ///< a card loses its link
  loss,                 ///< frames are lost, and sent again after `by`
  delay,                ///< frames take `by` longer
  reorder,              ///< frames take up to `by` longer: lanes overtake each other
  duplicate,            ///< frames arrive twice
  corrupt,              ///< one bit of a frame flips
  partition,            ///< the ranks do not hear the others
  lost_completion,      ///< the next writes arrive, and their sender never learns it
  failed_registration,  ///< the next registrations of memory fail
  failed_allocation,    ///< there is no memory for control objects
  no_descriptors,       ///< the process can open nothing more
  throwing_actor,       ///< the next message that an actor of a kind handles throws
  garbage,              ///< a stranger connects and says nonsense
  refused_dials,        ///< nobody can connect to the rank
};

inline constexpr std::size_t fault_kind_count = 19;

/// What makes a fault strike.
enum class trigger_kind : std::uint8_t {
  time,         ///< `at` after all ranks have joined
  step,         ///< a rank it is aimed at begins a step
  event,        ///< the nth event of a kind at a rank it is aimed at
  phase,        ///< a rank it is aimed at enters a phase
  probability,  ///< drawn anew for every step
  mtbf,         ///< again and again, at intervals drawn around a mean time between failures
};

enum class event_kind : std::uint8_t {
  operation_started,
  operation_ended,
  segment_sent,  ///< a write of a large transfer
};

enum class phase_kind : std::uint8_t {
  join,
  reduce_scatter,                         ///< of a ring all_reduce
  between_reduce_scatter_and_all_gather,  ///< its own block is reduced and on its way
};

struct trigger {
  trigger_kind what = trigger_kind::time;
  duration at{};           ///< time, mtbf: the mean
  std::uint32_t step = 0;  ///< step; phase: of which step
  event_kind event = event_kind::operation_started;
  std::uint64_t nth = 0;  ///< event
  phase_kind phase = phase_kind::join;
  double probability = 0;
  duration after{};  ///< so much later than all that
};

/// Whom a fault is aimed at, or of whom something is expected.
struct selector {
  enum class kind : std::uint8_t {
    all,
    ranks,
    random,   ///< `count` of all, drawn from the seed
    percent,  ///< `ratio` of all, at least one, drawn from the seed
    host,     ///< `numbers` are hosts, and so on
    rack,
    zone,
    data_center,
    root,        ///< of the first operation that has one
    rendezvous,  ///< rank 0
    link,        ///< `numbers` are the two ranks
    victims,     ///< expectations: whom any fault ends or stops for good
    survivors,   ///< expectations: everybody else
  };
  kind what = kind::all;
  std::vector<std::uint32_t> numbers;
  std::uint32_t count = 0;
  double ratio = 0;
};

struct fault {
  fault_kind kind = fault_kind::kill;
  selector whom;
  trigger when;
  std::optional<duration> lasts;  ///< `for`; none: to the end
  std::uint32_t repeat = 1;       ///< strikes so often, at most so often with mtbf
  duration every{};               ///< between two of them
  duration by{};                  ///< slow, loss, delay, reorder
  double share = 0.01;            ///< loss, duplicate, corrupt: of all frames
  std::uint32_t next = 1;         ///< lost_completion, failed_registration: how many
  std::uint32_t nic = 0;          ///< nic_down
  std::uint32_t lanes = 0;        ///< lane_down: how many, the newest first; 0: all
  std::string actor;              ///< throwing_actor
  std::uint32_t line = 0;
};

/// How a rank ended: an error of its operations, or one of three other things.
struct rank_outcome {
  enum class kind : std::uint8_t {
    failed,   ///< an operation or the joining ended in `code`; code ok: everything went well
    killed,   ///< by a fault
    stopped,  ///< by a fault that did not end
  };
  kind what = kind::failed;
  errc code = errc::ok;

  friend bool operator==(const rank_outcome&, const rank_outcome&) = default;
};

/// Something of an endpoint that a run may not keep.
enum class leak_kind : std::uint8_t { descriptors, threads, memory };

/// One thing that must hold. Every field that is set is checked, for each rank of `whom`.
struct expectation {
  std::vector<world_kind> worlds;  ///< where it is checked; empty: everywhere
  selector whom;
  std::vector<rank_outcome> outcomes;  ///< any of these
  std::optional<std::uint32_t> names;  ///< the rank that the error is about
  std::optional<duration> within;      ///< of the first strike until the rank ended so
  std::optional<std::uint32_t> steps;  ///< finished, exactly
  std::optional<std::uint32_t> steps_at_least;
  std::optional<bool> data_exact;
  std::optional<double> throughput;  ///< after the last fault ended, as part of that before
  std::vector<leak_kind> no_leak;
  std::string metric;  ///< summed over labels and ranks of `whom`
  std::optional<double> at_least;
  std::optional<double> at_most;
  // Of parts that no world can judge yet; `check_scenario` refuses them by name.
  std::optional<std::uint32_t> epoch;
  std::vector<std::uint32_t> members;
  std::vector<std::uint32_t> contributors;
  std::string verdict;
  std::optional<std::uint32_t> culprit;
  std::uint32_t line = 0;
};

/// What real lanes the process world uses.
enum class process_lanes : std::uint8_t { automatic, tcp, shm, verbs };

/// A story of ranks, work and bad luck, and how it has to end.
struct script {
  std::string file_name;  ///< as it was given
  std::string story;      ///< one sentence
  std::vector<world_kind> worlds;
  topology machines;
  workload work;
  std::vector<std::pair<std::string, std::string>> settings;  ///< as communicator_options
  process_lanes lanes = process_lanes::automatic;
  duration limit = std::chrono::seconds(60);  ///< of the whole run, virtual or real
  std::vector<fault> faults;
  std::vector<expectation> expectations;

  bool plays_in(world_kind where) const;
};

}  // namespace troupe::scenario
