#include "runtime/cli/launcher.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "runtime/cli/child_process.hpp"
#include "runtime/cli/exit_board.hpp"
#include "runtime/cli/exit_watch.hpp"
#include "runtime/cli/free_port.hpp"
#include "runtime/cli/rank_environment.hpp"
#include "runtime/cli/signal_channel.hpp"

namespace troupe::cli {
namespace {

/// How long the output of a rank that ended may be kept open by what it left behind. Chosen: long
/// enough for a `tee` to write its rest.
constexpr duration linger = std::chrono::seconds(2);

instant clock_now() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return instant(std::chrono::seconds(t.tv_sec) + duration(t.tv_nsec));
}

/// One rank: running, then lingering (its leader is a zombie, so that its group's number stays
/// ours), then gone.
struct supervised_rank {
  enum class state : std::uint8_t { running, lingering, gone };
  child_process child;
  state now = state::running;
  instant linger_deadline = never;

  descriptor& stream(output which) { return which == output::standard ? child.out : child.error; }
  bool silent() const { return !child.out && !child.error; }
};

/// What a launcher needs before the first rank starts.
struct job_tools {
  exit_watch watch;
  signal_channel signals;
  descriptor refusals;      ///< read end
  descriptor refusal_pipe;  ///< write end, for the children
  std::optional<rlimit> descriptor_limit;
  exit_board board;
  std::string emulation;  ///< directory of the emulated NIC, if it is wanted
};

class job_supervisor {
 public:
  job_supervisor(const launch_options& options, job_tools tools)
      : options_(options), tools_(std::move(tools)), relay_(options.rank_count, options.tags) {}

  outcome<void> start(const job_place& place);
  int run();

 private:
  child_plan plan_for(const job_place& place, std::uint32_t rank) const;
  void abandon();

  bool finished();
  void wait_for_events();
  int wait_limit_ms(instant now) const;
  void handle_signals();
  void handle_exits();
  void read_streams();
  void read_stream(std::uint32_t rank, output which);
  void drain(std::uint32_t rank);
  void close_stream(std::uint32_t rank, output which);
  void close_broken();
  void end_lingering(instant now);
  void release(std::uint32_t rank);
  void feed_machine(const job_event& event);
  void apply(const signal_ranks& effect);
  void apply(const report_line& effect) { relay_.say(effect.text); }
  void apply(const finish_job& effect);

