#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "actors/reporter/dump_signal.hpp"
#include "actors/reporter/report_socket.hpp"
#include "config/trace_options.hpp"
#include "runtime/descriptor.hpp"
#include "runtime/rank_dump.hpp"
#include "runtime/result.hpp"

namespace troupe::actors {

/// Gives out the dumps of one endpoint, on a thread of its own that sleeps otherwise: so a dump can
/// be had whatever the worker and the trainer are stuck in. Answers requests, writes a file at the
/// signal and at a failure.
///
/// Files are named `troupe_rank_<rank>.json`; a newer one replaces an older one whole.
/// Thread: any; the destructor stops it.
class reporter {
 public:
  /// Takes a dump now, for this cause; called on the reporter's thread.
  using taker = std::function<rank_dump(const char* cause)>;

  /// Errors: bad_configuration if `trace.dump_directory` cannot be written.
  static outcome<std::unique_ptr<reporter>> open(const config::trace_options& options, rank self,
                                                 taker take);
  ~reporter();
  reporter(const reporter&) = delete;
  reporter& operator=(const reporter&) = delete;

  /// Something failed: a dump is written if `trace.dump_directory` says where. Any thread; wakes
  /// the reporter and returns.
  void note_failure();

  /// Answers and writes nothing any more; waits for a dump under way.
  void stop();

 private:
  reporter(const config::trace_options& options, rank self, taker take);

  void run();
  void write_file(const char* cause);

  const std::string directory_;
  const rank self_;
  const taker take_;
  descriptor signalled_;  ///< eventfd
  descriptor woken_;      ///< eventfd: a failure, or the end
  std::optional<report_socket> socket_;
  dump_signal signal_;
  std::atomic<bool> failed_{false};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace troupe::actors
