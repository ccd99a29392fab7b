#include "runtime/cli/output_relay.hpp"

#include <unistd.h>

namespace troupe::cli {

std::string tag_of(line_tags tags, std::uint32_t rank) {
  return tags == line_tags::none ? std::string() : "[" + std::to_string(rank) + "] ";
}

output_relay::output_relay(std::uint32_t rank_count, line_tags tags)
    : sinks_{output_sink(STDOUT_FILENO), output_sink(STDERR_FILENO)} {
  for (std::uint32_t r = 0; r < rank_count; ++r)
    for ([[maybe_unused]] const output which : both_outputs)
      assemblers_.emplace_back(line_style{.tag = tag_of(tags, r)});
}

line_assembler& output_relay::assembler(std::uint32_t rank, output which) {
  return assemblers_[rank * both_outputs.size() + static_cast<std::size_t>(which)];
}

void output_relay::feed(std::uint32_t rank, output which, std::string_view bytes) {
  std::string lines;
  assembler(rank, which).feed(bytes, lines);
  emit(which, lines);
}

void output_relay::finish(std::uint32_t rank, output which) {
  std::string lines;
  assembler(rank, which).finish(lines);
  emit(which, lines);
}

void output_relay::say(std::string_view line) {
  emit(output::error, "troupe: " + std::string(line) + "\n");
}

void output_relay::emit(output which, std::string_view lines) {
  if (!sink(which).is_terminal()) {
    sink(which).append(lines);
    return;
  }
  if (!lines.empty()) erase_live();
  sink(which).append(lines);
  draw_live();
}

void output_relay::erase_live() {
  if (!live_on_) return;
  sink(*live_on_).append("\r\x1b[K");
  sink(*live_on_).flush();  // the next line may go to the terminal by the other descriptor
  live_on_.reset();
  live_.clear();
}

void output_relay::draw_live() {
  for (const output which : both_outputs) {
    if (!sink(which).is_terminal()) continue;
    std::string text = assembler(0, which).live_line();
    if (text.empty()) continue;
    if (live_on_ == which && text == live_) return;
    erase_live();
    sink(which).append(fit_columns(text, sink(which).columns() - 1));
    live_on_ = which;
    live_ = std::move(text);
    return;
  }
  erase_live();
}

void output_relay::flush() {
  for (output_sink& each : sinks_)
    each.flush();
}

bool output_relay::drained() const {
  return sinks_[0].drained() && sinks_[1].drained();
}

}  // namespace troupe::cli
