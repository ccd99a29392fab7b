#include "actors/reporter/reporter.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>

#include "runtime/rank_dump_json.hpp"

namespace troupe::actors {

namespace {

void raise(const descriptor& event) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(event.number(), &one, sizeof one);
}

bool take(const descriptor& event) {
  std::uint64_t count = 0;
  return ::read(event.number(), &count, sizeof count) == sizeof count;
}

/// Signals of the program go to its own threads.
class blocked_signals {
 public:
  blocked_signals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~blocked_signals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  blocked_signals(const blocked_signals&) = delete;
  blocked_signals& operator=(const blocked_signals&) = delete;

 private:
  sigset_t before_{};
};

bool write_whole(const std::string& name, const std::string& text) {
  const std::string draft = name + ".part";
  std::FILE* const file = std::fopen(draft.c_str(), "we");
  if (file == nullptr) return false;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = std::fclose(file) == 0;
  return written && closed && std::rename(draft.c_str(), name.c_str()) == 0;
}

}  // namespace

outcome<std::unique_ptr<reporter>> reporter::open(const config::trace_options& options, rank self,
                                                  taker take) {
  const auto& directory = options.dump_directory;
  if (!directory.empty() && ::access(directory.c_str(), W_OK | X_OK) != 0)
    return fail(errc::bad_configuration, "trace.dump_directory = \"" + directory +
                                             "\": " + std::strerror(errno) +
                                             "; name a directory that exists and can be written");
  std::unique_ptr<reporter> made(new reporter(options, self, std::move(take)));
  auto signal = dump_signal::listen(options.dump_signal, made->signalled_.number());
  if (!signal) return fail(signal.error());
  made->signal_ = std::move(*signal);
  if (options.requests == "on") {
    auto socket = report_socket::open(self);
    // A rank that cannot be asked still works; whoever asks would look for the reason here.
    if (socket)
      made->socket_.emplace(std::move(*socket));
    else
      std::fprintf(stderr, "troupe: rank %u cannot be asked for dumps: %s\n", self.value,
                   socket.error().message.c_str());
  }
  const blocked_signals guard;
  made->thread_ = std::thread([r = made.get()] { r->run(); });
  return made;
}

reporter::reporter(const config::trace_options& options, rank self, taker take)
    : directory_(options.dump_directory),
      self_(self),
      take_(std::move(take)),
      signalled_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      woken_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

reporter::~reporter() {
  stop();
}

void reporter::stop() {
  stopping_.store(true);
  raise(woken_);
  if (thread_.joinable()) thread_.join();
}

void reporter::note_failure() {
  failed_.store(true);
  raise(woken_);
}

void reporter::run() {
  ::prctl(PR_SET_NAME, "troupe.reporter");
  while (!stopping_.load()) {
    std::array<pollfd, 3> waits{{{woken_.number(), POLLIN, 0},
                                 {signalled_.number(), POLLIN, 0},
                                 {socket_ ? socket_->wait_descriptor() : -1, POLLIN, 0}}};
    if (::poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) return;
    take(woken_);
    if (take(signalled_)) write_file("signal");
    if (failed_.exchange(false) && !directory_.empty()) write_file("failure");
    if ((waits[2].revents & POLLIN) != 0)
      socket_->serve([this] { return to_json(take_("request")); });
  }
}

void reporter::write_file(const char* cause) {
  const std::string name = (directory_.empty() ? std::string(".") : directory_) + "/troupe_rank_" +
                           std::to_string(self_.value) + ".json";
  if (write_whole(name, to_json(take_(cause)) + '\n')) {
    std::fprintf(stderr, "troupe: rank %u wrote a dump (%s): %s\n", self_.value, cause,
                 name.c_str());
    return;
  }
  std::fprintf(stderr, "troupe: rank %u cannot write the dump %s: %s\n", self_.value, name.c_str(),
               std::strerror(errno));
}

}  // namespace troupe::actors
