#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/data_type.hpp"
#include "runtime/group.hpp"
#include "runtime/instant.hpp"
#include "runtime/memory_ledger.hpp"
#include "runtime/operation.hpp"
#include "runtime/operation_options.hpp"
#include "runtime/place.hpp"
#include "runtime/rank_dump.hpp"
#include "runtime/result.hpp"
#include "runtime/window.hpp"
#include "runtime/work.hpp"

namespace troupe {

/// Where to find the other ranks and how to behave. Every field left empty is taken from the
/// configuration (code > environment > file > default) or from the launcher's environment
/// (torchrun, Slurm or Open MPI; see `docs/configuration.md`).
struct communicator_options {
  std::optional<std::uint32_t> rank;
  std::optional<std::uint32_t> world_size;
  std::optional<std::string> rendezvous;  ///< "host:port" of rank 0's rendezvous
  /// From `communicator::invite`: comes into that communicator instead of joining a job that
  /// begins. Rank and world size are the invitation's. Also `fault_tolerance.invitation`.
  std::optional<std::string> invitation = std::nullopt;
  std::string config_file = {};  ///< path of a TOML file; empty: none
  /// Options set in code, by full name: {"transport.segment_bytes", "262144"}. Text as in the file.
  std::vector<std::pair<std::string, std::string>> settings = {};
  /// Where this process stands; goes before section [topology] of the configuration. Called once by
  /// `join`, on its thread, with the rank. Levels it leaves empty are not known, a host it leaves
  /// empty is the system's.
  std::function<place(troupe::rank)> find_place = {};
};

/// in[count] -> out[count] on every rank. `send == receive` is in place.
struct all_reduce_arguments {
  const void* send = nullptr;
  void* receive = nullptr;
  std::uint64_t count = 0;  ///< elements
  data_type type = data_type::float32;
  reduction op = reduction::sum;
  double scalar = 1.0;  ///< this rank's factor for premultiplied_sum; converted to `type`
  operation_options options = {};
};

/// in[count] -> out[size * count]; rank r's input is block r. In place: send == receive + block.
struct all_gather_arguments {
  const void* send = nullptr;
  void* receive = nullptr;
  std::uint64_t count = 0;  ///< elements each rank contributes
  data_type type = data_type::float32;
  operation_options options = {};
};

/// in[size * count] -> out[count]; rank r gets block r of the reduction. In place: receive == send
/// + block.
struct reduce_scatter_arguments {
  const void* send = nullptr;
  void* receive = nullptr;
  std::uint64_t count = 0;  ///< elements each rank receives
  data_type type = data_type::float32;
  reduction op = reduction::sum;
  double scalar = 1.0;
  operation_options options = {};
};

/// The root's buffer[count] -> buffer[count] of every rank.
struct broadcast_arguments {
  void* buffer = nullptr;
  std::uint64_t count = 0;  ///< elements
  data_type type = data_type::float32;
  rank root{0};
  operation_options options = {};
};

/// buffer[count] -> the matching receive of `peer`. Sends and receives between two ranks match in
/// the order of their calls. `peer` may be the caller: its n-th send to itself matches its n-th
/// receive from itself and is done when that was called too; the bytes are copied, no lane is used.
struct send_arguments {
  const void* buffer = nullptr;
  std::uint64_t count = 0;  ///< elements; equal on both sides
  data_type type = data_type::float32;
  rank peer{0};
  operation_options options = {};
};

struct receive_arguments {
  void* buffer = nullptr;
  std::uint64_t count = 0;  ///< elements; equal on both sides
  data_type type = data_type::float32;
  rank peer{0};
  operation_options options = {};
};

/// in[count] of every rank -> out[count] at the root. `receive` counts at the root alone; elsewhere
/// it is ignored, may be null and is never written. In place at the root: send == receive.
struct reduce_arguments {
  const void* send = nullptr;
  void* receive = nullptr;
  std::uint64_t count = 0;  ///< elements; equal on all ranks
  data_type type = data_type::float32;
  reduction op = reduction::sum;
  double scalar = 1.0;  ///< this rank's factor for premultiplied_sum; converted to `type`
  rank root{0};         ///< who gets the result; equal on all ranks
  operation_options options = {};
};

/// in[count] of every rank -> out[size * count] at the root; rank r's input is block r. `receive`
/// counts at the root alone; elsewhere it is ignored, may be null and is never written. In place at
/// the root: send == receive + block.
struct gather_arguments {
  const void* send = nullptr;
  void* receive = nullptr;
  std::uint64_t count = 0;  ///< elements each rank contributes
  data_type type = data_type::float32;
  rank root{0};
  operation_options options = {};
};

/// in[size * count] at the root -> out[count] of every rank; rank r gets block r. `send` counts at
/// the root alone; elsewhere it is ignored, may be null and is never read. In place at the root:
/// receive == send + block.
struct scatter_arguments {
  const void* send = nullptr;
  void* receive = nullptr;
  std::uint64_t count = 0;  ///< elements each rank receives
  data_type type = data_type::float32;
  rank root{0};
  operation_options options = {};
};

/// in[size * count] -> out[size * count]; block p of the input goes to rank p, block p of the
/// output comes from it; the own block is copied. There is no in-place form: buffers that overlap
/// are bad_argument, because a block may arrive before the one that lies in its place was sent.
struct all_to_all_arguments {
  const void* send = nullptr;
  void* receive = nullptr;
  std::uint64_t count = 0;  ///< elements per pair of ranks
  data_type type = data_type::float32;
  operation_options options = {};
};

/// As all_to_all with a count and an offset per peer, all in elements: send_counts[p] elements from
/// send_offsets[p] of `send` go to rank p, receive_counts[p] elements from it land at
/// receive_offsets[p] of `receive`. Each list has an entry for every rank, read before the call
/// returns; the offset of a count of zero does not matter. `send` may be null if all send counts
/// are zero, `receive` if all receive counts are.
///
/// What one rank sends and the other expects must be equal for every pair, and so must be the type:
/// otherwise the operation ends with mismatch, naming the pair and both counts, and nothing is
/// written beyond a block. Every pair of ranks exchanges at least one message, so that this holds
/// where one of the two counts is zero. The communicator has failed then on all ranks; a rank whose
/// own part was done before gets the mismatch from its next call.
/// Errors: bad_argument if a list has not an entry for every rank, a block does not fit in memory,
///         blocks of `receive` overlap each other or a block of `send` (blocks of `send` may
///         overlap each other), or the counts of a rank for itself differ.
struct all_to_all_v_arguments {
  const void* send = nullptr;
  void* receive = nullptr;
  std::vector<std::uint64_t> send_counts, send_offsets, receive_counts, receive_offsets;
  data_type type = data_type::float32;
  operation_options options = {};
};

/// Members with the same colour form one new communicator, ordered by (key, old rank). No colour:
/// the member takes part in the call and gets no communicator.
///
/// `fault_tolerant`: the new communicators go on without members that end (see `epoch_members`).
/// Equal on all members; unset: as the one that is split.
struct split_arguments {
  std::optional<std::int32_t> colour;
  std::int32_t key = 0;
  std::optional<bool> fault_tolerant = std::nullopt;
  operation_options options = {};
};

/// What joining and connecting took of this process so far: start-up grows with nothing but the
/// peers it talks to. Counted for the endpoint, whatever communicator is asked.
struct start_up_report {
  std::uint64_t messages_sent = 0;  ///< of bootstrap, connecting included
  std::uint64_t messages_received = 0;
  std::uint64_t connections_accepted = 0;  ///< how many dialled this process: its fan-in
  std::uint64_t connections_dialled = 0;
};

/// Who is in a communicator in one of its epochs.
///
/// A fault-tolerant communicator (option `fault_tolerance.world`, `split_arguments`) moves to a new
/// epoch when a member ends, cannot be reached or comes in. Names are for ever: those who were
/// there from the start are named by their first rank, and whoever comes later gets a name of its
/// own. Members of an epoch are ranked in the order of their names.
///
/// - `all_reduce` does not care: it is done again among the members that are left, and either every
///   one of them gets bitwise the same result over the same `work::contributors`, or every one gets
///   the same error with its input intact. It waits for its turn: these run one after the other.
/// - Every other operation belongs to the epoch that the caller adopted last. When that is over it
///   ends in epoch_changed, and so do later calls, until `adopt_epoch`. So do windows.
/// - `rank`, `size` and `epoch` speak of the adopted epoch.
///
/// Source: docs/protocols/membership.md, docs/protocols/ftar.md.
struct epoch_members {
  troupe::epoch epoch;
  troupe::rank self;
  std::vector<std::uint32_t> names;  ///< by rank, ascending
  /// The first all_reduce that its members do together: those before are decided. A newcomer's
  /// first call is this one.
  operation_number first_operation{1};
};

/// A member's view of a communicator: asynchronous collectives among its ranks. All members make
/// the same calls in the same order; point-to-point calls are ordered per pair of ranks.
///
/// A call returns as soon as its operation is queued; the work is done when `work::wait` returns.
/// Errors of every call: bad_argument, queue_full, aborted, finalized, forked, not_available, or
/// the sticky error of a communicator that failed.
///
/// Thread: any. Calls from several threads are ordered by their arrival; the caller keeps that
/// order equal on all ranks. A destructor aborts what is left and does not wait for peers.
class communicator {
 public:
  virtual ~communicator() = default;

