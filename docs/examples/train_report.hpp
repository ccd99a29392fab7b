#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "docs/examples/step_timeline.hpp"
#include "docs/examples/train_options.hpp"

namespace examples {

/// How training goes: one line that is rewritten on a terminal, a few plain lines elsewhere.
class progress_report {
 public:
  progress_report(const train_options& options, std::string who);

  /// After each step. `waited` is how long the trainer has waited for operations so far; nothing
  /// if it has none.
  void show(std::size_t step, double loss, std::optional<seconds> waited);

 private:
  enum class style { silent, lines, rewritten };

  std::string who_;
  style style_;
  std::size_t steps_;
  std::size_t batch_;
  std::size_t shown_step_count_ = 0;
  seconds shown_waited_{};
  wall_clock::time_point shown_at_;
};

/// How far two runs are apart.
struct comparison {
  double largest_difference = 0.0;  ///< relative to the reference; NaN counts as infinite
  std::size_t step = 0;             ///< where it is
  bool identical = true;            ///< every loss has the same bits
};

/// Relative. Equal orders of summation give 0; another order soon gives more than this.
inline constexpr double allowed_difference = 1e-4;

comparison compare_curves(std::span<const double> losses, std::span<const double> reference);

void print_curves(std::span<const double> losses, std::span<const double> reference);
void print_comparison(const comparison& compared, std::size_t steps);

/// One step as a picture and as numbers: the backward pass, and what travelled meanwhile.
void print_overlap(const step_record& record, std::size_t step, std::size_t bucket_count);
void print_time(const time_totals& totals, std::size_t steps);

}  // namespace examples
