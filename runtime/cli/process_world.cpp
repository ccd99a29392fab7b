#include "runtime/cli/process_world.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <sstream>

#include "config/quantity.hpp"
#include "runtime/cli/emulated_nic.hpp"
#include "runtime/cli/free_port.hpp"
#include "runtime/cli/process_end.hpp"
#include "runtime/scenario/process_faults.hpp"

namespace troupe::cli {
namespace {

using scenario::conduct_event;
using scenario::fault_kind;

/// How long ranks may take to leave once the run is over. Chosen: they wait two seconds for
/// operations that no longer run.
constexpr duration leaving_limit = std::chrono::seconds(10);

outcome<std::string> program_beside(const char* name) {
  std::error_code problem;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", problem);
  if (problem) return fail(errc::system_failure, "cannot find this program in /proc/self/exe");
  return name == nullptr ? own.string() : (own.parent_path() / name).string();
}

std::string percent_text(double share) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g%%", share * 100);
  return text.data();
}

std::string time_text(duration d) {
  return config::format_time_length(d.count());
}

/// What an emulated card is told for a fault; empty if it is no fault of cards.
std::string card_command(const scenario::fault& what) {
  switch (what.kind) {
    case fault_kind::loss: return "loss all " + percent_text(what.share);
    case fault_kind::duplicate: return "duplicate all " + percent_text(what.share);
    case fault_kind::delay: return "delay all " + time_text(what.by);
    case fault_kind::reorder: return "reorder all " + time_text(what.by);
    case fault_kind::nic_down: return "down emu" + std::to_string(what.nic);
    case fault_kind::lost_completion: return "lose_completions all " + std::to_string(what.next);
    case fault_kind::failed_registration:
      return "fail_registrations all " + std::to_string(what.next);
    default: return {};
  }
}

/// What ends it.
std::string card_relief(const scenario::fault& what) {
  switch (what.kind) {
    case fault_kind::loss: return "loss all 0%";
    case fault_kind::duplicate: return "duplicate all 0%";
    case fault_kind::delay: return "delay all 0ns";
    case fault_kind::reorder: return "reorder all 0ns";
    case fault_kind::nic_down: return "up emu" + std::to_string(what.nic);
    default: return {};
  }
}

/// Reads "CODE PEER" and leaves the rest in the stream.
failure read_failure(std::istringstream& words) {
  unsigned code = 0;
  failure out;
  words >> code >> out.what.peer.value;
  out.what.code = static_cast<errc>(code);
  return out;
}

std::vector<std::uint32_t> read_names(std::istringstream& words) {
  std::vector<std::uint32_t> names;
  for (std::uint32_t name = 0; words >> name;)
    names.push_back(name);
  return names;
}

std::string rest_of(std::istringstream& words) {
  std::string text;
  std::getline(words, text);
  return text.empty() ? text : text.substr(1);
}

}  // namespace

outcome<std::unique_ptr<process_world>> process_world::open(const scenario::script& of) {
  auto watch = exit_watch::open();
  if (!watch) return fail(watch.error());
  std::unique_ptr<process_world> world(new process_world(of, std::move(*watch)));
  if (auto started = world->start(); !started) return fail(started.error());
  return world;
}

