#include "runtime/cli/report_source.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <system_error>
#include <tuple>

#include "runtime/descriptor.hpp"
#include "runtime/rank_dump_json.hpp"

namespace troupe::cli {
namespace {

// A dump of 4,096 running and a million remembered operations has some 600 MB; this is four times
// what the default remembers.
constexpr std::size_t answer_bytes_max = 64u << 20;

constexpr std::string_view door_prefix = "@troupe.report.";

/// Takes digits off the front, and the dot behind them if there is one.
std::optional<std::uint32_t> take_number(std::string_view& text) {
  std::uint32_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  if (text.starts_with('.')) text.remove_prefix(1);
  return number;
}

std::string describe(const rank_door& door) {
  return "rank " + std::to_string(door.rank) + " (process " + std::to_string(door.process) + ")";
}

/// One conversation: connected and asked, and what came so far.
struct conversation {
  descriptor socket;
  std::string answer;
  std::string trouble;  ///< why there is no whole answer; empty while it may still come
  bool done = false;
};

conversation begin(const rank_door& door) {
  conversation out;
  out.socket = descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto size = std::min(door.name.size(), sizeof address.sun_path - 1);
  std::memcpy(address.sun_path + 1, door.name.data(), size);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + size);
  constexpr std::string_view request = "dump\n";
  if (::connect(out.socket.number(), reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
      ::send(out.socket.number(), request.data(), request.size(), MSG_NOSIGNAL) !=
          static_cast<ssize_t>(request.size())) {
    out.trouble = std::strerror(errno);
    out.done = true;
  }
  return out;
}

void receive(conversation& one) {
  std::array<char, 65536> part;
  const auto got = ::recv(one.socket.number(), part.data(), part.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got > 0) one.answer.append(part.data(), static_cast<std::size_t>(got));
  if (got < 0) one.trouble = std::strerror(errno);
  if (one.answer.size() > answer_bytes_max) one.trouble = "its answer does not end";
  one.done = got <= 0 || !one.trouble.empty();
}

bool is_number(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

outcome<void> read_file(const std::string& name, gathered_dumps& out) {
  std::ifstream file(name);
  if (!file) return fail(errc::bad_argument, name + ": " + std::strerror(errno));
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty()) continue;
    auto dump = parse_rank_dump(line);
    if (!dump)
      return fail(errc::bad_argument,
                  name + ":" + std::to_string(number) + ": " + dump.error().message);
    out.dumps.push_back(std::move(*dump));
  }
  return {};
}

outcome<void> read_directory(const std::string& name, gathered_dumps& out) {
  std::vector<std::string> files;
  std::error_code trouble;
  for (const auto& entry : std::filesystem::directory_iterator(name, trouble))
    if (entry.path().extension() == ".json") files.push_back(entry.path().string());
  if (trouble) return fail(errc::bad_argument, name + ": " + trouble.message());
  if (files.empty())
    return fail(errc::bad_argument, name + ": the directory holds no dump (*.json)");
  std::sort(files.begin(), files.end());
  for (const auto& file : files)
    if (auto read = read_file(file, out); !read) return read;
  return {};
}

outcome<void> keep_one_job(const std::string& wanted, gathered_dumps& out) {
  std::set<std::string> jobs;
  for (const auto& dump : out.dumps)
    jobs.insert(job_name(dump));
  if (wanted.empty() && jobs.size() > 1) {
    std::string names;
    for (const auto& job : jobs)
      names += (names.empty() ? "" : ", ") + job;
    return fail(errc::bad_argument, "the dumps are of " + std::to_string(jobs.size()) +
                                        " jobs; choose one with --job: " + names);
  }
  if (!wanted.empty()) {
    std::erase_if(out.dumps, [&](const auto& dump) { return job_name(dump) != wanted; });
    if (out.dumps.empty())
      return fail(errc::bad_argument, "--job " + wanted + ": no dump is of this job");
  }
  return {};
}

outcome<std::vector<rank_door>> doors_of(const std::set<std::uint32_t>& processes) {
  auto all = rank_doors_of_this_host();
  if (!all || processes.empty()) return all;
  std::erase_if(*all, [&](const auto& door) { return !processes.contains(door.process); });
  for (const auto process : processes) {
    const bool known = std::any_of(all->begin(), all->end(),
                                   [&](const auto& door) { return door.process == process; });
    if (!known)
      return fail(errc::bad_argument,
                  "process " + std::to_string(process) +
                      " is no rank of yours on this host that can be asked; trace.requests may be "
                      "off");
  }
  return all;
}

}  // namespace