  virtual troupe::rank rank() const = 0;
  virtual std::uint32_t size() const = 0;
  virtual troupe::epoch epoch() const = 0;
  virtual communicator_id id() const = 0;
  virtual start_up_report start_up() const = 0;

  virtual outcome<work_handle> all_reduce(const all_reduce_arguments& arguments) = 0;
  virtual outcome<work_handle> all_gather(const all_gather_arguments& arguments) = 0;
  virtual outcome<work_handle> reduce_scatter(const reduce_scatter_arguments& arguments) = 0;
  virtual outcome<work_handle> broadcast(const broadcast_arguments& arguments) = 0;
  virtual outcome<work_handle> send(const send_arguments& arguments) = 0;
  virtual outcome<work_handle> receive(const receive_arguments& arguments) = 0;
  virtual outcome<work_handle> barrier(const operation_options& options = {}) = 0;
  virtual outcome<work_handle> reduce(const reduce_arguments& arguments) = 0;
  virtual outcome<work_handle> gather(const gather_arguments& arguments) = 0;
  virtual outcome<work_handle> scatter(const scatter_arguments& arguments) = 0;
  virtual outcome<work_handle> all_to_all(const all_to_all_arguments& arguments) = 0;
  virtual outcome<work_handle> all_to_all_v(const all_to_all_v_arguments& arguments) = 0;