outcome<void> process_world::start() {
  ::signal(SIGPIPE, SIG_IGN);  // a rank that is gone does not hear us
  const auto port = find_free_port(0);
  if (!port) return fail(port.error());
  const auto secret = random_text(32);
  if (!secret) return fail(secret.error());
  const auto run_id = random_text(8);
  if (!run_id) return fail(run_id.error());
  place_ = {of_.machines.ranks, "127.0.0.1", *port, "", *secret, *run_id};
  const auto program = program_beside(nullptr);
  if (!program) return fail(program.error());
  emulation_request cards;
  cards.is_wanted = of_.lanes == scenario::process_lanes::verbs;
  cards.host_count = of_.machines.ranks;
  const auto library = cards.is_wanted ? find_emulation_directory() : std::string();
  if (!library) return fail(library.error());
  const auto inherited = config::process_environment();
  members_.reserve(place_.rank_count);
  for (std::uint32_t r = 0; r < place_.rank_count; ++r) {
    child_plan plan;
    plan.command = {*program, "scenario", "rank", of_.file_name};
    auto own = rank_environment(place_, r);
    if (cards.is_wanted) {
      const auto more = emulation_environment(cards, *library, place_, r, inherited);
      own.insert(own.end(), more.begin(), more.end());
    }
    plan.environment = merge_environment(inherited, own);
    plan.rank = r;
    plan.takes_commands = true;
    ::sigemptyset(&plan.signal_mask);
    auto child = start_child(plan);
    if (!child) return fail(child.error());
    members_.emplace_back();
    members_.back().child = std::move(*child);
    if (auto watched = watch_.add(members_.back().child.ended.number(), r); !watched)
      return fail(watched.error());
  }
  return {};
}

process_world::~process_world() {
  end_all();
}

instant process_world::now() const {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return instant(std::chrono::seconds(t.tv_sec) + duration(t.tv_nsec));
}

// -- what happens ---------------------------------------------------------------------------------

void process_world::wait(instant until, std::vector<conduct_event>& out) {
  while (out.empty() && now() < until)
    poll_once(until, out);
}

void process_world::poll_once(instant until, std::vector<conduct_event>& out) {
  std::vector<pollfd> polled{{watch_.number(), POLLIN, 0}};
  for (const member& each : members_)
    for (const descriptor* stream : {&each.child.out, &each.child.error})
      if (*stream) polled.push_back({stream->number(), POLLIN, 0});
  const duration left = std::max(duration::zero(), until - now());
  const timespec limit{static_cast<time_t>(left / std::chrono::seconds(1)),
                       static_cast<long>((left % std::chrono::seconds(1)).count())};
  ::ppoll(polled.data(), polled.size(), until == never ? nullptr : &limit, nullptr);
  for (std::uint32_t r = 0; r < members_.size(); ++r) {
    read(r, out);
    relay_error(r);
  }
  take_ended(out);
}

void process_world::read(std::uint32_t r, std::vector<conduct_event>& out) {
  member& each = members_[r];
  std::array<char, 16 * 1024> bytes;
  while (each.child.out) {
    const ssize_t count = ::read(each.child.out.number(), bytes.data(), bytes.size());
    if (count < 0) break;  // nothing more for now
    if (count == 0) each.child.out.close();
    each.unread.append(bytes.data(), static_cast<std::size_t>(count));
  }
  for (auto end = each.unread.find('\n'); end != std::string::npos; end = each.unread.find('\n')) {
    hear(r, each.unread.substr(0, end), out);
    each.unread.erase(0, end + 1);
  }
}

void process_world::hear(std::uint32_t r, const std::string& line,
                         std::vector<conduct_event>& out) {
  std::istringstream words(line);
  std::string what;
  words >> what;
  if (what == "joined") {
    out.push_back(scenario::rank_joined{r});
  } else if (what == "join_failed") {
    auto why = read_failure(words);
    why.message = rest_of(words);
    out.push_back(scenario::join_failed{r, why});
  } else if (what == "step") {
    words >> members_[r].step;
    out.push_back(scenario::step_reached{r, members_[r].step});
  } else if (what == "call") {
    out.push_back(scenario::call_made{r});
  } else if (what == "ended") {
    auto why = read_failure(words);
    std::uint64_t wrong = 0;
    words >> wrong;
    why.message = rest_of(words);
    out.push_back(scenario::call_ended{r, why, wrong});
  } else if (what == "footprint") {
    hear_footprint(r, rest_of(words));
  } else if (what == "members") {
    words >> members_[r].epoch.emplace();
    members_[r].names = read_names(words);
  } else if (what == "contributors") {
    members_[r].contributors = read_names(words);
  }
}