  const launch_options& options_;
  job_tools tools_;
  output_relay relay_;
  std::vector<supervised_rank> ranks_;
  job_state job_;
  std::optional<int> exit_code_;
  instant output_deadline_ = never;  ///< for the reader of our output, once the job is over
  bool output_given_up_ = false;
  std::vector<pollfd> polled_;
};

child_plan job_supervisor::plan_for(const job_place& place, std::uint32_t rank) const {
  child_plan plan;
  plan.command = options_.command;
  const auto inherited = config::process_environment();
  auto own = rank_environment(place, rank);
  own.push_back({"TROUPE_FAULT_TOLERANCE_EXIT_BOARD", tools_.board.path()});
  if (options_.emulation.is_wanted) {
    const auto more =
        emulation_environment(options_.emulation, tools_.emulation, place, rank, inherited);
    own.insert(own.end(), more.begin(), more.end());
  }
  plan.environment = merge_environment(inherited, own);
  plan.rank = rank;
  plan.signal_mask = tools_.signals.previous_mask();
  plan.descriptor_limit = tools_.descriptor_limit;
  plan.refusal_pipe = tools_.refusal_pipe.number();
  if (rank != 0) return plan;
  // A group in the background that reads the terminal is stopped, so no rank gets it.
  plan.inherits_input = ::isatty(STDIN_FILENO) == 0;
  for (const int number : {STDERR_FILENO, STDOUT_FILENO}) {
    if (::isatty(number) == 0) continue;
    (number == STDOUT_FILENO ? plan.out : plan.error) = stream_kind::terminal;
    ::ioctl(number, TIOCGWINSZ, &plan.window);
  }
  const auto tag_columns = static_cast<unsigned short>(tag_of(options_.tags, 0).size() + 1);
  if (plan.window.ws_col > 2 * tag_columns)
    plan.window.ws_col = static_cast<unsigned short>(plan.window.ws_col - tag_columns);
  return plan;
}

outcome<void> job_supervisor::start(const job_place& place) {
  job_ = make_job(options_.rank_count, options_.limits, clock_now());
  for (std::uint32_t r = 0; r < options_.rank_count; ++r) {
    auto child = start_child(plan_for(place, r));
    auto watched = child ? tools_.watch.add(child->ended.number(), r) : fail(child.error());
    if (child) {
      ranks_.emplace_back();
      ranks_.back().child = std::move(*child);
    }
    if (!watched) {
      abandon();
      failure cause = watched.error();
      cause.message = "cannot start rank " + std::to_string(r) + " of " +
                      std::to_string(options_.rank_count) + ": " + cause.message;
      return fail(std::move(cause));
    }
  }
  tools_.refusal_pipe.close();
  return {};
}

/// Ends what was started of a job that cannot start as a whole.
void job_supervisor::abandon() {
  for (const supervised_rank& each : ranks_)
    ::kill(-each.child.pid, SIGKILL);
  for (const supervised_rank& each : ranks_) {
    siginfo_t gone{};
    ::waitid(P_PID, static_cast<id_t>(each.child.pid), &gone, WEXITED);
  }
}

int job_supervisor::run() {
  while (!finished()) {
    wait_for_events();
    handle_signals();
    read_streams();
    handle_exits();
    close_broken();
    end_lingering(clock_now());
    feed_machine(time_passed{});
    relay_.flush();
  }
  return *exit_code_;
}

bool job_supervisor::finished() {
  if (!exit_code_) return false;
  for (const supervised_rank& each : ranks_)
    if (each.now != supervised_rank::state::gone) return false;
  return relay_.drained() || output_given_up_ || clock_now() >= output_deadline_;
}

int job_supervisor::wait_limit_ms(instant now) const {
  instant next = std::min(job_.deadline, output_deadline_);
  for (const supervised_rank& each : ranks_)
    next = std::min(next, each.linger_deadline);
  if (next == never) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - now).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, INT_MAX));
}

void job_supervisor::wait_for_events() {
  polled_.clear();
  polled_.push_back({tools_.signals.number(), POLLIN, 0});
  polled_.push_back({tools_.watch.number(), POLLIN, 0});
  for (const output which : both_outputs) {
    const output_sink& sink = relay_.sink(which);
    if (!sink.drained()) polled_.push_back({sink.number(), POLLOUT, 0});
    if (!sink.has_room()) continue;  // what the reader does not take stays with the ranks
    for (supervised_rank& each : ranks_)
      if (each.stream(which)) polled_.push_back({each.stream(which).number(), POLLIN, 0});
  }
  ::poll(polled_.data(), polled_.size(), wait_limit_ms(clock_now()));
}

void job_supervisor::handle_signals() {
  for (const int number : tools_.signals.take()) {
    if (exit_code_ && number != SIGUSR1 && number != SIGUSR2)
      output_given_up_ = true;  // all ranks are gone; only the reader of our output is waited for
    feed_machine(signal_received{number});
  }
}

void job_supervisor::handle_exits() {
  const std::vector<std::uint32_t> ended = tools_.watch.take_ended();
  exec_refusal refusal{};  // written before the exit that was just seen, so it is here by now
  while (::read(tools_.refusals.number(), &refusal, sizeof refusal) == sizeof refusal)
    feed_machine(program_refused{rank{refusal.rank}, options_.command.front(), refusal.cause});
  for (const std::uint32_t r : ended) {
    supervised_rank& each = ranks_[r];
    siginfo_t info{};
    ::waitid(P_PID, static_cast<id_t>(each.child.pid), &info, WEXITED | WNOWAIT);
    tools_.watch.remove(each.child.ended.number());
    each.child.ended.close();
    tools_.board.note(r);
    each.now = supervised_rank::state::lingering;
    each.linger_deadline = saturating_add(clock_now(), linger);
    drain(r);  // its last words stand before the report of its end
    const bool exited = info.si_code == CLD_EXITED;
    feed_machine(rank_ended{rank{r},
                            each.child.pid,
                            {exited ? process_end::kind::exited : process_end::kind::killed,
                             info.si_status, info.si_code == CLD_DUMPED}});
  }
}

