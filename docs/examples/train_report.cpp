#include "docs/examples/train_report.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <utility>

namespace examples {
namespace {

constexpr std::size_t plain_line_count = 10;
constexpr std::size_t curve_row_count = 12;
constexpr std::size_t plot_width = 40;
constexpr std::size_t picture_width = 72;

double milliseconds(wall_clock::duration length) {
  return std::chrono::duration<double, std::milli>(length).count();
}

/// The letter of an activity in the picture of a step.
char letter(activity what) {
  switch (what) {
    case activity::forward: return 'f';
    case activity::backward: return 'b';
    case activity::optimizer: return 'o';
    case activity::wait: return '.';
    case activity::reduce_scatter: return 'S';
    case activity::all_reduce: return 'R';
    case activity::all_gather: return 'G';
  }
  return '?';
}

const interval* find(const step_record& record, activity what, std::size_t bucket) {
  const auto found = std::find_if(
      record.intervals.begin(), record.intervals.end(),
      [&](const interval& each) { return each.what == what && each.bucket == bucket; });
  return found == record.intervals.end() ? nullptr : &*found;
}

/// Draws intervals into lines of characters, one column per slice of time.
class picture {
 public:
  picture(wall_clock::time_point begin, wall_clock::time_point end)
      : begin_(begin), column_(seconds(end - begin) / picture_width) {}

  void draw(const interval& each, std::string& line) const {
    line.resize(picture_width, ' ');
    const std::size_t first = column_of(each.begin);
    const std::size_t last = std::max(first + 1, column_of(each.end));
    for (std::size_t c = first; c < std::min(last, picture_width); ++c)
      line[c] = letter(each.what);
  }

 private:
  std::size_t column_of(wall_clock::time_point when) const {
    const double column = std::max(0.0, seconds(when - begin_) / column_);
    return std::min(static_cast<std::size_t>(column), picture_width - 1);
  }

  wall_clock::time_point begin_;
  seconds column_;
};

void print_interval(const step_record& record, activity what, std::size_t bucket) {
  const interval* when = find(record, what, bucket);
  if (when == nullptr)
    std::printf("  %-15s", "-");
  else
    std::printf("  %6.2f - %6.2f", milliseconds(when->begin - record.begin),
                milliseconds(when->end - record.begin));
}

void print_share(const char* what, seconds time, seconds of) {
  std::printf("  %-26s %7.2f s  %3.0f %%\n", what, time.count(), 100.0 * (time / of));
}

}  // namespace

progress_report::progress_report(const train_options& options, std::string who)
    : who_(std::move(who)),
      style_(style::lines),
      steps_(options.steps),
      batch_(options.batch),
      shown_at_(wall_clock::now()) {
  const bool terminal = isatty(STDOUT_FILENO) == 1;
  if (options.live == live_line::always || (options.live == live_line::when_terminal && terminal))
    style_ = style::rewritten;
  if (options.quiet) style_ = style::silent;
}

void progress_report::show(std::size_t step, double loss, std::optional<seconds> waited) {
  const bool last = step + 1 == steps_;
  const std::size_t stride = std::max<std::size_t>(1, steps_ / plain_line_count);
  const seconds elapsed = wall_clock::now() - shown_at_;
  const bool due = style_ == style::rewritten ? elapsed > std::chrono::milliseconds(100)
                                              : (step + 1) % stride == 0 || step == 0;
  if (style_ == style::silent || (!due && !last)) return;
  const double rows = static_cast<double>((step + 1 - shown_step_count_) * batch_);
  std::printf("%s  step %4zu/%zu  loss %.3f  %6.0f tokens/s", who_.c_str(), step + 1, steps_, loss,
              rows / elapsed.count());
  if (waited)
    std::printf("  communication %2.0f %%", 100.0 * ((*waited - shown_waited_) / elapsed));
  std::fputs(style_ == style::rewritten && !last ? "\r" : "\n", stdout);
  std::fflush(stdout);
  shown_step_count_ = step + 1;
  shown_waited_ = waited.value_or(seconds{});
  shown_at_ = wall_clock::now();
}

comparison compare_curves(std::span<const double> losses, std::span<const double> reference) {
  comparison result;
  for (std::size_t step = 0; step < losses.size(); ++step) {
    if (std::memcmp(&losses[step], &reference[step], sizeof(double)) != 0) result.identical = false;
    double difference = std::abs(losses[step] - reference[step]) / std::abs(reference[step]);
    if (!std::isfinite(difference)) difference = std::numeric_limits<double>::infinity();
    if (difference <= result.largest_difference) continue;
    result.largest_difference = difference;
    result.step = step;
  }
  return result;
}

void print_curves(std::span<const double> losses, std::span<const double> reference) {
  const double top = std::max(*std::max_element(losses.begin(), losses.end()),
                              *std::max_element(reference.begin(), reference.end()));
  const auto column = [top](double loss) {
    return std::min(plot_width - 1,
                    static_cast<std::size_t>(loss / top * static_cast<double>(plot_width)));
  };
  std::printf("\nloss      job (o)   one process (x)   relative difference   (* both)\n");
  const std::size_t rows = std::min(curve_row_count, losses.size());
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t step = rows == 1 ? 0 : row * (losses.size() - 1) / (rows - 1);
    const double difference = std::abs(losses[step] - reference[step]) / reference[step];
    std::string plot(plot_width, ' ');
    plot[column(reference[step])] = 'x';
    char& mark = plot[column(losses[step])];
    mark = mark == 'x' ? '*' : 'o';
    std::printf("step %4zu  %.6f  %.6f  %8.1e  |%s\n", step + 1, losses[step], reference[step],
                difference, plot.c_str());
  }
}