void process_world::hear_footprint(std::uint32_t r, const std::string& text) {
  std::istringstream words(text);
  std::string when;
  scenario::footprint seen;
  words >> when >> seen.descriptors >> seen.threads >> seen.memory;
  member& each = members_[r];
  if (when == "first") {
    each.before.memory = seen.memory;
    return;
  }
  (when == "before" ? each.before : each.after) = seen;
  (when == "before" ? each.has_before : each.has_after) = true;
}

/// What a rank says on standard error is for people.
void process_world::relay_error(std::uint32_t r) {
  member& each = members_[r];
  std::array<char, 4096> bytes;
  while (each.child.error) {
    const ssize_t count = ::read(each.child.error.number(), bytes.data(), bytes.size());
    if (count < 0) break;
    if (count == 0) each.child.error.close();
    each.unread_error.append(bytes.data(), static_cast<std::size_t>(count));
  }
  for (auto end = each.unread_error.find('\n'); end != std::string::npos;
       end = each.unread_error.find('\n')) {
    std::fprintf(stderr, "%u: %s\n", r, each.unread_error.substr(0, end).c_str());
    each.unread_error.erase(0, end + 1);
  }
}

void process_world::take_ended(std::vector<conduct_event>& out) {
  for (const std::uint32_t r : watch_.take_ended()) {
    member& each = members_[r];
    read(r, out);  // its last words stand before its end
    relay_error(r);
    siginfo_t info{};
    ::waitid(P_PID, static_cast<id_t>(each.child.pid), &info, WEXITED);
    watch_.remove(each.child.ended.number());
    each.child.ended.close();
    each.ended = true;
    const bool exited = info.si_code == CLD_EXITED;
    const process_end end{exited ? process_end::kind::exited : process_end::kind::killed,
                          info.si_status, info.si_code == CLD_DUMPED};
    if (!end.good()) each.how = describe(end);
    out.push_back(scenario::process_ended{r, describe(end)});
  }
}

// -- what is done ---------------------------------------------------------------------------------

void process_world::tell(std::uint32_t r, const std::string& line) {
  const std::string text = line + '\n';
  // Shorter than a pipe: it goes whole, or the rank is gone.
  [[maybe_unused]] const auto written =
      ::write(members_[r].child.in.number(), text.data(), text.size());
}

void process_world::signal(std::uint32_t r, int number) {
  if (!members_[r].ended) ::kill(members_[r].child.pid, number);
}

void process_world::begin(std::uint32_t r, std::uint32_t step) {
  tell(r, "begin " + std::to_string(step));
}

void process_world::watch(std::uint32_t, const scenario::strike&) {}  // refused by `check_world`

outcome<void> process_world::limit_descriptors(std::uint32_t r) {
  rlimit limit{};
  const pid_t pid = members_[r].child.pid;
  if (::prlimit(pid, RLIMIT_NOFILE, nullptr, &limit) != 0)
    return fail(errc::system_failure, std::string("prlimit: ") + std::strerror(errno));
  members_[r].descriptor_limit = limit.rlim_cur;
  limit.rlim_cur = 0;  // no number is below it: nothing can be opened
  if (::prlimit(pid, RLIMIT_NOFILE, &limit, nullptr) != 0)
    return fail(errc::system_failure, std::string("prlimit: ") + std::strerror(errno));
  return {};
}

