#include "runtime/cli/scenario_rank.hpp"

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <system_error>
#include <thread>

#include "runtime/cli/process_end.hpp"
#include "runtime/communicator.hpp"
#include "runtime/scenario/read_scenario.hpp"
#include "runtime/scenario/scenario_names.hpp"
#include "runtime/scenario/workload_caller.hpp"

namespace troupe::cli {
namespace {

/// Longest wait for operations of others when everybody leaves. Chosen: nothing runs any more, so
/// this is for machines that are slow.
constexpr duration leaving_limit = std::chrono::seconds(2);

std::uint64_t entries_of(const char* directory) {
  std::uint64_t count = 0;
  std::error_code problem;
  for (auto at = std::filesystem::directory_iterator(directory, problem);
       !problem && at != std::filesystem::directory_iterator(); at.increment(problem))
    ++count;
  return count;
}

void say(const std::string& line) {
  std::fputs((line + '\n').c_str(), stdout);
  std::fflush(stdout);
}

void say_footprint(const char* when, std::uint64_t memory) {
  say(std::string("footprint ") + when + ' ' + std::to_string(entries_of("/proc/self/fd")) + ' ' +
      std::to_string(entries_of("/proc/self/task")) + ' ' + std::to_string(memory));
}

std::string failure_text(const failure& why) {
  std::string text =
      std::to_string(static_cast<unsigned>(why.code())) + ' ' + std::to_string(why.what.peer.value);
  return text;
}

std::string names_text(const std::vector<std::uint32_t>& names) {
  std::string text;
  for (const std::uint32_t name : names)
    text += ' ' + std::to_string(name);
  return text;
}

class scenario_rank {
 public:
  explicit scenario_rank(const scenario::script& of)
      : of_(of), calls_(of.work, of.machines.ranks) {}

  void play() {
    say_footprint("before", 0);
    communicator_options options;
    options.settings = of_.settings;
    if (of_.lanes != scenario::process_lanes::automatic)
      options.settings.emplace_back("transport.lanes", std::string(to_string(of_.lanes)));
    auto joined = join(options);
    if (!joined) {
      say("join_failed " + failure_text(joined.error()) + ' ' + joined.error().message);
      wait_for_leave();
      return;
    }
    world_ = std::move(*joined);
    say("joined");
    do_steps();
    wait_for_leave();
    const auto now_in = world_->members();
    say("members " + std::to_string(now_in.epoch.value) + names_text(now_in.names));
    say("contributors" + names_text(contributors_));
    const std::uint64_t memory = world_->memory().total();
    // Whatever became of the communicator: peers may have left before.
    (void)world_->finalize(leaving_limit);
    world_.reset();
    wait_for_threads();
    say_footprint("after", memory);
  }

 private:
  void do_steps() {
    for (std::uint32_t step = 1;; ++step) {
      say("step " + std::to_string(step));
      if (!wait_for_begin() || !do_step(step)) return;
      if (step == 1) say("footprint first 0 0 " + std::to_string(world_->memory().total()));
    }
  }

  bool do_step(std::uint32_t step) {
    for (std::size_t i = 0; i < of_.work.operations.size(); ++i) {
      say("call");
      failure why;
      std::uint64_t wrong = 0;
      if (auto started = calls_.call(*world_, step, i); !started) {
        why = started.error();
      } else if (auto done = (*started)->wait(); !done) {
        why = done.error();
      } else {
        wrong = calls_.wrong_elements(**started);
        contributors_.clear();
        for (const rank one : (*started)->contributors())
          contributors_.push_back(one.value);
      }
      say("ended " + failure_text(why) + ' ' + std::to_string(wrong) + ' ' + why.message);
      if (why.code() != errc::ok) return false;
    }
    return true;
  }

  bool wait_for_begin() {
    std::string line;
    left_ = left_ || !std::getline(std::cin, line) || line == "leave";
    return !left_;
  }

  /// The kernel lists a thread for a moment after it was joined.
  void wait_for_threads() const {
    constexpr int looks_max = 100;
    for (int i = 0; i < looks_max && entries_of("/proc/self/task") > 1; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }

  void wait_for_leave() {
    std::string line;
    while (!left_)
      left_ = !std::getline(std::cin, line) || line == "leave";
  }

  const scenario::script& of_;
  scenario::workload_caller calls_;
  std::unique_ptr<communicator> world_;
  std::vector<std::uint32_t> contributors_;  ///< to the last result
  bool left_ = false;
};

}  // namespace

outcome<int> run_scenario_rank(const std::string& path) {
  const auto script = scenario::read_scenario_file(path);
  if (!script) return fail(script.error());
  scenario_rank(*script).play();
  return static_cast<int>(exit_code::success);
}

}  // namespace troupe::cli
