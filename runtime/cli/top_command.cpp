#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cctype>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include "runtime/cli/report_source.hpp"
#include "runtime/cli/sub_command.hpp"
#include "runtime/cli/top_table.hpp"

namespace troupe::cli {
namespace {

constexpr const char* top_footer =
    "Keys: r, o, p and w sort by rank, by the oldest operation in flight, by "
    "operations a second\n"
    "(fewest first) and by the time spent waiting for peers (least first: whom "
    "the others wait\n"
    "for); / and a text keep ranks that contain it, / alone all; q ends.\n"
    "\n"
    "Examples:\n"
    "  troupe top\n"
    "  troupe top --once --json";

constexpr const char* clear_screen = "\x1b[H\x1b[2J";

// Lines above and below the table.
constexpr std::size_t frame_lines = 5;

struct top_words {
  dump_request from;
  bool once = false;
  bool as_json = false;
  duration interval = std::chrono::seconds(1);
};

struct screen_size {
  std::size_t lines = 40;
  std::size_t columns = 160;
};

screen_size size_of_screen() {
  winsize known{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &known) != 0 || known.ws_row == 0) return {};
  return {known.ws_row, known.ws_col};
}

/// Keys come at once and are not shown, while it lives.
class raw_terminal {
 public:
  raw_terminal() {
    if (::tcgetattr(STDIN_FILENO, &before_) != 0) return;
    auto raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    is_raw_ = ::tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
  }
  ~raw_terminal() {
    if (is_raw_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  raw_terminal(const raw_terminal&) = delete;
  raw_terminal& operator=(const raw_terminal&) = delete;

  bool is_raw() const { return is_raw_; }

 private:
  termios before_{};
  bool is_raw_ = false;
};

/// What keys have chosen.
struct top_view {
  top_order order = top_order::rank;
  std::string filter;
  bool typing = false;  ///< a filter is being typed
  bool ended = false;

  void on_key(char key) {
    if (typing) return type(key);
    switch (key) {
      case 'q': ended = true; break;
      case 'r': order = top_order::rank; break;
      case 'o': order = top_order::oldest; break;
      case 'p': order = top_order::operations; break;
      case 'w': order = top_order::waiting; break;
      case '/': typing = true, filter.clear(); break;
      default: break;
    }
  }

 private:
  void type(char key) {
    constexpr char backspace = '\x7f';
    if (key == '\n')
      typing = false;
    else if (key == backspace && !filter.empty())
      filter.pop_back();
    else if (std::isprint(static_cast<unsigned char>(key)) != 0)
      filter += key;
  }
};

/// Keys for as long as `limit`, or until one comes; an input that ended ends
/// the view.
void read_keys(top_view& view, duration limit) {
  pollfd one{STDIN_FILENO, POLLIN, 0};
  if (::poll(&one, 1, static_cast<int>(limit / std::chrono::milliseconds(1))) < 1) return;
  char key = 0;
  if (::read(STDIN_FILENO, &key, 1) == 1)
    view.on_key(key);
  else
    view.ended = true;
}

void draw(const gathered_dumps& before, const gathered_dumps& now, const top_view& view) {
  auto rows = top_rows(before.dumps, now.dumps);
  filter_rows(rows, view.filter);
  sort_rows(rows, view.order);
  const auto size = size_of_screen();
  const auto lines = size.lines > frame_lines ? size.lines - frame_lines : 1;
  std::string text = clear_screen;
  text += std::to_string(now.dumps.size()) + " ranks, by " + std::string(to_string(view.order));
  if (!view.filter.empty() || view.typing)
    text += ", with \"" + view.filter + (view.typing ? "_" : "") + "\"";
  text += "\n\n" + describe(rows, lines, size.columns);
  for (const auto& note : now.notes)
    text += note.substr(0, size.columns) + "\n";
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

outcome<int> run_once(const top_words& words) {
  const auto before = gather_dumps(words.from);
  if (!before) return fail(before.error());
  std::this_thread::sleep_for(words.interval);
  const auto now = gather_dumps(words.from);
  if (!now) return fail(now.error());
  const auto rows = top_rows(before->dumps, now->dumps);
  const auto text = words.as_json ? to_json(rows) : describe(rows, rows.size(), std::string::npos);
  std::fputs(text.c_str(), stdout);
  for (const auto& note : now->notes)
    std::fprintf(stderr, "troupe: top: %s\n", note.c_str());
  return now->notes.empty() ? 0 : 3;
}

outcome<int> run_top(const top_words& words) {
  if (words.once) return run_once(words);
  if (words.as_json) return fail(errc::bad_argument, "--json: add --once");
  const raw_terminal terminal;
  if (!terminal.is_raw())
    return fail(errc::bad_argument, "standard input is no terminal; use troupe top --once");
  top_view view;
  auto before = gather_dumps(words.from);
  if (!before) return fail(before.error());
  auto now = *before;
  auto next = std::chrono::steady_clock::now() + words.interval;
  while (!view.ended) {
    draw(*before, now, view);
    const auto left = next - std::chrono::steady_clock::now();
    read_keys(view, std::max<duration>(left, duration::zero()));
    if (std::chrono::steady_clock::now() < next) continue;
    next = std::chrono::steady_clock::now() + words.interval;
    auto fresh = gather_dumps(words.from);
    if (!fresh) return fail(fresh.error());  // the last rank ended
    before = std::move(now);
    now = std::move(*fresh);
  }
  return 0;
}

}  // namespace

void add_top_command(CLI::App& app, action& chosen) {
  CLI::App* command = app.add_subcommand("top", "Show what ranks are doing, live");
  command->footer(top_footer);
  auto words = std::make_shared<top_words>();
  command->add_option("process", words->from.targets,
                      "Process numbers (default: all ranks of this user on this host)");
  command->add_option("--job", words->from.job, "Only ranks of this job");
  command->add_flag("--once", words->once, "Print one table, of one interval, and end");
  command->add_flag("--json", words->as_json, "With --once: the table as JSON");
  add_quantity<duration>(*command, "--interval", words->interval, &parse_duration,
                         "Time between two looks (default: 1s)");
  command->callback([words, &chosen] {
    chosen = [words] {
      auto code = run_top(*words);
      return code ? *code : report_failure(code.error());
    };
  });
}

}  // namespace troupe::cli