outcome<void> process_world::command_card(std::uint32_t r, const std::string& command) {
  const auto program = program_beside("troupe_nic");
  if (!program) return fail(program.error());
  std::vector<std::string> words{*program, "--job",           "job-" + place_.run_id,
                                 "--rank", std::to_string(r), command};
  std::vector<char*> arguments;
  for (std::string& each : words)
    arguments.push_back(each.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t quiet;
  ::posix_spawn_file_actions_init(&quiet);
  ::posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  const int refused = ::posix_spawn(&pid, arguments[0], &quiet, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&quiet);
  if (refused != 0) return fail(errc::system_failure, *program + ": " + std::strerror(refused));
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return fail(errc::not_available, "the emulated card of rank " + std::to_string(r) +
                                       " did not take \"" + command + '"');
}

outcome<void> process_world::strike_rank(std::uint32_t r, const scenario::fault& what) {
  switch (what.kind) {
    case fault_kind::kill: signal(r, SIGKILL); return {};
    case fault_kind::stop: signal(r, SIGSTOP); return {};
    case fault_kind::no_descriptors: return limit_descriptors(r);
    case fault_kind::garbage: return scenario::talk_garbage_to(members_[r].child.pid);
    default: return command_card(r, card_command(what));
  }
}

outcome<void> process_world::strike(std::uint32_t, const scenario::strike& what) {
  const scenario::fault& fault = of_.faults[what.fault];
  if (fault.kind == fault_kind::lane_down) {
    const auto cut = scenario::cut_connections(members_[what.targets[0]].child.pid,
                                               members_[what.targets[1]].child.pid, fault.lanes);
    if (!cut) return fail(cut.error());
    if (*cut == 0) return fail(errc::not_available, "there is no connection between the two");
    return {};
  }
  for (const std::uint32_t r : what.targets) {
    if (members_[r].ended) continue;
    if (auto done = strike_rank(r, fault); !done) return done;
  }
  return {};
}

void process_world::lift(std::uint32_t, const scenario::strike& what) {
  const scenario::fault& fault = of_.faults[what.fault];
  for (const std::uint32_t r : what.targets) {
    if (members_[r].ended) continue;
    if (fault.kind == fault_kind::stop) signal(r, SIGCONT);
    if (fault.kind == fault_kind::no_descriptors) {
      const pid_t pid = members_[r].child.pid;
      rlimit limit{};
      ::prlimit(pid, RLIMIT_NOFILE, nullptr, &limit);
      limit.rlim_cur = members_[r].descriptor_limit;
      ::prlimit(pid, RLIMIT_NOFILE, &limit, nullptr);
    }
    // A card that does not answer any more has no fault to be ended.
    if (const auto relief = card_relief(fault); !relief.empty()) (void)command_card(r, relief);
  }
}

// -- the end --------------------------------------------------------------------------------------

bool process_world::all_ended() const {
  return std::all_of(members_.begin(), members_.end(),
                     [](const member& each) { return each.ended; });
}

void process_world::close(scenario::run_record& record) {
  for (std::uint32_t r = 0; r < members_.size(); ++r) {
    const auto& outcome = record.ranks[r].outcome;
    const bool leaves = outcome && outcome->what == scenario::rank_outcome::kind::failed;
    if (leaves && !members_[r].ended)
      tell(r, "leave");
    else
      signal(r, SIGKILL);  // it is stopped or stuck, and the record says so
    if (!leaves) record.ranks[r].killed = true;
  }
  std::vector<conduct_event> unheard;
  const instant until = saturating_add(now(), leaving_limit);
  while (!all_ended() && now() < until)
    poll_once(until, unheard);
  for (std::uint32_t r = 0; r < members_.size(); ++r) {
    const member& each = members_[r];
    scenario::rank_record& mine = record.ranks[r];
    if (!mine.killed && !each.ended) mine.crash = "it did not leave";
    if (!mine.killed && !each.how.empty()) mine.crash = each.how;
    if (each.has_before) mine.before = each.before;
    if (each.has_after) mine.after = each.after;
    mine.epoch = each.epoch;
    mine.members = each.names;
    mine.contributors = each.contributors;
  }
  end_all();
}

void process_world::end_all() {
  for (member& each : members_) {
    if (each.ended) continue;
    ::kill(-each.child.pid, SIGKILL);
    siginfo_t gone{};
    ::waitid(P_PID, static_cast<id_t>(each.child.pid), &gone, WEXITED);
    each.ended = true;
  }
}

}  // namespace troupe::cli
