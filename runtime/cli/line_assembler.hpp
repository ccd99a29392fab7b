#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace troupe::cli {

/// How the bytes of one stream of one rank become lines of the job's output.
struct line_style {
  /// Stands before every line; empty: bytes pass unchanged, only cut at line ends.
  std::string tag;
  /// Longest line that is kept together. Chosen: far beyond what people read, small enough for
  /// hundreds of ranks.
  std::size_t line_bytes_max = 64 * 1024;
};

/// Cuts one stream into lines and puts the rank's tag before each, so that lines of many ranks
/// never mix. A tagged line that was redrawn with carriage returns comes out as a terminal would
/// show it in the end: the last state.
class line_assembler {
 public:
  explicit line_assembler(line_style style) : style_(std::move(style)) {}

  /// Takes bytes as they come; appends the lines that are complete to `out`.
  void feed(std::string_view bytes, std::string& out);

  /// The stream ended: appends what is left. A tagged last line gets the newline it lacks.
  void finish(std::string& out);

  /// What a terminal would show of the line that is not complete yet, tag included; empty: nothing.
  std::string live_line() const;

 private:
  void complete_line(std::string_view end, std::string& out);

  line_style style_;
  std::string unfinished_;
};

/// What a terminal shows in the end of a line with carriage returns: its last state that is not
/// empty.
std::string_view last_drawn(std::string_view line);

/// The text shortened to `columns` columns of a terminal. Text with escape sequences is left alone:
/// a cut could fall into one.
std::string fit_columns(std::string_view text, std::size_t columns);

}  // namespace troupe::cli
