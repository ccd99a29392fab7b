#include "runtime/cli/chrome_trace.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "runtime/json_text.hpp"

namespace troupe::cli {
namespace {

/// Writes events of one rank; times count from the first of all ranks.
class rank_events {
 public:
  rank_events(json_writer& out, const rank_dump& dump, std::int64_t zero_ns)
      : out_(out), dump_(dump), zero_ns_(zero_ns) {}

  void write() {
    name("process_name", 0,
         "rank " + std::to_string(dump_.self.value) + " (" + dump_.host + ", process " +
             std::to_string(dump_.process) + ")");
    for (const auto& known : dump_.communicators)
      name("thread_name", known.id.value, "communicator " + std::to_string(known.id.value));
    for (const auto& record : dump_.operations)
      write(record);
    for (const auto& what : dump_.incidents)
      write(what);
  }

 private:
  double microseconds(instant at) const {
    return static_cast<double>(dump_.to_unix_ns(at) - zero_ns_) * 1e-3;
  }

  void begin(const char* phase, std::uint32_t track) {
    out_.begin_object().member("ph", phase).member("pid", dump_.self.value).member("tid", track);
  }

  void name(const char* what, std::uint32_t track, const std::string& text) {
    begin("M", track);
    out_.member("name", what).key("args").begin_object().member("name", text).end_object();
    out_.end_object();
  }

  void span(const operation_record& r, const char* category, instant from, instant to) {
    begin("X", r.communicator.value);
    out_.member("cat", category).member("ts", microseconds(from));
    out_.member("dur", std::max(0.0, static_cast<double>((to - from).count()) * 1e-3));
  }

  void write(const operation_record& r) {
    const auto end = r.ended == instant{} ? dump_.taken_at : r.ended;
    const auto start = r.started == instant{} ? end : r.started;
    const auto what = std::string(to_string(r.signature.kind));
    if (start > r.queued) {
      span(r, "queueing", r.queued, start);
      out_.member("name", what + " (queued)").end_object();
    }
    if (r.started == instant{}) return;
    span(r, "operation", start, end);
    out_.member("name", what).key("args").begin_object();
    // A number of two ranks' own has its highest bit set: texts are shown as they are.
    out_.member("signature", to_string(r.signature))
        .member("number", std::to_string(r.number.value & ~(1ull << 63)))
        .member("phase", to_string(r.phase))
        .member("algorithm", to_string(r.algorithm))
        .member("lanes", to_string(r.lanes))
        .member("reason", to_string(r.reason))
        .member("bytes", r.bytes)
        .member("failed", to_string(r.failed))
        .member("waited_for_peers_us", static_cast<double>(r.waited_for_peers.count()) * 1e-3)
        .member("waited_for_sending_us", static_cast<double>(r.waited_for_sending.count()) * 1e-3);
    out_.key("waits_for").begin_array();
    for (const auto peer : r.named_waits())
      out_.value(peer.value);
    out_.end_array().end_object().end_object();
  }

  void write(const incident& what) {
    begin("i", 0);
    out_.member("s", "p").member("name", to_string(what.kind)).member("ts", microseconds(what.at));
    out_.key("args").begin_object().member("text", what.text).end_object().end_object();
  }

  json_writer& out_;
  const rank_dump& dump_;
  std::int64_t zero_ns_;
};

}  // namespace

std::string to_chrome_trace(std::span<const rank_dump> dumps) {
  auto zero = std::numeric_limits<std::int64_t>::max();
  for (const auto& dump : dumps) {
    zero = std::min(zero, dump.taken_at_unix_ns);
    for (const auto& record : dump.operations)
      zero = std::min(zero, dump.to_unix_ns(record.queued));
    for (const auto& what : dump.incidents)
      zero = std::min(zero, dump.to_unix_ns(what.at));
  }
  json_writer out;
  out.begin_object().member("displayTimeUnit", "ms").key("traceEvents").begin_array();
  for (const auto& dump : dumps)
    rank_events(out, dump, zero).write();
  out.end_array().end_object();
  return out.take();
}

}  // namespace troupe::cli
