#include "runtime/cli/flight_recorder.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "runtime/cli/pickle_writer.hpp"

namespace troupe::cli {
namespace {

// Of the Flight Recorder's format.
constexpr const char* format_version = "2.10";

/// Elements of a rank's input and output.
struct element_counts {
  std::uint64_t in = 0;
  std::uint64_t out = 0;
};

/// What the analyser calls the operation; nothing: it has no name for it.
std::optional<std::string_view> name_of(operation_kind kind) {
  switch (kind) {
    case operation_kind::all_reduce: return "all_reduce";
    case operation_kind::all_gather:
    case operation_kind::split: return "_all_gather_base";
    case operation_kind::reduce_scatter: return "_reduce_scatter_base";
    case operation_kind::broadcast: return "broadcast";
    case operation_kind::reduce: return "reduce";
    case operation_kind::gather: return "gather";
    case operation_kind::scatter: return "scatter";
    case operation_kind::all_to_all:
    case operation_kind::all_to_all_v: return "all_to_all";
    case operation_kind::barrier: return "all_reduce_barrier";
    case operation_kind::send: return "send";
    case operation_kind::receive: return "recv";
    case operation_kind::put:
    case operation_kind::get:
    case operation_kind::wait_notifications: break;
  }
  return std::nullopt;
}

std::string_view name_of(data_type type) {
  switch (type) {
    case data_type::int8: return "Char";
    case data_type::uint8: return "Byte";
    case data_type::int16: return "Short";
    case data_type::uint16: return "UInt16";
    case data_type::int32: return "Int";
    case data_type::uint32: return "UInt32";
    case data_type::int64: return "Long";
    case data_type::uint64: return "UInt64";
    case data_type::float16: return "Half";
    case data_type::bfloat16: return "BFloat16";
    case data_type::float32: return "Float";
    case data_type::float64: return "Double";
    case data_type::float8_e4m3: return "Float8_e4m3fn";
    case data_type::float8_e5m2: return "Float8_e5m2";
  }
  return "Undefined";
}

element_counts counts_of(const operation_record& r) {
  const auto n = r.signature.count;
  switch (r.signature.kind) {
    case operation_kind::all_gather:
    case operation_kind::split:
    case operation_kind::gather: return {n, n * r.ranks};
    case operation_kind::reduce_scatter:
    case operation_kind::scatter: return {n * r.ranks, n};
    case operation_kind::all_to_all: return {n * r.ranks, n * r.ranks};
    default: return {n, n};
  }
}

bool is_between_two(const operation_record& r) {
  return r.signature.kind == operation_kind::send || r.signature.kind == operation_kind::receive;
}

/// What the analyser can tell from the state alone: one that failed never completed.
const char* state_of(const operation_record& r) {
  if (r.started == instant{}) return "scheduled";
  return r.phase == operation_phase::past && r.failed == errc::ok ? "completed" : "started";
}

std::string profiling_name(const rank_dump& dump, const operation_record& r) {
  std::string out = "nccl:" + std::string(*name_of(r.signature.kind));
  if (!is_between_two(r)) return out;
  const auto self = dump.to_world(r.communicator, r.self);
  const auto peer = dump.to_world(r.communicator, r.peer);
  return out + " " + std::to_string(self.value) +
         (r.signature.kind == operation_kind::send ? "->" : "<-") + std::to_string(peer.value);
}

void write_time(pickle_writer& out, const char* name, const rank_dump& dump, instant at) {
  out.value(name);
  if (at == instant{})
    out.none();
  else
    out.value(dump.to_unix_ns(at));
}

void write_tensor(pickle_writer& out, const char* sizes, const char* types,
                  const operation_record& r, std::uint64_t count) {
  out.value(sizes);
  out.begin_list();
  out.begin_list();
  out.value(static_cast<std::int64_t>(count));
  out.end_list();
  out.end_list();
  out.value(types);
  out.begin_list();
  out.value(name_of(r.signature.type));
  out.end_list();
}

std::string description(communicator_id id) {
  return id.value == 1 ? "default_pg" : "communicator " + std::to_string(id.value);
}

void write_entry(pickle_writer& out, const rank_dump& dump, const operation_record& r) {
  // Of the number only what counts the calls of its kind.
  const auto number = static_cast<std::int64_t>(r.number.value & ~(1ull << 63));
  const bool between_two = is_between_two(r);
  out.begin_dict();
  out.member("record_id", static_cast<std::int64_t>(r.serial));
  out.member("pg_id", std::int64_t{r.communicator.value});
  out.value("process_group");
  out.value(std::to_string(r.communicator.value));
  out.value(description(r.communicator));
  out.end_pair();
  out.member("collective_seq_id", between_two ? std::int64_t{0} : number);
  out.member("p2p_seq_id", between_two ? number : std::int64_t{0});
  out.member("op_id", static_cast<std::int64_t>(r.serial));
  out.member("profiling_name", profiling_name(dump, r));
  write_time(out, "time_created_ns", dump, r.queued);
  out.value("duration_ms");
  if (r.phase == operation_phase::past && r.started != instant{})
    out.value(static_cast<double>(r.execution().count()) * 1e-6);
  else
    out.none();
  const auto counts = counts_of(r);
  write_tensor(out, "input_sizes", "input_dtypes", r, counts.in);
  write_tensor(out, "output_sizes", "output_dtypes", r, counts.out);
  out.member("state", state_of(r));
  write_time(out, "time_discovered_started_ns", dump, r.started);
  write_time(out, "time_discovered_completed_ns", dump, r.failed == errc::ok ? r.ended : instant{});
  out.member("retired", r.phase == operation_phase::past);
  out.member("timeout_ms",
             static_cast<std::int64_t>((r.deadline == never || r.deadline == instant{})
                                           ? 0
                                           : (r.deadline - r.queued).count() / 1'000'000));
  out.member("is_p2p", between_two);
  out.member("thread_id", "");
  out.member("thread_name", "");
  out.value("frames");
  out.begin_list();
  out.end_list();
  out.end_dict();
}

std::string list_of_ranks(const communicator_report& known) {
  std::string out = "[";
  for (std::uint32_t i = 0; i < known.size; ++i)
    out +=
        (i == 0 ? "" : ", ") + std::to_string(known.members.empty() ? i : known.members[i].value);
  return out + "]";
}

void write_groups(pickle_writer& out, const rank_dump& dump) {
  out.value("pg_config");
  out.begin_dict();
  for (const auto& known : dump.communicators) {
    const auto name = std::to_string(known.id.value);
    out.value(name);
    out.begin_dict();
    out.member("name", name);
    out.member("desc", description(known.id));
    out.member("ranks", list_of_ranks(known));
    out.end_dict();
  }
  out.end_dict();
  out.value("pg_status");
  out.begin_dict();
  for (const auto& known : dump.communicators) {
    out.value(std::to_string(known.id.value));
    out.begin_dict();
    out.member("last_enqueued_collective", static_cast<std::int64_t>(known.last_called));
    out.member("last_started_collective", static_cast<std::int64_t>(known.last_started));
    out.member("last_completed_collective", static_cast<std::int64_t>(known.last_ended));
    out.end_dict();
  }
  out.end_dict();
}

}  // namespace

std::string to_flight_recorder(const rank_dump& dump) {
  pickle_writer out;
  out.begin_dict();
  out.member("version", format_version);
  out.value("entries");
  out.begin_list();
  for (const auto& record : dump.operations)
    if (name_of(record.signature.kind)) write_entry(out, dump, record);
  out.end_list();
  write_groups(out, dump);
  out.value("nccl_comm_state");
  out.begin_dict();
  out.end_dict();
  out.member("comm_lib_version", "troupe " TROUPE_VERSION);
  out.end_dict();
  return out.take();
}

}  // namespace troupe::cli