std::vector<rank_door> find_rank_doors(std::string_view sockets, std::uint32_t user) {
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::string>> found;
  const std::string prefix = std::string(door_prefix) + std::to_string(user) + ".";
  for (std::size_t at = 0; (at = sockets.find(prefix, at)) != sockets.npos;) {
    const auto end = std::min(sockets.find('\n', at), sockets.size());
    const auto name = sockets.substr(at + 1, end - at - 1);
    at = end;
    auto rest = name.substr(prefix.size() - 1);
    const auto process = take_number(rest);
    const auto rank = process ? take_number(rest) : std::nullopt;
    if (rank && take_number(rest) && rest.empty())
      found.insert({*process, *rank, std::string(name)});
  }
  std::vector<rank_door> out;
  for (const auto& [process, rank, name] : found)
    out.push_back({process, rank, name});
  return out;
}

outcome<std::vector<rank_door>> rank_doors_of_this_host() {
  std::ifstream file("/proc/net/unix");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  if (text.empty())
    return fail(errc::system_failure,
                std::string("cannot read /proc/net/unix: ") + std::strerror(errno));
  return find_rank_doors(text, ::geteuid());
}

gathered_dumps ask_ranks(const std::vector<rank_door>& doors, duration limit) {
  using clock = std::chrono::steady_clock;
  const auto end = clock::now() + limit;
  std::vector<conversation> all;
  for (const auto& door : doors)
    all.push_back(begin(door));
  while (clock::now() < end) {
    std::vector<pollfd> waits;
    std::vector<std::size_t> who;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].done) continue;
      waits.push_back({all[i].socket.number(), POLLIN, 0});
      who.push_back(i);
    }
    if (waits.empty()) break;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - clock::now()).count();
    if (::poll(waits.data(), waits.size(), static_cast<int>(std::max<std::int64_t>(left, 0))) < 1)
      continue;
    for (std::size_t i = 0; i < waits.size(); ++i)
      if (waits[i].revents != 0) receive(all[who[i]]);
  }
  gathered_dumps out;
  for (std::size_t i = 0; i < doors.size(); ++i) {
    if (!all[i].done) {
      out.notes.push_back(describe(doors[i]) + " did not answer within " +
                          std::to_string(limit / std::chrono::milliseconds(1)) +
                          " ms: it is stopped, or its host has no time for it");
      continue;
    }
    auto dump = all[i].trouble.empty() ? parse_rank_dump(all[i].answer)
                                       : fail(errc::system_failure, all[i].trouble);
    if (dump)
      out.dumps.push_back(std::move(*dump));
    else
      out.notes.push_back(describe(doors[i]) + ": " + dump.error().message);
  }
  return out;
}

outcome<gathered_dumps> gather_dumps(const dump_request& request) {
  gathered_dumps out;
  std::set<std::uint32_t> processes;
  for (const auto& target : request.targets) {
    std::error_code ignored;
    std::string_view digits = target;
    outcome<void> read;
    if (std::filesystem::is_directory(target, ignored))
      read = read_directory(target, out);
    else if (std::filesystem::exists(target, ignored))
      read = read_file(target, out);
    else if (const auto number = is_number(target) ? take_number(digits) : std::nullopt)
      processes.insert(*number);
    else
      read = fail(errc::bad_argument,
                  target + ": neither a process number nor a file or directory of dumps");
    if (!read) return fail(read.error());
  }
  if (request.targets.empty() || !processes.empty()) {
    const auto doors = doors_of(processes);
    if (!doors) return fail(doors.error());
    if (doors->empty())
      return fail(
          errc::not_available,
          "no rank of yours on this host can be asked: none runs, or trace.requests is off");
    auto asked = ask_ranks(*doors, request.limit);
    std::move(asked.dumps.begin(), asked.dumps.end(), std::back_inserter(out.dumps));
    out.notes = std::move(asked.notes);
  }
  if (auto kept = keep_one_job(request.job, out); !kept) return fail(kept.error());
  return out;
}

std::string job_name(const rank_dump& dump) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(dump.job));
  return text;
}

}  // namespace troupe::cli
