#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/byte_mover/byte_mover.hpp"
#include "actors/collective/collective_messages.hpp"
#include "actors/endpoint/endpoint_context.hpp"
#include "collectives/collective_machine.hpp"
#include "collectives/reduction/combine_bytes.hpp"

namespace troupe::actors {

/// Runs one operation at a time: the shell around a `collectives::collective_state`. Idle runners
/// wait in their rank for the next operation, so a steady state spawns none.
///
/// Messages handled: 1 `collective_start` an operation, 1 `transfer_ended` a put and a accept, 1
/// `bytes_moved` a copy or reduction above `byte_mover::inline_bytes_max`.
/// Messages sent: 1 `collective_ended`, 1 `put_request` a put, 1 `accept_request` an accept, or 1
/// `exchange_request` for both.
class collective_actor_state : public byte_job_owner {
 public:
  collective_actor_state() {}

  static inline const char* name = "troupe.collective";

  collective_actor::behavior_type make_behavior();
  void init(collective_actor::pointer self, endpoint_context& context);
  ~collective_actor_state() override;

 private:
  void start(operation_slot slot);
  void adopt(operation_slot slot);
  void drive(const collectives::collective_event& event);
  void apply(const collectives::collective_effect& effect);

  bool exchange(const collectives::collective_effect& one,
                const collectives::collective_effect& other);
  put_request begin(const collectives::put& effect);
  accept_request begin(const collectives::accept& effect);
  void apply_one(const collectives::put& effect);
  void apply_one(const collectives::accept& effect);
  void apply_one(const collectives::combine& effect);
  void apply_one(const collectives::copy& effect);
  void apply_one(const collectives::finish& effect);

  void put_to_self(const put_request& request);
  void accept_from_self(const accept_request& request);
  void fetch_from(rank peer, const accept_request& request);
  void await_notifications(rank peer);
  void touch(rank peer);
  void on_transfer(const transfer_ended& message);
  void on_bytes_moved(std::uint32_t token) override;
  void stop(std::shared_ptr<const failure> why);
  void on_cancelled(rank peer);
  void end_if_quiet();
  void end(std::shared_ptr<const failure> why);
  void end_attempt(promise_ended how);
  void restore(operation_slot slot);

  result<void> open_buffers(const operation_request& request, const collectives::plan& planned,
                            collectives::collective_buffers& out);
  result<void> open_staging(const collectives::plan& planned, collectives::collective_buffers& out);
  void close_buffers();
  void move(const byte_job& job);
  void forget_moved();
  void begin_transfer(rank peer, std::uint32_t step, bool is_put);
  void note_waits();
  failure transfer_failure(const transfer_ended& message) const;
  transfer_id id_of(std::uint32_t step) const;
  operation_entry& entry();

  collective_actor::pointer self_ = nullptr;
  endpoint_context* context_ = nullptr;
  operation_slot slot_;
  bool running_ = false;
  std::optional<collectives::collective_state> state_;
  collectives::combine_rule rule_;
  collectives::collective_effects effects_;
  /// Tokens of inline byte work, driven after the effects; those before `next_moved_` were.
  std::vector<std::uint32_t> moved_;
  std::size_t next_moved_ = 0;
  bool driving_ = false;
  bool restoring_ = false;
  bool complete_ = false;        ///< stopping: it held the whole result of a promised operation
  std::uint32_t byte_jobs_ = 0;  ///< given to the mover and not done

  std::vector<rank> touched_;     ///< world ranks whose links know this operation
  std::vector<rank> cancelling_;  ///< of those, the ones that still have to forget it
  std::shared_ptr<const failure> stopping_;
};

/// Spawns an idle runner.
collective_actor spawn_collective(endpoint_context& context);

}  // namespace troupe::actors
