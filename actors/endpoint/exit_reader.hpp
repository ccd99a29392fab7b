#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actors/worker/poller.hpp"
#include "runtime/result.hpp"
#include "runtime/strong_types.hpp"

namespace troupe::actors {

/// Reads the board on which whoever started the ranks notes which of them ended (option
/// `fault_tolerance.exit_board`), and tells of each once. A look costs a scan of one byte a rank,
/// at most once in `pause`; it wakes the worker for a look only while somebody is missing.
///
/// Thread: the worker only.
class exit_reader final : public poller {
 public:
  static constexpr duration pause = std::chrono::milliseconds(1);

  /// How long a missing rank is looked for. Chosen: a launcher hears of an exit within
  /// milliseconds; later ones are seen whenever the worker is awake.
  static constexpr duration search = std::chrono::milliseconds(500);

  /// Errors: bad_configuration (the file cannot be read or has fewer bytes than there are ranks).
  static outcome<std::unique_ptr<exit_reader>> open(const std::string& path,
                                                    std::uint32_t rank_count,
                                                    std::function<void(rank)> tell);
  ~exit_reader() override;
  exit_reader(const exit_reader&) = delete;
  exit_reader& operator=(const exit_reader&) = delete;

  /// Somebody cannot be reached: look often for a while.
  void look_for_missing(instant now);

  bool poll(instant now) override;
  instant next_deadline() const override { return next_search_; }

 private:
  exit_reader(const volatile std::byte* board, std::uint32_t rank_count,
              std::function<void(rank)> tell)
      : board_(board), told_(rank_count, false), tell_(std::move(tell)) {}

  const volatile std::byte* board_;
  std::vector<bool> told_;
  std::function<void(rank)> tell_;
  instant last_look_ = instant::min();
  instant search_until_ = instant::min();
  instant next_search_ = never;
};

}  // namespace troupe::actors
