#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>

#include "actors/communicator/endpoint_door.hpp"
#include "actors/communicator/operation_check.hpp"
#include "actors/work/work_state.hpp"
#include "runtime/communicator.hpp"
#include "runtime/group.hpp"

namespace troupe::actors {

/// The trainer's end of a communicator: checks arguments, counts what is outstanding, and sends
/// one message an operation to the rank actor.
///
/// Thread: any.
class communicator_handle final : public communicator {
 public:
  /// `door` is shared by all communicators of an endpoint; the last one closes the endpoint.
  communicator_handle(std::shared_ptr<endpoint_door> door, communicator_seat seat);
  ~communicator_handle() override;

  troupe::rank rank() const override { return adopted()->self; }
  std::uint32_t size() const override { return adopted()->members->size(); }
  troupe::epoch epoch() const override { return adopted()->epoch; }
  communicator_id id() const override { return seat_.id; }
  start_up_report start_up() const override;

  outcome<work_handle> all_reduce(const all_reduce_arguments& arguments) override;
  outcome<work_handle> all_gather(const all_gather_arguments& arguments) override;
  outcome<work_handle> reduce_scatter(const reduce_scatter_arguments& arguments) override;
  outcome<work_handle> broadcast(const broadcast_arguments& arguments) override;
  outcome<work_handle> send(const send_arguments& arguments) override;
  outcome<work_handle> receive(const receive_arguments& arguments) override;
  outcome<work_handle> barrier(const operation_options& options) override;
  outcome<work_handle> reduce(const reduce_arguments& arguments) override;
  outcome<work_handle> gather(const gather_arguments& arguments) override;
  outcome<work_handle> scatter(const scatter_arguments& arguments) override;
  outcome<work_handle> all_to_all(const all_to_all_arguments& arguments) override;
  outcome<work_handle> all_to_all_v(const all_to_all_v_arguments& arguments) override;
  outcome<std::unique_ptr<communicator>> split(const split_arguments& arguments) override;
  outcome<std::unique_ptr<window>> create_window(const window_arguments& arguments) override;
  epoch_members members() const override;
  outcome<epoch_members> wait_epoch(troupe::epoch after, duration limit) override;
  outcome<epoch_members> adopt_epoch() override;
  outcome<void> reconfigure(const std::vector<std::uint32_t>& without) override;
  outcome<std::string> invite() override;
  outcome<void> set_timeout(duration timeout) override;
  void abort() override;
  outcome<void> finalize(duration limit) override;
  memory_usage memory() const override { return door_->ledger().usage(); }
  rank_dump dump() const override { return door_->dump(); }

  // For windows, which live no longer than their communicator.

  check_context context() const;
  const communicator_seat& seat() const { return seat_; }
  std::shared_ptr<const seated_epoch> adopted() const;
  endpoint_door& door() { return *door_; }
  std::shared_ptr<const std::atomic<bool>> alive() const { return alive_; }

  /// Launches a checked call, or makes it part of its group.
  outcome<work_handle> call(outcome<operation_request> checked, const operation_options& options);

 private:
  template <class Arguments>
  outcome<work_handle> call(const Arguments& arguments);
  /// Runs an operation to its end, at most its timeout.
  outcome<void> run(outcome<operation_request> request);
  outcome<void> gather_words(std::span<const std::uint64_t> mine, std::span<std::uint64_t> all,
                             const operation_options& options);
  outcome<std::shared_ptr<work_state>> make_work(outcome<operation_request> request);
  outcome<work_handle> launch(std::shared_ptr<work_state> work);
  outcome<void> check_usable() const;
  outcome<void> check_tolerant() const;
  void wait_until_quiet(duration limit);
  outcome<std::unique_ptr<communicator>> make_part(const split_arguments& arguments,
                                                   const seated_epoch& in,
                                                   const std::vector<std::uint32_t>& answers);

  std::shared_ptr<endpoint_door> door_;
  communicator_seat seat_;
  mutable std::mutex adopted_guard_;  ///< not taken unless the communicator is fault-tolerant
  std::shared_ptr<const seated_epoch> adopted_;
  std::atomic<duration::rep> timeout_;
  std::shared_ptr<std::atomic<std::uint32_t>> outstanding_;
  // Shared with the works, which may outlive this handle.
  std::shared_ptr<const work_state::driver> drive_;
  // Shared with operations of groups, which may outlive this handle.
  std::shared_ptr<std::atomic<bool>> alive_ = std::make_shared<std::atomic<bool>>(true);
  std::atomic<bool> aborted_{false};
  std::atomic<bool> finalized_{false};
  std::atomic<std::uint32_t> windows_created_{0};
};

}  // namespace troupe::actors
