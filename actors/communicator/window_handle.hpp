#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "actors/communicator/communicator_handle.hpp"
#include "runtime/window.hpp"

namespace troupe::actors {

/// The trainer's end of a window.
///
/// Thread: any.
class window_handle final : public window {
 public:
  /// Opens this member's memory. The others are not known before `learn`.
  /// Errors: resource_exhausted, timed_out.
  static outcome<std::unique_ptr<window_handle>> open(communicator_handle& home,
                                                      std::uint32_t number,
                                                      const window_arguments& arguments);
  ~window_handle() override;

  const window_view::part& own_part() const { return own_; }

  /// Key and bytes of every member, in the order of ranks.
  void learn(std::span<const std::uint64_t> words);

  std::uint64_t bytes_of(rank member) const override;
  outcome<work_handle> put(const window_put_arguments& arguments) override;
  outcome<work_handle> get(const window_get_arguments& arguments) override;
  outcome<work_handle> wait_notifications(const notification_arguments& arguments) override;
  outcome<void> flush(duration limit) override;

 private:
  window_handle(communicator_handle& home, std::uint32_t number);

  template <class Arguments>
  outcome<work_handle> call(const Arguments& arguments);
  outcome<work_handle> remember(outcome<work_handle> work);
  window_view view() const { return {number_, parts_}; }

  communicator_handle& home_;
  const std::shared_ptr<const std::atomic<bool>> alive_;  ///< whether `home_` still is
  const std::uint32_t number_;
  const troupe::epoch epoch_;  ///< that it was created in
  window_view::part own_;
  std::vector<window_view::part> parts_;
  std::mutex guard_;
  std::vector<work_handle> open_;  ///< puts and gets that `flush` waits for
};

}  // namespace troupe::actors
