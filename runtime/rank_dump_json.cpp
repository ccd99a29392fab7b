#include "runtime/rank_dump_json.hpp"

#include <array>
#include <charconv>
#include <type_traits>

#include "runtime/json_text.hpp"

namespace troupe {

namespace {

// Chosen: what a rank's number fits in on the wire; a file cannot make its reader count further.
constexpr std::uint32_t world_size_max = 1u << 24;

constexpr errc last_errc = errc::epoch_changed;

constexpr std::string_view format_name = "troupe-dump";

// Which count a number belongs to: collectives of a communicator, or the calls of a member.
constexpr std::uint64_t point_to_point_mask = 1ull << 63;

constexpr bool counts_collectives(operation_number n) {
  return (n.value & (point_to_point_mask | one_sided_bit)) == 0;
}

constexpr std::uint64_t shown_number(operation_number n) {
  if ((n.value & point_to_point_mask) != 0) return n.value & ~point_to_point_mask;
  return (n.value & one_sided_bit) != 0 ? n.value & one_sided_call_mask : n.value;
}

std::string hexadecimal(std::uint64_t number) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16);
  return {digits.data(), end.ptr};
}

// -- writing --------------------------------------------------------------------------------------

void add(json_writer& out, std::string_view name, rank who) {
  if (who == no_rank)
    out.key(name).null();
  else
    out.member(name, who.value);
}

void add(json_writer& out, std::string_view name, instant at) {
  if (at == instant{} || at == never)
    out.key(name).null();
  else
    out.member(name, static_cast<std::int64_t>(to_nanoseconds(at)));
}

void add(json_writer& out, std::string_view name, duration d) {
  out.member(name, static_cast<std::int64_t>(d.count()));
}

void write(json_writer& out, const operation_record& r) {
  out.begin_object()
      .member("serial", r.serial)
      .member("communicator", r.communicator.value)
      .member("epoch", r.epoch.value)
      .member("number", shown_number(r.number))
      .member("is_collective", counts_collectives(r.number))
      .member("self", r.self.value);
  add(out, "peer", r.peer);
  out.member("operation", to_string(r.signature.kind))
      .member("type", to_string(r.signature.type))
      .member("reduction", to_string(r.signature.op))
      .member("root", r.signature.root)
      .member("count", r.signature.count)
      .member("bytes", r.bytes)
      .member("ranks", r.ranks)
      .member("contributors", r.contributors)
      .member("algorithm", to_string(r.algorithm))
      .member("lanes", to_string(r.lanes))
      .member("reason", to_string(r.reason))
      .member("threshold_bytes", r.threshold_bytes)
      .member("phase", to_string(r.phase))
      .member("failed", to_string(r.failed));
  add(out, "failed_peer", r.failed_peer);
  add(out, "queued_ns", r.queued);
  add(out, "started_ns", r.started);
  add(out, "first_byte_ns", r.first_byte);
  add(out, "last_byte_ns", r.last_byte);
  add(out, "ended_ns", r.ended);
  add(out, "deadline_ns", r.deadline);
  add(out, "waited_for_peers_ns", r.waited_for_peers);
  add(out, "waited_for_sending_ns", r.waited_for_sending);
  add(out, "waited_for_resources_ns", r.waited_for_resources);
  out.member("open_accepts", r.open_accepts).member("open_puts", r.open_puts);
  add(out, "looked_ns", r.looked);
  out.key("waits_for").begin_array();
  for (const auto peer : r.named_waits())
    out.value(peer.value);
  out.end_array().member("waits_for_count", r.waits_for_count).end_object();
}

