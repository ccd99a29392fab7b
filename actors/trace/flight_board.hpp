#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "actors/rank/membership.hpp"
#include "runtime/error.hpp"
#include "runtime/rank_dump.hpp"

namespace troupe::actors {

/// How far one communicator is, as its rank actor says it. Shared with the handle, which counts its
/// calls in it, and with the board; whoever goes last frees it.
///
/// Thread: the worker writes, but for `outstanding`; any thread reads.
struct communicator_progress {
  communicator_progress(communicator_id which, rank member, std::shared_ptr<const membership> all)
      : id(which), self(member), members(std::move(all)) {}

  const communicator_id id;
  const rank self;                                  ///< in the first epoch
  const std::shared_ptr<const membership> members;  ///< of the first epoch

  std::atomic<std::uint32_t> outstanding{0};  ///< called by the trainer and not done

  void called(operation_number number, bool is_collective, instant now);
  void started(operation_number number);
  void ended(operation_number number, bool is_collective, instant now);
  /// Numbers of operations begin anew.
  void set_epoch(epoch now);
  void set_finalized() { finalized_.store(true, std::memory_order_relaxed); }

  /// All but members and failure.
  communicator_report report() const;

 private:
  std::atomic<std::uint32_t> epoch_{0};
  std::atomic<std::uint64_t> last_called_{0};
  std::atomic<std::uint64_t> last_started_{0};
  std::atomic<std::uint64_t> last_ended_{0};
  std::atomic<std::int64_t> last_call_ns_{0};
  std::atomic<std::int64_t> last_progress_ns_{0};
  std::atomic<bool> finalized_{false};
};

/// What an endpoint knows of itself beside its operations: phase, communicators, links, and the
/// incidents that explain a failure. Written rarely, never on the path of an operation.
///
/// Bound:  one entry a communicator and a link; `incident_count` incidents, the newest stay.
/// Thread: any. A reader waits at most `patience` for a writer that lost its processor.
class flight_board {
 public:
  static constexpr std::size_t incident_count = 64;
  static constexpr std::size_t incident_text_bytes_max = 400;

  void set_phase(endpoint_phase phase) { phase_.store(phase, std::memory_order_release); }
  endpoint_phase phase() const { return phase_.load(std::memory_order_acquire); }

  void note_joining(std::string detail);
  void add(std::shared_ptr<const communicator_progress> one);
  /// The communicator went on to an epoch with these members: what failed before is over.
  void enter(communicator_id id, rank self, std::shared_ptr<const membership> members);
  void remove(communicator_id id);
  /// The communicator failed for good. The first failure counts.
  void note_failure(communicator_id id, const failure& why, instant now);
  void note(const link_report& one);
  void forget_link(rank peer);
  void note(incident one);

  /// Fills phase, communicators, links and incidents; false if a writer was in the way all along.
  bool read(rank_dump& out) const;

 private:
  static constexpr std::chrono::milliseconds patience{50};

  struct known_communicator {
    std::shared_ptr<const communicator_progress> progress;
    rank self;
    std::shared_ptr<const membership> members;
    failure why;
  };

  void add_incident(incident one);

  std::atomic<endpoint_phase> phase_{endpoint_phase::starting};
  mutable std::timed_mutex mutex_;
  std::string joining_detail_;
  std::map<std::uint32_t, known_communicator> communicators_;
  std::map<std::uint32_t, link_report> links_;
  std::vector<incident> incidents_;  ///< a ring once full
  std::size_t oldest_incident_ = 0;
};

}  // namespace troupe::actors
