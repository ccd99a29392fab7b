#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cli/line_assembler.hpp"
#include "runtime/cli/output_sink.hpp"

namespace troupe::cli {

/// Which of its two outputs a rank wrote to.
enum class output : std::uint8_t { standard = 0, error = 1 };

inline constexpr std::array<output, 2> both_outputs{output::standard, output::error};

/// Whether lines carry the number of the rank that wrote them.
enum class line_tags : std::uint8_t { none, rank };

/// "[3] "; empty without tags.
std::string tag_of(line_tags tags, std::uint32_t rank);

/// Brings the output of all ranks to the launcher's own: standard output and standard error kept
/// apart, line by line. On a terminal, the line that rank 0 is drawing stays below everything else.
class output_relay {
 public:
  output_relay(std::uint32_t rank_count, line_tags tags);

  void feed(std::uint32_t rank, output which, std::string_view bytes);

  /// The stream of the rank ended.
  void finish(std::uint32_t rank, output which);

  /// A line of the launcher's own, to standard error.
  void say(std::string_view line);

  output_sink& sink(output which) { return sinks_[static_cast<std::size_t>(which)]; }
  void flush();
  bool drained() const;

 private:
  line_assembler& assembler(std::uint32_t rank, output which);
  void emit(output which, std::string_view lines);
  void erase_live();
  void draw_live();

  std::array<output_sink, 2> sinks_;
  std::vector<line_assembler> assemblers_;  ///< two per rank
  std::optional<output> live_on_;           ///< where a live line stands now
  std::string live_;                        ///< what it shows
};

}  // namespace troupe::cli