void write(json_writer& out, const communicator_report& c) {
  out.begin_object()
      .member("id", c.id.value)
      .member("epoch", c.epoch.value)
      .member("self", c.self.value)
      .member("size", c.size);
  if (c.members.empty()) {
    out.key("members").null();
  } else {
    out.key("members").begin_array();
    for (const auto member : c.members)
      out.value(member.value);
    out.end_array();
  }
  out.member("last_called", c.last_called)
      .member("last_started", c.last_started)
      .member("last_ended", c.last_ended)
      .member("calls_waiting", c.calls_waiting);
  add(out, "last_call_ns", c.last_call);
  add(out, "last_progress_ns", c.last_progress);
  out.member("failed", to_string(c.failed));
  add(out, "failed_peer", c.failed_peer);
  out.member("failure", c.failure).member("finalized", c.finalized).end_object();
}

void write(json_writer& out, const link_report& l) {
  out.begin_object()
      .member("peer", l.peer.value)
      .member("lanes_open", l.lanes_open)
      .member("lanes_wanted", l.lanes_wanted)
      .member("lanes_lost", l.lanes_lost);
  add(out, "last_heard_ns", l.last_heard);
  add(out, "last_sent_ns", l.last_sent);
  out.member("lost", l.lost)
      .member("waits_for_credit", l.waits_for_credit)
      .member("waits_for_budget", l.waits_for_budget);
  add(out, "looked_ns", l.looked);
  out.end_object();
}

void write(json_writer& out, const incident& i) {
  out.begin_object().member("kind", to_string(i.kind));
  add(out, "at_ns", i.at);
  add(out, "peer", i.peer);
  out.member("code", to_string(i.code)).member("text", i.text).end_object();
}

template <class Entry>
void write_all(json_writer& out, std::string_view name, const std::vector<Entry>& entries) {
  out.key(name).begin_array();
  for (const auto& one : entries)
    write(out, one);
  out.end_array();
}

// -- reading --------------------------------------------------------------------------------------

/// Reads members of one object; the first that does not fit is remembered.
class member_reader {
 public:
  member_reader(const json_value& from, std::string& wrong) : from_(from), wrong_(wrong) {}

  void read(std::string_view name, std::uint64_t& out) {
    take(name, [&](const json_value& v) {
      const auto n = v.count();
      return n ? (out = *n, true) : false;
    });
  }
  void read(std::string_view name, std::uint32_t& out) {
    std::uint64_t wide = out;
    read(name, wide);
    if (wide > UINT32_MAX) note(name);
    out = static_cast<std::uint32_t>(wide);
  }
  void read(std::string_view name, std::int64_t& out) {
    take(name, [&](const json_value& v) {
      const auto n = v.integer();
      return n ? (out = *n, true) : false;
    });
  }
  void read(std::string_view name, bool& out) {
    take(name, [&](const json_value& v) {
      const auto t = v.truth();
      return t ? (out = *t, true) : false;
    });
  }
  void read(std::string_view name, std::string& out) {
    take(name, [&](const json_value& v) {
      const auto t = v.text();
      return t ? (out = *t, true) : false;
    });
  }
  void read(std::string_view name, rank& out) { read(name, out.value); }
  void read(std::string_view name, instant& out) {
    std::int64_t ns = to_nanoseconds(out);
    read(name, ns);
    out = instant(duration(ns));
  }
  void read(std::string_view name, duration& out) {
    std::int64_t ns = out.count();
    read(name, ns);
    out = duration(ns);
  }

  /// A word that `to_string` gives for one of the values up to `last`.
  template <class Enum>
  requires std::is_enum_v<Enum>
  void read(std::string_view name, Enum& out, Enum last) {
    take(name, [&](const json_value& v) {
      const auto word = v.text();
      if (!word) return false;
      for (unsigned i = 0; i <= static_cast<unsigned>(last); ++i)
        if (to_string(static_cast<Enum>(i)) == *word) {
          out = static_cast<Enum>(i);
          return true;
        }
      return false;
    });
  }

  void read(std::string_view name, std::vector<rank>& out) {
    take(name, [&](const json_value& v) {
      if (v.what() != json_value::type::array) return false;
      for (const auto& item : v.items()) {
        const auto n = item.count();
        if (!n || *n > UINT32_MAX) return false;
        out.push_back(rank{static_cast<std::uint32_t>(*n)});
      }
      return true;
    });
  }