  /// Collective: waits for all members, at most the operation timeout. Null for a member without
  /// colour. The new communicator shares connections and worker with this one.
  virtual outcome<std::unique_ptr<communicator>> split(const split_arguments& arguments) = 0;

  /// Collective: opens this member's memory to the others and learns theirs; waits as `split` does.
  virtual outcome<std::unique_ptr<window>> create_window(const window_arguments& arguments) = 0;

  /// Of the newest epoch, adopted or not.
  virtual epoch_members members() const = 0;

  /// Waits for an epoch above `after`, at most `limit`, and does not adopt it.
  /// Errors: timed_out; not_available if the communicator is not fault-tolerant; evicted, no_quorum
  ///         or whatever else this member is out for.
  virtual outcome<epoch_members> wait_epoch(troupe::epoch after, duration limit) = 0;

  /// Later calls belong to the newest epoch. Errors: those of `wait_epoch`, timed_out excepted.
  virtual outcome<epoch_members> adopt_epoch() = 0;

  /// Starts a view change that leaves these members out, by name, whether they answer or not: the
  /// caller's word is taken for proof that they do not decide anything any more, so it has to be
  /// true. `wait_epoch` tells when it is done. Errors: those of `adopt_epoch`.
  virtual outcome<void> reconfigure(const std::vector<std::uint32_t>& without) = 0;

  /// Lets one rank from outside in: its process gives the text to `join`, within a time that is the
  /// caller's business, and is a member from the next epoch on, which comes between two
  /// all_reduces. It also has to know the job's secret. Not while a member is left out that is not
  /// proven to have ended. Errors: those of `adopt_epoch`; not_available in a job that began with
  /// one rank.
  virtual outcome<std::string> invite() = 0;

  /// The time-out of later calls that have none of their own, instead of `collective.timeout`.
  /// Errors: bad_argument if it is not above 0.
  virtual outcome<void> set_timeout(duration timeout) = 0;

  /// Ends every outstanding and later operation with `aborted`, here and, as fast as the word
  /// spreads, on all members. Local, bounded in time, idempotent, legal from any thread.
  virtual void abort() = 0;

  /// Waits for outstanding operations, at most `limit`, then says good-bye: later calls return
  /// finalized. Errors: timed_out if operations were still running (they are aborted). Idempotent;
  /// legal after abort.
  virtual outcome<void> finalize(duration limit) = 0;

  /// What the endpoint holds now, for all its communicators together: they share links, lanes and
  /// pools. Any thread; does not wait for the worker.
  virtual memory_usage memory() const = 0;

  /// What the endpoint knows of itself now, for all its communicators together: operations that run
  /// and that ended, links, incidents. Any thread; never waits for the worker, so that it answers
  /// when everything is stuck. `diagnose` (`runtime/diagnosis.hpp`) reads those of all ranks.
  virtual rank_dump dump() const = 0;
};

/// Joins the job that the options and the environment describe and returns its world communicator.
/// Starts the endpoint (one worker thread) that all communicators split from it live on.
/// Errors: bad_configuration, unreachable, timed_out, authentication_failed, version_mismatch,
///         membership_conflict, resource_exhausted; the message names peer, address, phase, cause.
/// Thread: any. Waits at most `bootstrap.timeout`.
outcome<std::unique_ptr<communicator>> join(const communicator_options& options = {});

}  // namespace troupe
