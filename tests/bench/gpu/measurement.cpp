#include "tests/bench/gpu/measurement.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <utility>

namespace troupe::bench {

namespace {

using clock = std::chrono::steady_clock;

constexpr int rounds = 5;
constexpr int calls_of_a_graph = 100;

/// As many calls as take some milliseconds: small ones 200, large ones 20.
int calls_for(std::uint64_t bytes) {
  return bytes <= (1u << 20) ? 200 : 20;
}

/// One contender, ready to be timed.
struct prepared {
  const contender* who = nullptr;
  std::optional<kernels::graph> captured;
  std::vector<double> microseconds;
};

outcome<void> times(int calls, const contender& who, kernels::stream_ref in) {
  for (int i = 0; i < calls; ++i)
    if (auto done = who.call(in); !done) return done;
  return {};
}

outcome<void> prepare(prepared& one, const kernels::stream& in, const contest& what) {
  if (auto done = times(3, *one.who, in.ref()); !done) return done;
  if (auto done = in.wait(); !done) return done;
  if (what.mode != call_mode::graph) return {};
  const int calls = what.bytes <= (1u << 20) ? calls_of_a_graph : 10;
  auto captured = kernels::graph::capture(in, [&] { return times(calls, *one.who, in.ref()); });
  if (!captured) return fail(captured.error());
  one.captured = std::move(*captured);
  return {};
}

/// Microseconds per call of this member.
outcome<double> turn(prepared& one, const kernels::stream& in, const contest& what) {
  int calls = calls_for(what.bytes);
  const auto begin = clock::now();
  outcome<void> done;
  if (one.captured) {
    calls = what.bytes <= (1u << 20) ? calls_of_a_graph : 10;
    if (auto launched = one.captured->launch(in.ref()); !launched)
      return fail(failure(launched.error(), "launching a graph"));
    done = in.wait();
  } else if (what.mode == call_mode::call_and_wait) {
    for (int i = 0; i < calls && done; ++i) {
      done = one.who->call(in.ref());
      if (done) done = in.wait();
    }
  } else {
    done = times(calls, *one.who, in.ref());
    if (done) done = in.wait();
  }
  if (!done) return fail(done.error());
  const std::chrono::duration<double, std::micro> took = clock::now() - begin;
  return took.count() / calls;
}

row summary(const contest& what, prepared& one) {
  auto& all = one.microseconds;
  std::nth_element(all.begin(), all.begin() + rounds / 2, all.end());
  const double median = all[rounds / 2];
  return {what.operation,
          one.who->library,
          one.who->variant,
          what.bytes,
          what.mode,
          median,
          static_cast<double>(what.bytes) / median / 1'000 * what.bus_factor};
}

}  // namespace

const char* to_string(call_mode mode) {
  switch (mode) {
    case call_mode::eager: return "eager";
    case call_mode::call_and_wait: return "call and wait";
    case call_mode::graph: return "graph";
  }
  return "";
}

outcome<std::vector<row>> measure(test::member& who, const kernels::stream& in,
                                  const contest& what) {
  std::vector<prepared> all;
  for (const auto& contender : what.contenders) {
    all.push_back({&contender, {}, {}});
    if (auto done = prepare(all.back(), in, what); !done) return fail(done.error());
  }
  for (int round = 0; round < rounds + 1; ++round)
    for (auto& one : all) {
      if (auto together = who.gather(); !together) return fail(together.error());
      const auto took = turn(one, in, what);
      if (!took) return fail(took.error());
      const auto everybody = who.all_say(*took);
      // The first round warms up.
      if (round > 0)
        one.microseconds.push_back(*std::max_element(everybody.begin(), everybody.end()));
    }
  std::vector<row> rows;
  for (auto& one : all) {
    rows.push_back(summary(what, one));
    const auto& r = rows.back();
    if (who.rank == 0)
      std::printf("%-14s %-7s %-22s %11llu %-13s %10.2f us %8.1f GB/s\n", r.operation.c_str(),
                  r.library.c_str(), r.variant.c_str(), static_cast<unsigned long long>(r.bytes),
                  to_string(r.mode), r.microseconds, r.busbw_gb_per_s);
  }
  if (who.rank == 0) std::fflush(stdout);
  return rows;
}

void write_json(const std::string& path, const std::vector<row>& rows) {
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) {
    std::perror(path.c_str());
    return;
  }
  std::fputs("[\n", file);
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::fprintf(file,
                 " {\"operation\": \"%s\", \"library\": \"%s\", \"variant\": \"%s\", "
                 "\"bytes\": %llu, \"mode\": \"%s\", \"us\": %.3f, \"busbw_gb_per_s\": %.2f}%s\n",
                 rows[i].operation.c_str(), rows[i].library.c_str(), rows[i].variant.c_str(),
                 static_cast<unsigned long long>(rows[i].bytes), to_string(rows[i].mode),
                 rows[i].microseconds, rows[i].busbw_gb_per_s, i + 1 < rows.size() ? "," : "");
  std::fputs("]\n", file);
  std::fclose(file);
}

}  // namespace troupe::bench
