#include "runtime/cli/line_assembler.hpp"

#include <utility>

namespace troupe::cli {

std::string_view last_drawn(std::string_view line) {
  while (!line.empty() && line.back() == '\r')
    line.remove_suffix(1);
  const std::size_t start = line.rfind('\r');
  return start == std::string_view::npos ? line : line.substr(start + 1);
}

std::string fit_columns(std::string_view text, std::size_t columns) {
  if (text.find('\x1b') != std::string_view::npos) return std::string(text);
  std::size_t used = 0;
  std::size_t end = 0;
  for (; end < text.size(); ++end) {
    // UTF-8: bytes 10xxxxxx continue a character that was counted.
    const bool starts = (static_cast<unsigned char>(text[end]) & 0xc0u) != 0x80u;
    if (starts && used++ == columns) break;
  }
  return std::string(text.substr(0, end));
}

void line_assembler::complete_line(std::string_view end, std::string& out) {
  if (style_.tag.empty()) {
    out += unfinished_;
    out += end;
  } else {
    out += style_.tag;
    out += last_drawn(unfinished_);
    out += '\n';
  }
  unfinished_.clear();
}

void line_assembler::feed(std::string_view bytes, std::string& out) {
  while (!bytes.empty()) {
    const std::size_t room = style_.line_bytes_max - unfinished_.size();
    const std::size_t end = bytes.substr(0, room + 1).find('\n');
    if (end != std::string_view::npos) {
      unfinished_ += bytes.substr(0, end);
      complete_line("\n", out);
      bytes.remove_prefix(end + 1);
      continue;
    }
    const std::string_view piece = bytes.substr(0, room);
    unfinished_ += piece;
    bytes.remove_prefix(piece.size());
    if (unfinished_.size() < style_.line_bytes_max) continue;
    // A progress line that is redrawn for hours is one long line: keep its last state only.
    const std::string_view state = last_drawn(unfinished_);
    if (!style_.tag.empty() && state.size() < unfinished_.size() / 2)
      unfinished_ = std::string(state) + (unfinished_.back() == '\r' ? "\r" : "");
    else
      complete_line("", out);
  }
}

void line_assembler::finish(std::string& out) {
  if (!unfinished_.empty()) complete_line("", out);
}

std::string line_assembler::live_line() const {
  const std::string_view shown = last_drawn(unfinished_);
  return shown.empty() ? std::string() : style_.tag + std::string(shown);
}

}  // namespace troupe::cli
