#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/cli/child_process.hpp"
#include "runtime/cli/exit_watch.hpp"
#include "runtime/cli/rank_environment.hpp"
#include "runtime/result.hpp"
#include "runtime/scenario/world.hpp"

namespace troupe::cli {

/// The world of a scenario in which every rank is a process of this host and faults are real:
/// signals, sockets that are shut, limits that are lowered, commands to emulated cards. The ranks
/// are this same program (`run_scenario_rank`).
///
/// When it goes no rank runs any more.
/// Thread: the process's only one.
class process_world final : public scenario::world {
 public:
  /// Starts all ranks. Errors: those of starting processes; not_available where emulated cards are
  /// wanted and were not built.
  static outcome<std::unique_ptr<process_world>> open(const scenario::script& of);
  ~process_world() override;

  instant now() const override;
  void wait(instant until, std::vector<scenario::conduct_event>& out) override;
  void begin(std::uint32_t rank, std::uint32_t step) override;
  outcome<void> strike(std::uint32_t number, const scenario::strike& what) override;
  void lift(std::uint32_t number, const scenario::strike& what) override;
  void watch(std::uint32_t number, const scenario::strike& what) override;
  void close(scenario::run_record& record) override;

 private:
  struct member {
    child_process child;
    std::string unread;  ///< of its standard output, up to a line's end
    std::string unread_error;
    bool ended = false;
    std::string how;                     ///< it ended, if not with exit code 0
    std::uint32_t step = 0;              ///< that it asked for last
    std::uint64_t descriptor_limit = 0;  ///< before a fault lowered it
    scenario::footprint before;
    scenario::footprint after;
    bool has_before = false;
    bool has_after = false;
    std::optional<std::uint32_t> epoch;  ///< that it was in when it left
    std::vector<std::uint32_t> names;
    std::vector<std::uint32_t> contributors;
  };

  explicit process_world(const scenario::script& of, exit_watch watch)
      : of_(of), watch_(std::move(watch)) {}
  outcome<void> start();
  void poll_once(instant until, std::vector<scenario::conduct_event>& out);
  void read(std::uint32_t r, std::vector<scenario::conduct_event>& out);
  void hear(std::uint32_t r, const std::string& line, std::vector<scenario::conduct_event>& out);
  void hear_footprint(std::uint32_t r, const std::string& words);
  void relay_error(std::uint32_t r);
  void take_ended(std::vector<scenario::conduct_event>& out);
  void tell(std::uint32_t r, const std::string& line);
  void signal(std::uint32_t r, int number);
  outcome<void> limit_descriptors(std::uint32_t r);
  outcome<void> command_card(std::uint32_t r, const std::string& command);
  outcome<void> strike_rank(std::uint32_t r, const scenario::fault& what);
  void end_all();
  bool all_ended() const;

  const scenario::script& of_;
  exit_watch watch_;
  job_place place_;
  std::vector<member> members_;
};

}  // namespace troupe::cli
