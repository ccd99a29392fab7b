#include "net/wire/control_wire.hpp"

#include <optional>

#include "net/wire/transfer_wire.hpp"

namespace troupe::net {

namespace {

// -- writing --------------------------------------------------------------------------------------

void put(byte_writer& out, const hello_body& body) {
  out.put(body.lane);
  out.put(body.generation);
  out.put(body.eager_key);
  out.put(body.eager_slot_count);
  out.put(body.eager_bytes_max);
  out.put(body.segment_bytes);
  out.put(body.window_segment_count);
  out.put(body.transfer_count_max);
  out.put(body.data_lane_count);
  out.put(body.first_sequence.value);
}

void put(byte_writer& out, const lane_life& life) {
  out.put(life.lane);
  out.put(life.sender_generation);
  out.put(life.receiver_generation);
}

void put(byte_writer& out, const lane_reset_body& body) {
  out.put(static_cast<std::uint8_t>(body.lives.size()));
  for (const auto& life : body.lives)
    put(out, life);
}

void put(byte_writer&, const acknowledge_body&) {}

void put(byte_writer&, const probe_body&) {}

void put(byte_writer& out, const ready_body& body) {
  encode(out, body.id);
  encode(out, body.signature);
  out.put(body.bytes);
  out.put(body.key);
}

void put(byte_writer& out, const request_body& body) {
  encode(out, body.id);
  encode(out, body.signature);
  out.put(body.bytes);
}

void put(byte_writer& out, const begin_body& body) {
  out.put(body.channel);
  encode(out, body.id);
  out.put(body.bytes);
}

void put(byte_writer& out, const grant_body& body) {
  out.put(body.slot);
  encode(out, body.id);
}

void put(byte_writer& out, const decline_body& body) {
  out.put(body.slot);
}

void put(byte_writer& out, const refuse_body& body) {
  encode(out, body.id);
  out.put(static_cast<std::uint8_t>(body.side));
  encode(out, body.signature);
}

void put(byte_writer& out, const cancel_body& body) {
  out.put(body.communicator.value);
  out.put(body.epoch.value);
  out.put(body.operation.value);
}

void put(byte_writer& out, const lane_fenced_body& body) {
  TROUPE_ASSERT(body.arrived.size() == (body.count + 7u) / 8u);
  TROUPE_ASSERT(body.arrived.size() <= fence_page_bytes_max);
  put(out, body.life);
  out.put(body.from.value);
  out.put(body.count);
  out.put(static_cast<std::uint8_t>(body.last ? 1 : 0));
  out.put_bytes(body.arrived);
}

void put(byte_writer& out, const notice_body& body) {
  TROUPE_ASSERT(body.bytes.size() <= notice_bytes_max);
  out.put(static_cast<std::uint8_t>(body.bytes.size()));
  out.put_bytes(body.bytes);
}

// -- reading: an empty optional is malformed ------------------------------------------------------

std::optional<control_body> read_hello(byte_reader& in) {
  hello_body body;
  body.lane = in.get<std::uint8_t>();
  body.generation = in.get<std::uint32_t>();
  body.eager_key = in.get<std::uint64_t>();
  body.eager_slot_count = in.get<std::uint32_t>();
  body.eager_bytes_max = in.get<std::uint64_t>();
  body.segment_bytes = in.get<std::uint64_t>();
  body.window_segment_count = in.get<std::uint32_t>();
  body.transfer_count_max = in.get<std::uint32_t>();
  body.data_lane_count = in.get<std::uint32_t>();
  body.first_sequence.value = in.get<std::uint32_t>();
  if (body.lane >= lane_count_max) return {};
  if (body.generation == 0) return {};
  if (body.first_sequence.value > sequence_mask) return {};
  return body;
}

bool read_life(byte_reader& in, lane_life& life) {
  life.lane = in.get<std::uint8_t>();
  life.sender_generation = in.get<std::uint32_t>();
  life.receiver_generation = in.get<std::uint32_t>();
  return !in.failed() && life.lane < lane_count_max;
}

std::optional<control_body> read_lane_reset(byte_reader& in) {
  lane_reset_body body;
  const auto count = in.get<std::uint8_t>();
  if (count > lane_count_max) return {};
  for (std::size_t i = 0; i < count; ++i) {
    lane_life life;
    if (!read_life(in, life)) return {};
    body.lives.push_back(life);
  }
  return body;
}

std::optional<control_body> read_ready(byte_reader& in) {
  ready_body body;
  body.id = decode_transfer_id(in);
  if (!decode_signature(in, body.signature)) return {};
  body.bytes = in.get<std::uint64_t>();
  body.key = in.get<std::uint64_t>();
  return body;
}

std::optional<control_body> read_request(byte_reader& in) {
  request_body body;
  body.id = decode_transfer_id(in);
  if (!decode_signature(in, body.signature)) return {};
  body.bytes = in.get<std::uint64_t>();
  return body;
}

std::optional<control_body> read_begin(byte_reader& in) {
  begin_body body;
  body.channel = in.get<std::uint8_t>();
  body.id = decode_transfer_id(in);
  body.bytes = in.get<std::uint64_t>();
  if (body.channel >= channel_count) return {};
  return body;
}

std::optional<control_body> read_grant(byte_reader& in) {
  grant_body body;
  body.slot = in.get<std::uint8_t>();
  body.id = decode_transfer_id(in);
  if (body.slot >= channel_count) return {};
  return body;
}

std::optional<control_body> read_decline(byte_reader& in) {
  decline_body body;
  body.slot = in.get<std::uint8_t>();
  if (body.slot >= channel_count) return {};
  return body;
}

std::optional<control_body> read_refuse(byte_reader& in) {
  refuse_body body;
  body.id = decode_transfer_id(in);
  const auto side = in.get<std::uint8_t>();
  if (side > static_cast<std::uint8_t>(transfer_side::accept)) return {};
  body.side = static_cast<transfer_side>(side);
  if (!decode_signature(in, body.signature)) return {};
  return body;
}

std::optional<control_body> read_cancel(byte_reader& in) {
  cancel_body body;
  body.communicator.value = in.get<std::uint32_t>();
  body.epoch.value = in.get<std::uint32_t>();
  body.operation.value = in.get<std::uint64_t>();
  return body;
}

std::optional<control_body> read_lane_fenced(byte_reader& in) {
  lane_fenced_body body;
  if (!read_life(in, body.life)) return {};
  body.from.value = in.get<std::uint32_t>();
  body.count = in.get<std::uint16_t>();
  const auto last = in.get<std::uint8_t>();
  if (body.from.value > sequence_mask) return {};
  if (last > 1) return {};
  body.last = last == 1;
  const std::size_t page_bytes = (body.count + 7u) / 8u;
  if (page_bytes > fence_page_bytes_max) return {};
  body.arrived = in.get_bytes(page_bytes);
  return body;
}

std::optional<control_body> read_notice(byte_reader& in) {
  const auto length = in.get<std::uint8_t>();
  if (length > notice_bytes_max) return {};
  return notice_body{in.get_bytes(length)};
}

std::optional<control_body> read_body(control_kind kind, byte_reader& in) {
  switch (kind) {
    case control_kind::hello: return read_hello(in);
    case control_kind::lane_reset: return read_lane_reset(in);
    case control_kind::acknowledge: return acknowledge_body{};
    case control_kind::ready: return read_ready(in);
    case control_kind::request: return read_request(in);
    case control_kind::begin: return read_begin(in);
    case control_kind::grant: return read_grant(in);
    case control_kind::decline: return read_decline(in);
    case control_kind::refuse: return read_refuse(in);
    case control_kind::cancel: return read_cancel(in);
    case control_kind::lane_fenced: return read_lane_fenced(in);
    case control_kind::notice: return read_notice(in);
    case control_kind::probe: return probe_body{};
  }
  return {};
}

}  // namespace

control_kind kind_of(const control_body& body) {
  static_assert(std::variant_size_v<control_body> == 13, "one kind per body, in the same order");
  return static_cast<control_kind>(body.index() + 1);
}

std::size_t encode(const control_body& body, std::span<std::byte, control_body_bytes_max> out) {
  byte_writer writer(out);
  std::visit([&](const auto& b) { put(writer, b); }, body);
  return writer.written();
}

void encode(control_kind kind, const control_header& header,
            std::span<std::byte, control_header_bytes> out) {
  byte_writer writer(out);
  writer.put(link_wire_version);
  writer.put(static_cast<std::uint8_t>(kind));
  writer.put(std::uint16_t{0});
  writer.put(header.number);
  writer.put(header.control_acknowledged);
  writer.put(header.data_acknowledged.value);
  writer.put(header.slots_consumed);
}

result<control_message> decode_control(std::span<const std::byte> bytes) {
  byte_reader in(bytes);
  const auto version = in.get<std::uint8_t>();
  if (in.failed()) return fail(errc::malformed);
  if (version != link_wire_version) return fail(errc::version_mismatch);
  const auto kind = static_cast<control_kind>(in.get<std::uint8_t>());
  const auto reserved = in.get<std::uint16_t>();
  control_message message;
  message.header.number = in.get<std::uint32_t>();
  message.header.control_acknowledged = in.get<std::uint32_t>();
  message.header.data_acknowledged.value = in.get<std::uint32_t>();
  message.header.slots_consumed = in.get<std::uint32_t>();
  if (reserved != 0) return fail(errc::malformed);
  if (message.header.data_acknowledged.value > sequence_mask) return fail(errc::malformed);
  const auto body = read_body(kind, in);
  if (!body) return fail(errc::malformed);
  if (!in.complete()) return fail(errc::malformed);
  message.body = *body;
  return message;
}

}  // namespace troupe::net
