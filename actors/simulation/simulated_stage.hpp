#pragma once

#include <caf/scheduler/test_coordinator.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include "actors/communicator/communicator_handle.hpp"
#include "actors/endpoint/endpoint_context.hpp"
#include "actors/simulation/simulated_worker.hpp"
#include "config/options.hpp"
#include "net/fabric/fabric.hpp"
#include "runtime/random.hpp"

namespace troupe::actors {

/// How a simulated job is set up.
struct stage_options {
  std::uint32_t rank_count = 4;
  std::uint64_t seed = 1;
  config::options options;
  net::fabric_options fabric;  ///< its seed is replaced by `seed`
  /// Where a rank stands; none: each on a host of its own, nobody knows where.
  std::function<place(rank)> find_place = {};
};

/// A whole job in one thread under virtual time: the real actors of every rank on a simulated
/// network. Whatever may happen in any order happens in an order drawn from the seed: which actor
/// handles its next message, which endpoint is polled. The same options and the same program give
/// the same `trace_hash()`.
///
/// Thread: one.
class simulated_stage {
 public:
  explicit simulated_stage(const stage_options& options);
  ~simulated_stage();
  simulated_stage(const simulated_stage&) = delete;
  simulated_stage& operator=(const simulated_stage&) = delete;

  /// Every rank joins; goes on until all did or `limit` of virtual time passed.
  /// Errors: the failure of the first rank, by number, that could not join.
  outcome<void> join_all(duration limit);

  /// One rank begins to join. Once `join_answered`, `finish_join` says how it went and makes
  /// `world`.
  void begin_join(rank r);
  bool join_answered(rank r) const { return ranks_[to_index(r)]->joined->answered(); }
  outcome<void> finish_join(rank r);

  /// The world communicator of a rank that joined.
  communicator& world(rank r) { return *ranks_[to_index(r)]->world; }

  /// Makes a communicator of these world ranks, in this order, without the agreement that a split
  /// needs: one handle a member. `id` is new. Errors: timed_out, or that of the first member.
  outcome<std::vector<std::unique_ptr<communicator>>> make_communicator(
      communicator_id id, const std::vector<rank>& members, duration limit, bool tolerant = false);

  /// A process from outside begins to come in with an invitation: its endpoint has the number
  /// `size()` had before. Goes on until it is in, at most `limit`; then `world` has its
  /// communicator.
  outcome<void> add_newcomer(const std::string& invited, duration limit);

  /// Goes on until `done` or until `limit` of virtual time passed; true if `done`.
  bool run_until(const std::function<bool()>& done, duration limit);

  /// Lets happen whatever may happen now, until nothing is left or `interrupted` says so, which is
  /// asked before each thing. True if it did.
  bool run_moment(const std::function<bool()>& interrupted);

  /// Goes to the next moment at which something may happen, at most to `limit`. False if there is
  /// none before: then `now()` is `limit`.
  bool go_to_next_moment(instant limit);

  /// The rank does nothing until it is resumed; what is sent to it waits. What its actors have
  /// begun at this moment they still do.
  void pause(rank r);
  void resume(rank r);

  /// Somebody who is no rank connects to the rank and says these bytes.
  void visit(rank r, std::vector<std::byte> words);

  /// The rank's process ends without a word.
  void crash(rank r, net::crash_kind how = net::crash_kind::process);

  /// Every other rank hears from its launcher that the rank's process ended.
  void tell_end(rank r);

  net::fabric& wires() { return fabric_; }
  endpoint_context& context(rank r) { return *ranks_[to_index(r)]->context; }
  /// Of the rank's endpoint; may outlive the stage.
  std::shared_ptr<const memory_ledger> ledger(rank r) const { return ranks_[to_index(r)]->ledger; }
  memory_usage memory(rank r) const { return ranks_[to_index(r)]->ledger->usage(); }
  const worker_counters& counters(rank r) const { return ranks_[to_index(r)]->home->counters(); }
  instant now() const { return fabric_.now(); }
  std::uint32_t size() const { return static_cast<std::uint32_t>(ranks_.size()); }

  std::uint64_t messages_total() const;
  std::uint64_t trace_hash() const;

 private:
  class door;

  struct simulated_rank {
    explicit simulated_rank(const config::options& all)
        : options(all),
          works(std::make_shared<shared_slab>(ledger, memory_purpose::works,
                                              options.worker.control_bytes)),
          buffers(buffer_capacity, ledger->of(memory_purpose::endpoint)) {}
    static constexpr std::uint32_t buffer_capacity = 1u << 20;
    config::options options;
    std::shared_ptr<memory_ledger> ledger = std::make_shared<memory_ledger>();
    std::shared_ptr<shared_slab> works;
    buffer_table buffers;
    std::unique_ptr<simulated_worker> home;
    std::unique_ptr<lane_network> network;
    operation_counters counters;
    std::unique_ptr<endpoint_context> context;
    endpoint_actor actor;
    std::shared_ptr<door> way_in;
    ticket_handle<communicator_seat> joined;
    std::unique_ptr<communicator> world;
  };

  /// Somebody who has a network and no actors.
  struct stranger {
    buffer_table buffers{1};
    std::unique_ptr<lane_network> network;
    std::vector<std::byte> words;
    std::vector<std::unique_ptr<lane>> lanes;
  };

  void open(std::uint32_t number, endpoint_identity who);
  bool run_one(instant limit);
  bool run_ready();
  void poll(std::uint32_t number);
  void poll_stranger(stranger& one);
  void collect_ready();
  bool advance(instant limit);

  const stage_options options_;
  caf::actor_system_config config_;
  std::unique_ptr<caf::actor_system> system_;
  caf::scheduler::test_coordinator* coordinator_ = nullptr;
  net::fabric fabric_;
  random_stream choices_;
  std::uint64_t trace_ = 14695981039346656037ull;
  std::vector<std::unique_ptr<simulated_rank>> ranks_;
  std::vector<std::unique_ptr<stranger>> strangers_;  ///< endpoints behind the ranks

  std::vector<std::uint32_t> ready_;
  std::vector<bool> in_ready_;
  using deadline_entry = std::pair<instant, std::uint32_t>;
  std::priority_queue<deadline_entry, std::vector<deadline_entry>, std::greater<>> deadlines_;
  std::vector<instant> deadline_of_;
  std::vector<std::uint32_t> touched_;
};

}  // namespace troupe::actors