void print_comparison(const comparison& compared, std::size_t steps) {
  if (compared.identical) {
    std::printf("the curves agree: bitwise identical over all %zu steps\n", steps);
    return;
  }
  const bool agree = compared.largest_difference <= allowed_difference;
  std::printf("the curves %s: largest relative difference %.2e at step %zu of %zu (allowed %.0e)\n",
              agree ? "agree" : "DIFFER", compared.largest_difference, compared.step + 1, steps,
              allowed_difference);
}

void print_overlap(const step_record& record, std::size_t step, std::size_t bucket_count) {
  wall_clock::time_point end = record.end;
  for (const interval& each : record.intervals)
    end = std::max(end, each.end);
  const picture canvas(record.begin, end);
  std::vector<std::string> lines(bucket_count + 1);
  for (const interval& each : record.intervals)
    canvas.draw(each, lines[each.what >= activity::reduce_scatter ? each.bucket : bucket_count]);

  std::printf("\nstep %zu on rank 0, %.1f ms: f forward, b backward, o optimizer, . waiting;\n",
              step + 1, milliseconds(end - record.begin));
  std::printf("S reduce_scatter in the group, R all_reduce across, G all_gather in the group\n");
  std::printf("  compute   |%s|\n", lines[bucket_count].c_str());
  for (std::size_t bucket = bucket_count; bucket-- > 0;)
    std::printf("  bucket %-2zu |%s|\n", bucket, lines[bucket].c_str());

  std::printf("milliseconds since the step began (operations: call returned - done)\n");
  std::printf("  bucket  %-17s%-17s%-17s%-17s\n", "backward", "reduce_scatter", "all_reduce",
              "all_gather");
  for (std::size_t bucket = bucket_count; bucket-- > 0;) {
    std::printf("  %4zu  ", bucket);
    for (const activity what :
         {activity::backward, activity::reduce_scatter, activity::all_reduce, activity::all_gather})
      print_interval(record, what, bucket);
    std::printf("\n");
  }
}

void print_time(const time_totals& totals, std::size_t steps) {
  std::printf("\nwhere the time of rank 0 went: %zu steps in %.2f s\n", steps,
              totals.elapsed.count());
  const seconds named = totals.compute + totals.optimizer + totals.exposed;
  print_share("forward and backward", totals.compute, totals.elapsed);
  print_share("optimizer", totals.optimizer, totals.elapsed);
  print_share("communication, exposed", totals.exposed, totals.elapsed);
  print_share("everything else", totals.elapsed - named, totals.elapsed);
  const double share =
      totals.in_flight.count() > 0.0 ? 100.0 * (totals.hidden() / totals.in_flight) : 0.0;
  std::printf(
      "operations were in flight for %.2f s; %.2f s of it (%.0f %%) hidden behind compute\n",
      totals.in_flight.count(), totals.hidden().count(), share);
}

}  // namespace examples
