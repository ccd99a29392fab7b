#include "runtime/simulation.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

#include "actors/simulation/simulated_stage.hpp"
#include "config/load.hpp"

namespace troupe {

namespace {

using actors::simulated_stage;

/// What rank `r` puts at element `i`: small integers, so that every sum is exact in any order.
std::int64_t input_value(std::uint32_t r, std::uint64_t i) {
  return static_cast<std::int64_t>((r * 7 + i * 13) % 5) - 2;
}

template <class Element>
class typed_buffers {
 public:
  typed_buffers(const operation_signature& what, std::uint32_t ranks) : what_(what), ranks_(ranks) {
    const bool exchanges =
        what.kind == operation_kind::all_to_all || what.kind == operation_kind::all_to_all_v;
    const bool gathers =
        exchanges || what.kind == operation_kind::all_gather || what.kind == operation_kind::gather;
    const bool scatters = exchanges || what.kind == operation_kind::reduce_scatter ||
                          what.kind == operation_kind::scatter;
    send_.resize(ranks);
    receive_.resize(ranks);
    for (std::uint32_t r = 0; r < ranks; ++r) {
      send_[r].resize(what.count * (scatters ? ranks : 1));
      receive_[r].resize(what.count * (gathers ? ranks : 1));
      for (std::uint64_t i = 0; i < send_[r].size(); ++i)
        send_[r][i] = static_cast<Element>(input_value(r, i));
    }
  }

  outcome<work_handle> call(communicator& c, const operation_options& options) {
    const auto r = to_index(c.rank());
    switch (what_.kind) {
      case operation_kind::all_reduce:
        return c.all_reduce({.send = send_[r].data(),
                             .receive = receive_[r].data(),
                             .count = what_.count,
                             .type = what_.type,
                             .options = options});
      case operation_kind::all_gather:
        return c.all_gather({.send = send_[r].data(),
                             .receive = receive_[r].data(),
                             .count = what_.count,
                             .type = what_.type,
                             .options = options});
      case operation_kind::reduce_scatter:
        return c.reduce_scatter({.send = send_[r].data(),
                                 .receive = receive_[r].data(),
                                 .count = what_.count,
                                 .type = what_.type,
                                 .options = options});
      case operation_kind::broadcast:
        receive_[r] = send_[r];
        return c.broadcast({.buffer = receive_[r].data(),
                            .count = what_.count,
                            .type = what_.type,
                            .root = rank{what_.root},
                            .options = options});
      case operation_kind::barrier: return c.barrier(options);
      default: return call_rooted_or_exchange(c, options);
    }
  }

  std::uint64_t wrong_elements() const {
    if (what_.kind == operation_kind::barrier) return 0;
    const bool to_root =
        what_.kind == operation_kind::reduce || what_.kind == operation_kind::gather;
    std::uint64_t wrong = 0;
    // Inputs repeat every 5 elements and the sum over ranks with them.
    for (std::uint32_t r = 0; r < ranks_; ++r)
      for (std::uint64_t i = 0; i < receive_[r].size(); ++i)
        wrong += receive_[r][i] != (to_root && r != what_.root ? Element{} : expected(r, i));
    return wrong;
  }

 private:
  outcome<work_handle> call_rooted_or_exchange(communicator& c, const operation_options& options) {
    const auto r = to_index(c.rank());
    const void* send = send_[r].data();
    void* receive = receive_[r].data();
    const rank root{what_.root};
    switch (what_.kind) {
      case operation_kind::reduce:
        return c.reduce(
            {send, receive, what_.count, what_.type, reduction::sum, 1.0, root, options});
      case operation_kind::gather:
        return c.gather({send, receive, what_.count, what_.type, root, options});
      case operation_kind::scatter:
        return c.scatter({send, receive, what_.count, what_.type, root, options});
      case operation_kind::all_to_all:
        return c.all_to_all({send, receive, what_.count, what_.type, options});
      case operation_kind::all_to_all_v: {
        // All pairs alike: what an all_to_all moves, by lists of counts.
        const std::vector<std::uint64_t> counts(ranks_, what_.count);
        std::vector<std::uint64_t> offsets(ranks_);
        for (std::uint32_t p = 0; p < ranks_; ++p)
          offsets[p] = p * what_.count;
        return c.all_to_all_v(
            {send, receive, counts, offsets, counts, offsets, what_.type, options});
      }
      default:
        return fail(errc::not_available, "simulate: " + std::string(to_string(what_.kind)) +
                                             " is not simulated; it needs a partner");
    }
  }

  Element expected(std::uint32_t r, std::uint64_t i) const {
    switch (what_.kind) {
      case operation_kind::all_gather:
      case operation_kind::gather:
        return static_cast<Element>(
            input_value(static_cast<std::uint32_t>(i / what_.count), i % what_.count));
      case operation_kind::broadcast: return static_cast<Element>(input_value(what_.root, i));
      case operation_kind::scatter:
        return static_cast<Element>(input_value(what_.root, r * what_.count + i));
      case operation_kind::all_to_all:
      case operation_kind::all_to_all_v:
        return static_cast<Element>(input_value(static_cast<std::uint32_t>(i / what_.count),
                                                r * what_.count + i % what_.count));
      case operation_kind::reduce_scatter: return sum(r * what_.count + i);
      default: return sum(i);
    }
  }

