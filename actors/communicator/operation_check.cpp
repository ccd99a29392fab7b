#include "actors/communicator/operation_check.hpp"

#include <cstdint>
#include <string>
#include <utility>

#include "actors/communicator/exchange_check.hpp"

namespace troupe::actors {

namespace {

// Larger buffers cannot exist in a 47-bit address space; a count above is a conversion error.
constexpr std::uint64_t bytes_max = 1ull << 47;

tl::unexpected<failure> bad(std::string text) {
  return fail(errc::bad_argument, std::move(text));
}

struct shape {
  operation_kind kind;
  data_type type;
  std::uint64_t count;
  std::uint32_t blocks = 1;  ///< size of the communicator where one side has a block per rank
};

outcome<std::uint64_t> checked_bytes(const shape& s) {
  const auto element = size_of(s.type);
  const std::string call{to_string(s.kind)};
  if (element == 0)
    return bad(call + ": type " + std::to_string(static_cast<int>(s.type)) +
               " is not a data type of runtime/data_type.hpp");
  if (s.count > bytes_max / element / s.blocks)
    return bad(call + ": count " + std::to_string(s.count) + " of " +
               std::string(to_string(s.type)) + " is more than the " +
               std::to_string(bytes_max / element / s.blocks) + " that fit in memory");
  return s.count * element;
}

outcome<void> check_pointer(const char* call, const char* name, const void* pointer,
                            std::uint64_t bytes) {
  if (pointer == nullptr && bytes != 0)
    return bad(std::string(call) + ": `" + name + "` is null but the call moves " +
               std::to_string(bytes) + " bytes; pass a buffer, or count 0");
  return {};
}

outcome<void> check_rank(const char* call, const char* name, rank r, const check_context& c) {
  if (r.value >= c.size)
    return bad(std::string(call) + ": `" + name + "` is rank " + std::to_string(r.value) +
               ", the communicator has ranks 0 to " + std::to_string(c.size - 1));
  return {};
}

outcome<void> check_reduction(const char* call, reduction op) {
  if (static_cast<std::size_t>(op) >= reduction_count)
    return bad(std::string(call) + ": op " + std::to_string(static_cast<int>(op)) +
               " is not a reduction of runtime/data_type.hpp");
  return {};
}

outcome<duration> checked_timeout(const char* call, const operation_options& options,
                                  const check_context& c) {
  const auto timeout = options.timeout.value_or(c.default_timeout);
  if (timeout <= duration::zero())
    return bad(std::string(call) + ": timeout is " + std::to_string(timeout.count()) +
               " ns; it must be above 0");
  return timeout;
}

bool overlap(const operation_request& r) {
  if (r.send == nullptr || r.receive == nullptr) return false;
  const auto send = reinterpret_cast<std::uintptr_t>(r.send);
  const auto receive = reinterpret_cast<std::uintptr_t>(r.receive);
  if (r.send_bytes == 0 || r.receive_bytes == 0) return false;
  return send < receive + r.receive_bytes && receive < send + r.send_bytes;
}

/// The checks of all calls, overlap excepted.
outcome<operation_request> finish_apart(const char* call, operation_request r,
                                        const operation_options& options, const check_context& c) {
  if (auto ok = check_pointer(call, "send", r.send, r.send_bytes); !ok) return fail(ok.error());
  if (auto ok = check_pointer(call, "receive", r.receive, r.receive_bytes); !ok)
    return fail(ok.error());
  auto timeout = checked_timeout(call, options, c);
  if (!timeout) return fail(timeout.error());
  r.timeout = *timeout;
  r.algorithm = options.algorithm;
  r.epoch = c.epoch;
  return r;
}

outcome<operation_request> finish(const char* call, operation_request r,
                                  const operation_options& options, const check_context& c,
                                  const void* in_place_send) {
  r.in_place = r.send_bytes != 0 && r.send != nullptr && r.send == in_place_send;
  if (!r.in_place && overlap(r)) {
    if (r.signature.kind == operation_kind::all_to_all)
      return bad(
          "all_to_all: send and receive overlap; there is no in-place form, pass two buffers");
    return bad(std::string(call) + ": send and receive overlap without being the in-place form " +
               "that runtime/communicator.hpp describes");
  }
  return finish_apart(call, std::move(r), options, c);
}

const std::byte* at(const void* base, std::uint64_t offset) {
  return static_cast<const std::byte*>(base) + offset;
}

}  // namespace

outcome<operation_request> check(const all_reduce_arguments& a, const check_context& c) {
  const auto bytes = checked_bytes({operation_kind::all_reduce, a.type, a.count});
  if (!bytes) return fail(bytes.error());
  if (auto ok = check_reduction("all_reduce", a.op); !ok) return fail(ok.error());
  if (c.tolerant && a.options.algorithm.value_or(algorithm::ftar) != algorithm::ftar)
    return bad(
        "all_reduce: the communicator is fault-tolerant, where it runs ftar and nothing "
        "else; leave `algorithm` unset");
  return finish("all_reduce",
                {.signature = {operation_kind::all_reduce, a.type, a.op, 0, a.count},
                 .send = a.send,
                 .receive = a.receive,
                 .send_bytes = *bytes,
                 .receive_bytes = *bytes,
                 .scalar = a.scalar,
                 .is_promised = c.tolerant},
                a.options, c, a.receive);
}

outcome<operation_request> check(const all_gather_arguments& a, const check_context& c) {
  const auto bytes = checked_bytes({operation_kind::all_gather, a.type, a.count, c.size});
  if (!bytes) return fail(bytes.error());
  return finish("all_gather",
                {.signature = {operation_kind::all_gather, a.type, reduction::sum, 0, a.count},
                 .send = a.send,
                 .receive = a.receive,
                 .send_bytes = *bytes,
                 .receive_bytes = *bytes * c.size},
                a.options, c, at(a.receive, *bytes * to_index(c.self)));
}

outcome<operation_request> check(const reduce_scatter_arguments& a, const check_context& c) {
  const auto bytes = checked_bytes({operation_kind::reduce_scatter, a.type, a.count, c.size});
  if (!bytes) return fail(bytes.error());
  if (auto ok = check_reduction("reduce_scatter", a.op); !ok) return fail(ok.error());
  const bool in_place = a.receive == at(a.send, *bytes * to_index(c.self));
  return finish("reduce_scatter",
                {.signature = {operation_kind::reduce_scatter, a.type, a.op, 0, a.count},
                 .send = a.send,
                 .receive = a.receive,
                 .send_bytes = *bytes * c.size,
                 .receive_bytes = *bytes,
                 .scalar = a.scalar},
                a.options, c, in_place ? a.send : nullptr);
}

outcome<operation_request> check(const broadcast_arguments& a, const check_context& c) {
  const auto bytes = checked_bytes({operation_kind::broadcast, a.type, a.count});
  if (!bytes) return fail(bytes.error());
  if (auto ok = check_rank("broadcast", "root", a.root, c); !ok) return fail(ok.error());
  return finish(
      "broadcast",
      {.signature = {operation_kind::broadcast, a.type, reduction::sum, a.root.value, a.count},
       .receive = a.buffer,
       .receive_bytes = *bytes},
      a.options, c, nullptr);
}

outcome<operation_request> check(const send_arguments& a, const check_context& c) {
  const auto bytes = checked_bytes({operation_kind::send, a.type, a.count});
  if (!bytes) return fail(bytes.error());
  if (auto ok = check_rank("send", "peer", a.peer, c); !ok) return fail(ok.error());
  return finish("send",
                {.signature = {operation_kind::send, a.type, reduction::sum, 0, a.count},
                 .send = a.buffer,
                 .send_bytes = *bytes,
                 .peer = a.peer},
                a.options, c, nullptr);
}

outcome<operation_request> check(const receive_arguments& a, const check_context& c) {
  const auto bytes = checked_bytes({operation_kind::receive, a.type, a.count});
  if (!bytes) return fail(bytes.error());
  if (auto ok = check_rank("receive", "peer", a.peer, c); !ok) return fail(ok.error());
  return finish("receive",
                {.signature = {operation_kind::receive, a.type, reduction::sum, 0, a.count},
                 .receive = a.buffer,
                 .receive_bytes = *bytes,
                 .peer = a.peer},
                a.options, c, nullptr);
}

outcome<operation_request> check(const reduce_arguments& a, const check_context& c) {
  const auto bytes = checked_bytes({operation_kind::reduce, a.type, a.count});
  if (!bytes) return fail(bytes.error());
  if (auto ok = check_rank("reduce", "root", a.root, c); !ok) return fail(ok.error());
  if (auto ok = check_reduction("reduce", a.op); !ok) return fail(ok.error());
  const bool at_root = a.root == c.self;
  return finish("reduce",
                {.signature = {operation_kind::reduce, a.type, a.op, a.root.value, a.count},
                 .send = a.send,
                 .receive = at_root ? a.receive : nullptr,
                 .send_bytes = *bytes,
                 .receive_bytes = at_root ? *bytes : 0,
                 .scalar = a.scalar},
                a.options, c, at_root ? a.receive : nullptr);
}

outcome<operation_request> check(const gather_arguments& a, const check_context& c) {
  const auto bytes = checked_bytes({operation_kind::gather, a.type, a.count, c.size});
  if (!bytes) return fail(bytes.error());
  if (auto ok = check_rank("gather", "root", a.root, c); !ok) return fail(ok.error());
  const bool at_root = a.root == c.self;
  return finish(
      "gather",
      {.signature = {operation_kind::gather, a.type, reduction::sum, a.root.value, a.count},
       .send = a.send,
       .receive = at_root ? a.receive : nullptr,
       .send_bytes = *bytes,
       .receive_bytes = at_root ? *bytes * c.size : 0},
      a.options, c, at_root ? at(a.receive, *bytes * to_index(c.self)) : nullptr);
}

outcome<operation_request> check(const scatter_arguments& a, const check_context& c) {
  const auto bytes = checked_bytes({operation_kind::scatter, a.type, a.count, c.size});
  if (!bytes) return fail(bytes.error());
  if (auto ok = check_rank("scatter", "root", a.root, c); !ok) return fail(ok.error());
  const bool at_root = a.root == c.self;
  const bool in_place = at_root && a.receive == at(a.send, *bytes * to_index(c.self));
  return finish(
      "scatter",
      {.signature = {operation_kind::scatter, a.type, reduction::sum, a.root.value, a.count},
       .send = at_root ? a.send : nullptr,
       .receive = a.receive,
       .send_bytes = at_root ? *bytes * c.size : 0,
       .receive_bytes = *bytes},
      a.options, c, in_place ? a.send : nullptr);
}

outcome<operation_request> check(const all_to_all_arguments& a, const check_context& c) {
  const auto bytes = checked_bytes({operation_kind::all_to_all, a.type, a.count, c.size});
  if (!bytes) return fail(bytes.error());
  return finish("all_to_all",
                {.signature = {operation_kind::all_to_all, a.type, reduction::sum, 0, a.count},
                 .send = a.send,
                 .receive = a.receive,
                 .send_bytes = *bytes * c.size,
                 .receive_bytes = *bytes * c.size},
                a.options, c, nullptr);
}

outcome<operation_request> check(const all_to_all_v_arguments& a, const check_context& c) {
  auto exchange = check_blocks(a, c.self, c.size);
  if (!exchange) return fail(exchange.error());
  // The counts differ from rank to rank, so they are no part of what must be equal; each pair
  // compares its own (operation_plan.hpp).
  operation_request r{.signature = {operation_kind::all_to_all_v, a.type, reduction::sum, 0, 0},
                      .send = a.send,
                      .receive = a.receive,
                      .send_bytes = exchange->send_bytes,
                      .receive_bytes = exchange->receive_bytes};
  r.blocks = std::move(exchange->blocks);
  return finish_apart("all_to_all_v", std::move(r), a.options, c);
}

outcome<operation_request> check(const operation_options& options, const check_context& c) {
  return finish("barrier", {.signature = {operation_kind::barrier, data_type::uint8}}, options, c,
                nullptr);
}

namespace {

struct window_range {
  rank peer;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

outcome<void> check_range(const char* call, const window_range& r, const check_context& c,
                          const window_view& w) {
  if (auto ok = check_rank(call, "peer", r.peer, c); !ok) return ok;
  const auto there = w.parts[to_index(r.peer)].bytes;
  if (r.offset > there || r.bytes > there - r.offset)
    return bad(std::string(call) + ": " + std::to_string(r.bytes) + " bytes at offset " +
               std::to_string(r.offset) + " leave the window of rank " +
               std::to_string(r.peer.value) + ", which has " + std::to_string(there) + " bytes");
  return {};
}

outcome<void> check_no_algorithm(const char* call, const operation_options& options) {
  if (!options.algorithm) return {};
  return bad(std::string(call) + ": there is one way to do it; leave `algorithm` unset");
}

operation_signature window_signature(operation_kind kind, std::uint64_t count) {
  return {kind, data_type::uint8, reduction::sum, 0, count};
}

}  // namespace

outcome<operation_request> check(const window_put_arguments& a, const check_context& c,
                                 const window_view& w) {
  if (auto ok = check_range("put", {a.peer, a.offset, a.bytes}, c, w); !ok) return fail(ok.error());
  if (auto ok = check_no_algorithm("put", a.options); !ok) return fail(ok.error());
  operation_request request{.signature = window_signature(operation_kind::put, a.bytes),
                            .send = a.source,
                            .send_bytes = a.bytes,
                            .peer = a.peer};
  request.window = {w.number, {w.parts[to_index(a.peer)].key, a.offset}, a.notify};
  return finish("put", std::move(request), a.options, c, nullptr);
}

outcome<operation_request> check(const window_get_arguments& a, const check_context& c,
                                 const window_view& w) {
  if (auto ok = check_range("get", {a.peer, a.offset, a.bytes}, c, w); !ok) return fail(ok.error());
  if (auto ok = check_no_algorithm("get", a.options); !ok) return fail(ok.error());
  operation_request request{.signature = window_signature(operation_kind::get, a.bytes),
                            .receive = a.target,
                            .receive_bytes = a.bytes,
                            .peer = a.peer};
  request.window = {w.number, {0, a.offset}, false};
  return finish("get", std::move(request), a.options, c, nullptr);
}

outcome<operation_request> check(const notification_arguments& a, const check_context& c,
                                 const window_view& w) {
  if (auto ok = check_rank("wait_notifications", "peer", a.peer, c); !ok) return fail(ok.error());
  if (auto ok = check_no_algorithm("wait_notifications", a.options); !ok) return fail(ok.error());
  if (a.count == 0) return bad("wait_notifications: count is 0; wait for 1 at least");
  operation_request request{
      .signature = window_signature(operation_kind::wait_notifications, a.count), .peer = a.peer};
  request.window = {w.number, {}, false};
  return finish("wait_notifications", std::move(request), a.options, c, nullptr);
}

}  // namespace troupe::actors