void job_supervisor::read_streams() {
  // The descriptors of the last poll in the order of its questions.
  std::size_t at = 2;
  for (const output which : both_outputs) {
    if (at < polled_.size() && polled_[at].fd == relay_.sink(which).number()) ++at;
    for (std::uint32_t r = 0; r < ranks_.size() && at < polled_.size(); ++r) {
      if (ranks_[r].stream(which).number() != polled_[at].fd || polled_[at].fd < 0) continue;
      if (polled_[at++].revents != 0 && relay_.sink(which).has_room()) read_stream(r, which);
    }
  }
}

void job_supervisor::read_stream(std::uint32_t rank, output which) {
  std::array<char, 64 * 1024> bytes;  // not cleared: read fills it
  const ssize_t count = ::read(ranks_[rank].stream(which).number(), bytes.data(), bytes.size());
  if (count > 0)
    relay_.feed(rank, which, {bytes.data(), static_cast<std::size_t>(count)});
  else if (count == 0 || (errno != EAGAIN && errno != EINTR))
    close_stream(rank, which);  // EIO: a pseudo terminal that nobody has open any more
}

/// Reads what a rank that ended has left in its pipes.
void job_supervisor::drain(std::uint32_t rank) {
  for (const output which : both_outputs) {
    descriptor& stream = ranks_[rank].stream(which);
    // Twice the capacity of a pipe: a child of the rank may write faster than we read.
    for (int i = 0; i < 32 && stream && relay_.sink(which).has_room(); ++i) {
      pollfd wanted{stream.number(), POLLIN, 0};
      if (::poll(&wanted, 1, 0) != 1) break;
      read_stream(rank, which);
      relay_.flush();
    }
  }
}

void job_supervisor::close_stream(std::uint32_t rank, output which) {
  descriptor& stream = ranks_[rank].stream(which);
  if (!stream) return;
  stream.close();
  relay_.finish(rank, which);
}

/// The reader of our output is gone: the ranks shall notice, as in any pipeline.
void job_supervisor::close_broken() {
  for (const output which : both_outputs) {
    if (!relay_.sink(which).broken()) continue;
    for (std::uint32_t r = 0; r < ranks_.size(); ++r)
      close_stream(r, which);
  }
}

void job_supervisor::end_lingering(instant now) {
  for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
    supervised_rank& each = ranks_[r];
    if (each.now != supervised_rank::state::lingering) continue;
    if (!each.silent() && now < each.linger_deadline && !output_given_up_) continue;
    drain(r);
    const bool held_up =
        !relay_.sink(output::standard).has_room() || !relay_.sink(output::error).has_room();
    if (!each.silent() && held_up && !output_given_up_ && now < output_deadline_)
      each.linger_deadline = saturating_add(now, linger);
    else
      release(r);
  }
}

/// Ends what a rank left in its process group, and the rank's zombie, which kept the number ours.
void job_supervisor::release(std::uint32_t rank) {
  supervised_rank& each = ranks_[rank];
  ::kill(-each.child.pid, SIGKILL);
  siginfo_t gone{};
  ::waitid(P_PID, static_cast<id_t>(each.child.pid), &gone, WEXITED);
  for (const output which : both_outputs)
    close_stream(rank, which);
  each.now = supervised_rank::state::gone;
  each.linger_deadline = never;
}

void job_supervisor::feed_machine(const job_event& event) {
  std::vector<job_effect> effects;
  step(job_, event, clock_now(), effects);
  for (const job_effect& effect : effects)
    std::visit([this](const auto& e) { apply(e); }, effect);
}

void job_supervisor::apply(const signal_ranks& effect) {
  for (const supervised_rank& each : ranks_)
    if (each.now == supervised_rank::state::running) ::kill(-each.child.pid, effect.number);
}

void job_supervisor::apply(const finish_job& effect) {
  exit_code_ = effect.exit_code;
  if (job_.timed_out || job_.ending_signal != 0)
    output_deadline_ = saturating_add(clock_now(), linger);
  for (supervised_rank& each : ranks_) {
    if (each.now != supervised_rank::state::running) continue;
    each.now = supervised_rank::state::gone;  // not even SIGKILL ended it; that was reported
  }
}