  template <class Entry, class Read>
  void read_all(std::string_view name, std::vector<Entry>& out, Read one) {
    take(name, [&](const json_value& v) {
      if (v.what() != json_value::type::array) return false;
      for (const auto& item : v.items())
        out.push_back(one(item, wrong_));
      return true;
    });
  }

 private:
  template <class Take>
  void take(std::string_view name, Take&& use) {
    const auto* found = from_.find(name);
    if (found == nullptr || found->what() == json_value::type::null) return;
    if (!use(*found)) note(name);
  }
  void note(std::string_view name) {
    if (wrong_.empty()) wrong_ = name;
  }

  const json_value& from_;
  std::string& wrong_;
};

operation_record read_operation(const json_value& from, std::string& wrong) {
  operation_record r;
  member_reader in(from, wrong);
  in.read("serial", r.serial);
  in.read("communicator", r.communicator.value);
  in.read("epoch", r.epoch.value);
  std::uint64_t number = 0;
  bool is_collective = true;
  in.read("number", number);
  in.read("is_collective", is_collective);
  in.read("self", r.self);
  in.read("peer", r.peer);
  in.read("operation", r.signature.kind, operation_kind::wait_notifications);
  in.read("type", r.signature.type, data_type::float8_e5m2);
  in.read("reduction", r.signature.op, reduction::premultiplied_sum);
  in.read("root", r.signature.root);
  in.read("count", r.signature.count);
  r.number = {number};
  if (!is_collective)
    r.number = is_one_sided(r.signature.kind)
                   ? one_sided_number(r.self, number, r.signature.kind == operation_kind::get)
                   : operation_number{number | point_to_point_mask};
  in.read("bytes", r.bytes);
  in.read("ranks", r.ranks);
  in.read("contributors", r.contributors);
  in.read("algorithm", r.algorithm, algorithm::ftar);
  in.read("lanes", r.lanes, lane_kind::copy_engine);
  in.read("reason", r.reason, choice_reason::many_ranks);
  in.read("threshold_bytes", r.threshold_bytes);
  in.read("phase", r.phase, operation_phase::past);
  in.read("failed", r.failed, last_errc);
  in.read("failed_peer", r.failed_peer);
  in.read("queued_ns", r.queued);
  in.read("started_ns", r.started);
  in.read("first_byte_ns", r.first_byte);
  in.read("last_byte_ns", r.last_byte);
  in.read("ended_ns", r.ended);
  in.read("deadline_ns", r.deadline);
  in.read("waited_for_peers_ns", r.waited_for_peers);
  in.read("waited_for_sending_ns", r.waited_for_sending);
  in.read("waited_for_resources_ns", r.waited_for_resources);
  in.read("open_accepts", r.open_accepts);
  in.read("open_puts", r.open_puts);
  in.read("looked_ns", r.looked);
  std::vector<rank> waits;
  in.read("waits_for", waits);
  for (std::size_t i = 0; i < waits.size() && i < named_wait_count; ++i)
    r.waits_for[i] = waits[i];
  in.read("waits_for_count", r.waits_for_count);
  return r;
}

communicator_report read_communicator(const json_value& from, std::string& wrong) {
  communicator_report c;
  member_reader in(from, wrong);
  in.read("id", c.id.value);
  in.read("epoch", c.epoch.value);
  in.read("self", c.self);
  in.read("size", c.size);
  in.read("members", c.members);
  // Members are looked up by number.
  if (!c.members.empty() && c.members.size() != c.size && wrong.empty()) wrong = "members";
  in.read("last_called", c.last_called);
  in.read("last_started", c.last_started);
  in.read("last_ended", c.last_ended);
  in.read("calls_waiting", c.calls_waiting);
  in.read("last_call_ns", c.last_call);
  in.read("last_progress_ns", c.last_progress);
  in.read("failed", c.failed, last_errc);
  in.read("failed_peer", c.failed_peer);
  in.read("failure", c.failure);
  in.read("finalized", c.finalized);
  return c;
}