  Element sum(std::uint64_t i) const {
    std::int64_t total = 0;
    for (std::uint32_t residue = 0; residue < 5; ++residue) {
      const auto ranks = ranks_ / 5 + (residue < ranks_ % 5 ? 1 : 0);
      total += ranks * input_value(residue, i);
    }
    return static_cast<Element>(total);
  }

  operation_signature what_;
  std::uint32_t ranks_;
  std::vector<std::vector<Element>> send_;
  std::vector<std::vector<Element>> receive_;
};

outcome<actors::stage_options> make_stage_options(const simulation_options& options) {
  if (options.rank_count == 0)
    return fail(errc::bad_argument, "simulate: rank_count is 0; at least one rank is needed");
  // Small rings: thousands of ranks share one process. The caller's settings go before.
  std::vector<std::pair<std::string, std::string>> settings{
      {"transport.eager_bytes", "1KiB"},        {"transport.eager_slot_count", "4"},
      {"transport.window_segment_count", "64"}, {"transport.transfer_count", "256"},
      {"transport.parked_bytes", "16KiB"},      {"bootstrap.timeout", "10m"}};
  settings.insert(settings.end(), options.settings.begin(), options.settings.end());
  auto loaded = config::load(
      {.config_file = {}, .settings = settings, .environment = config::environment_variables{}});
  if (!loaded) return fail(loaded.error());
  actors::stage_options stage;
  stage.rank_count = options.rank_count;
  stage.seed = options.seed;
  stage.options = loaded->values;
  stage.fabric.latency = options.latency;
  stage.fabric.bytes_per_second = options.bytes_per_second;
  return stage;
}

std::vector<memory_usage> memory_of(const simulated_stage& stage) {
  std::vector<memory_usage> out;
  for (std::uint32_t r = 0; r < stage.size(); ++r)
    out.push_back(stage.memory(rank{r}));
  return out;
}

template <class Element>
outcome<void> run_operations(simulated_stage& stage, const simulation_options& options,
                             simulation_report& report) {
  typed_buffers<Element> buffers(options.operation, options.rank_count);
  for (std::uint32_t repetition = 0; repetition < options.repetition_count; ++repetition) {
    std::vector<work_handle> works;
    for (std::uint32_t r = 0; r < options.rank_count; ++r) {
      auto started = buffers.call(stage.world(rank{r}), options.call);
      if (!started) return fail(started.error());
      works.push_back(std::move(*started));
    }
    const bool done = stage.run_until(
        [&works] {
          while (!works.empty() && works.back()->test() &&
                 works.back()->error().code() == errc::ok && works.size() > 1)
            works.pop_back();
          return works.size() == 1 && works.back()->test();
        },
        options.virtual_limit);
    for (std::uint32_t r = 0; r < works.size(); ++r)
      if (works[r]->test() && works[r]->error().code() != errc::ok)
        return fail(failure{works[r]->error().what,
                            "rank " + std::to_string(r) + ": " + works[r]->error().message});
    if (!done) return fail(errc::timed_out, "the operation did not end within the virtual limit");
    report.path = works.front()->path();
    report.wrong_elements += buffers.wrong_elements();
  }
  return {};
}

}  // namespace

outcome<simulation_report> simulate(const simulation_options& options) {
  auto prepared = make_stage_options(options);
  if (!prepared) return fail(prepared.error());
  simulated_stage stage(*prepared);
  const auto begin = stage.now();
  if (auto joined = stage.join_all(options.virtual_limit); !joined) return fail(joined.error());
  simulation_report report;
  report.join_time = stage.now() - begin;
  report.idle_memory = memory_of(stage);
  const auto joined_at = stage.now();
  const auto joined_messages = stage.messages_total();

  outcome<void> ran;
  switch (options.operation.type) {
    case data_type::float32: ran = run_operations<float>(stage, options, report); break;
    case data_type::float64: ran = run_operations<double>(stage, options, report); break;
    case data_type::int32: ran = run_operations<std::int32_t>(stage, options, report); break;
    case data_type::int64: ran = run_operations<std::int64_t>(stage, options, report); break;
    default:
      return fail(errc::not_available,
                  "simulate: type " + std::string(to_string(options.operation.type)) +
                      " is not simulated; it has float32, float64, int32 and int64");
  }
  if (!ran) return fail(ran.error());
  report.used_memory = memory_of(stage);
  const auto wire = stage.wires().totals();
  report.operation_time = stage.now() - joined_at;
  report.actor_messages = stage.messages_total();
  report.operation_messages = report.actor_messages - joined_messages;
  report.wire_messages = wire.messages;
  report.wire_segments = wire.writes;
  report.wire_bytes = wire.bytes;
  report.largest_fan_in = stage.wires().largest_fan_in();
  report.trace_hash = stage.trace_hash();
  return report;
}

}  // namespace troupe