/// Descriptors of the launcher itself that are open at once, beside those of the ranks. Chosen
/// with room: standard streams, both ends of the refusal pipe, signals, exits, a channel in the
/// making, whatever was inherited.
constexpr std::uint64_t own_descriptor_count = 32;
constexpr std::uint64_t descriptors_per_rank = 3;  // standard output, standard error, pidfd

/// Makes room for the descriptors of the job; returns the limit to give back to the ranks if the
/// launcher's had to change.
outcome<std::optional<rlimit>> ensure_descriptors(std::uint32_t rank_count) {
  const std::uint64_t needed = own_descriptor_count + descriptors_per_rank * rank_count;
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur >= needed) return std::optional<rlimit>();
  rlimit raised = limit;
  raised.rlim_cur = std::min<rlim_t>(needed, limit.rlim_max);
  if (raised.rlim_cur < needed || ::setrlimit(RLIMIT_NOFILE, &raised) != 0)
    return fail(errc::resource_exhausted, std::to_string(rank_count) + " ranks need " +
                                              std::to_string(needed) +
                                              " file descriptors in the launcher, the limit is " +
                                              std::to_string(limit.rlim_max) +
                                              "; raise it (ulimit -Hn) or start fewer ranks");
  return std::optional<rlimit>(limit);
}

/// A pipe of a rank must not get a number below three: the rank's own streams go there.
void ensure_standard_streams() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(number, F_GETFD) >= 0) continue;
    const int opened = ::open("/dev/null", O_RDWR);  // takes the lowest free number: this one
    if (opened != number) ::close(opened);
  }
}

outcome<job_tools> make_tools(std::uint32_t rank_count, std::string emulation) {
  auto limit = ensure_descriptors(rank_count);
  if (!limit) return fail(limit.error());
  auto watch = exit_watch::open();
  if (!watch) return fail(watch.error());
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0)
    return fail(errc::resource_exhausted, std::string("pipe2: ") + std::strerror(errno));
  descriptor read_end(ends[0]);
  descriptor write_end(ends[1]);
  auto signals = signal_channel::open();
  if (!signals) return fail(signals.error());
  auto board = exit_board::open(rank_count);
  if (!board) return fail(board.error());
  return job_tools{
      std::move(*watch), std::move(*signals), std::move(read_end), std::move(write_end), *limit,
      std::move(*board), std::move(emulation)};
}

outcome<std::string> find_emulation(const emulation_request& request, std::uint32_t rank_count) {
  if (!request.is_wanted) return std::string();
  if (request.host_count > rank_count)
    return fail(errc::bad_argument, "--emulated-hosts " + std::to_string(request.host_count) +
                                        " is more than the " + std::to_string(rank_count) +
                                        " ranks that are spread over them");
  return find_emulation_directory();
}

outcome<job_place> make_place(const launch_options& options) {
  auto port = find_free_port(options.port);
  if (!port) return fail(port.error());
  // 256 bits for the key of an HMAC-SHA-256; 64 to tell jobs apart in logs.
  auto secret = random_text(32);
  if (!secret) return fail(secret.error());
  auto run_id = random_text(8);
  if (!run_id) return fail(run_id.error());
  return job_place{options.rank_count, options.host, *port, options.config_file, *secret, *run_id};
}

}  // namespace

outcome<int> launch(const launch_options& options) {
  if (options.command.empty())
    return fail(errc::bad_argument, "there is no program to launch; put it after --");
  if (options.rank_count == 0 || options.rank_count > launch_rank_count_max)
    return fail(errc::bad_argument, "-n " + std::to_string(options.rank_count) +
                                        " is out of range; allowed: 1 to " +
                                        std::to_string(launch_rank_count_max));
  ensure_standard_streams();
  auto place = make_place(options);
  if (!place) return fail(place.error());
  auto emulation = find_emulation(options.emulation, options.rank_count);
  if (!emulation) return fail(emulation.error());
  auto tools = make_tools(options.rank_count, *std::move(emulation));
  if (!tools) return fail(tools.error());
  job_supervisor supervisor(options, std::move(*tools));
  if (auto started = supervisor.start(*place); !started) return fail(started.error());
  return supervisor.run();
}

}  // namespace troupe::cli