link_report read_link(const json_value& from, std::string& wrong) {
  link_report l;
  member_reader in(from, wrong);
  in.read("peer", l.peer);
  in.read("lanes_open", l.lanes_open);
  in.read("lanes_wanted", l.lanes_wanted);
  in.read("lanes_lost", l.lanes_lost);
  in.read("last_heard_ns", l.last_heard);
  in.read("last_sent_ns", l.last_sent);
  in.read("lost", l.lost);
  in.read("waits_for_credit", l.waits_for_credit);
  in.read("waits_for_budget", l.waits_for_budget);
  in.read("looked_ns", l.looked);
  return l;
}

incident read_incident(const json_value& from, std::string& wrong) {
  incident i;
  member_reader in(from, wrong);
  in.read("kind", i.kind, incident_kind::peer_silent);
  in.read("at_ns", i.at);
  in.read("peer", i.peer);
  in.read("code", i.code, last_errc);
  in.read("text", i.text);
  return i;
}

}  // namespace

std::string to_json(const rank_dump& dump) {
  json_writer out;
  out.begin_object()
      .member("format", format_name)
      .member("version", rank_dump_version)
      .member("rank", dump.self.value)
      .member("world_size", dump.world_size)
      .member("job", hexadecimal(dump.job))
      .member("host", dump.host)
      .member("process", dump.process)
      .member("phase", to_string(dump.phase))
      .member("joining_detail", dump.joining_detail)
      .member("cause", dump.cause);
  add(out, "taken_at_ns", dump.taken_at);
  out.member("taken_at_unix_ns", dump.taken_at_unix_ns).member("complete", dump.complete);
  out.key("worker").begin_object();
  add(out, "last_round_ns", dump.worker.last_round);
  out.member("parked", dump.worker.parked).member("messages", dump.worker.messages).end_object();
  write_all(out, "communicators", dump.communicators);
  write_all(out, "operations", dump.operations);
  write_all(out, "links", dump.links);
  write_all(out, "incidents", dump.incidents);
  out.end_object();
  return out.take();
}

outcome<rank_dump> parse_rank_dump(std::string_view text) {
  const auto read = parse_json(text);
  if (!read) return fail(read.error());
  std::string wrong, format, job;
  member_reader in(*read, wrong);
  in.read("format", format);
  if (format != format_name)
    return fail(errc::malformed, "not a dump of a rank: \"format\" is not \"troupe-dump\"");
  std::uint32_t version = 0;
  in.read("version", version);
  if (version == 0 || version > rank_dump_version)
    return fail(errc::version_mismatch, "the dump has format version " + std::to_string(version) +
                                            "; this program reads 1 to " +
                                            std::to_string(rank_dump_version));
  rank_dump out;
  in.read("rank", out.self);
  in.read("world_size", out.world_size);
  in.read("job", job);
  std::from_chars(job.data(), job.data() + job.size(), out.job, 16);
  in.read("host", out.host);
  in.read("process", out.process);
  in.read("phase", out.phase, endpoint_phase::left);
  in.read("joining_detail", out.joining_detail);
  in.read("cause", out.cause);
  in.read("taken_at_ns", out.taken_at);
  in.read("taken_at_unix_ns", out.taken_at_unix_ns);
  in.read("complete", out.complete);
  if (const auto* worker = read->find("worker")) {
    member_reader of_worker(*worker, wrong);
    of_worker.read("last_round_ns", out.worker.last_round);
    of_worker.read("parked", out.worker.parked);
    of_worker.read("messages", out.worker.messages);
  }
  in.read_all("communicators", out.communicators, read_communicator);
  in.read_all("operations", out.operations, read_operation);
  in.read_all("links", out.links, read_link);
  in.read_all("incidents", out.incidents, read_incident);
  if (wrong.empty() && out.world_size > world_size_max) wrong = "world_size";
  if (!wrong.empty())
    return fail(errc::malformed, "the dump's \"" + wrong + "\" is not what it should be");
  return out;
}

}  // namespace troupe
