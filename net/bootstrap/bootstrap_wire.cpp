#include "net/bootstrap/bootstrap_wire.hpp"

#include <algorithm>

#include "net/bootstrap/detail/byte_cursor.hpp"

namespace troupe::net {

namespace {

using detail::as_bytes;
using detail::as_text;
using detail::byte_reader;
using detail::byte_writer;

// Each frame lists its fields once; these two write them and read them.

class field_writer {
 public:
  explicit field_writer(byte_writer& out) : out_(out) {}

  template <class Integer>
  void number(Integer& value) {
    out_.integer(value);
  }
  template <class Enum>
  void choice(Enum& value, bool (*)(Enum)) {
    out_.integer(static_cast<std::underlying_type_t<Enum>>(value));
  }
  void block(std::span<std::byte> value) { out_.bytes(value); }
  void tail(std::span<const std::byte>& value) { out_.bytes(value); }
  void text(std::string_view& value) {
    out_.bytes(as_bytes(value.substr(0, failure_text_bytes_max)));
  }
  void require(bool holds) { TROUPE_ASSERT(holds); }

 private:
  byte_writer& out_;
};

class field_reader {
 public:
  explicit field_reader(byte_reader& in) : in_(in) {}

  template <class Integer>
  void number(Integer& value) {
    in_.integer(value);
  }
  template <class Enum>
  void choice(Enum& value, bool (*valid)(Enum)) {
    std::underlying_type_t<Enum> raw{};
    in_.integer(raw);
    value = static_cast<Enum>(raw);
    require(valid(value));
  }
  void block(std::span<std::byte> value) { in_.bytes(value); }
  void tail(std::span<const std::byte>& value) { value = in_.rest(); }
  void text(std::string_view& value) { value = as_text(in_.rest()); }
  void require(bool holds) { valid_ = valid_ && holds; }

  bool complete() const { return valid_ && in_.finished(); }

 private:
  byte_reader& in_;
  bool valid_ = true;
};

bool is_purpose(connection_purpose p) {
  return p == connection_purpose::rendezvous || p == connection_purpose::ring ||
         p == connection_purpose::link || p == connection_purpose::lane;
}

bool is_verdict(handshake_status s) {
  return s <= handshake_status::wrong_lanes;
}

bool is_refusal(handshake_status s) {
  return s == handshake_status::unknown_format || s == handshake_status::bad_proof;
}

bool is_role(rendezvous_role r) {
  return r <= rendezvous_role::leader;
}

bool is_failure(errc code) {
  return code != errc::ok && to_string(code) != "unknown";
}

template <class Io>
void fields(Io& io, lane_address& a) {
  io.block(a.host);
  io.number(a.port);
}

template <class Io>
void fields(Io& io, hello_frame& f) {
  io.number(f.protocol_version);
  io.choice(f.purpose, is_purpose);
  io.number(f.lane);
  io.number(f.lane_count);
  io.number(f.dialer.value);
  io.number(f.acceptor.value);
  io.number(f.job);
  io.number(f.link_generation);
  io.number(f.link_instance);
  io.block(f.dialer_nonce);
}

template <class Io>
void fields(Io& io, challenge_frame& f) {
  io.number(f.acceptor.value);
  io.block(f.acceptor_nonce);
}

template <class Io>
void fields(Io& io, proof_frame& f) {
  io.block(f.mac);
}

template <class Io>
void fields(Io& io, verdict_frame& f) {
  io.choice(f.status, is_verdict);
  io.number(f.detail);
  io.block(f.mac);
}

template <class Io>
void fields(Io& io, refusal_frame& f) {
  io.choice(f.status, is_refusal);
}

template <class Io>
void fields(Io& io, register_frame& f) {
  io.number(f.self.value);
  io.number(f.world_size);
  io.choice(f.role, is_role);
  io.number(f.host_id);
  io.number(f.instance);
  io.number(f.digest);
  io.number(f.patience_microseconds);
  fields(io, f.address);
}

template <class Io>
void fields(Io& io, redirect_frame& f) {
  io.number(f.leader.value);
  fields(io, f.address);
}

template <class Io>
void fields(Io&, retry_frame&) {}

template <class Io>
void fields(Io& io, options_wanted_frame& f) {
  io.number(f.first);
}

template <class Io>
void fields(Io& io, options_page_frame& f) {
  io.number(f.first);
  io.number(f.total);
  io.number(f.count);
  io.tail(f.text);
}

template <class Io>
void fields(Io& io, assigned_frame& f) {
  io.number(f.successor.value);
  fields(io, f.address);
}

template <class Io>
void fields(Io&, group_complete_frame&) {}

template <class Io>
void fields(Io& io, group_missing_frame& f) {
  io.text(f.text);
}

template <class Io>
void fields(Io& io, failed_frame& f) {
  io.choice(f.code, is_failure);
  io.number(f.native);
  io.number(f.peer.value);
  io.text(f.text);
}

template <class Io>
void fields(Io&, ring_open_frame&) {}

template <class Io>
void fields(Io& io, book_page_frame& f) {
  io.number(f.block);
  io.number(f.count);
  io.tail(f.entries);
  io.require(f.count >= 1 && f.count <= page_entry_count);
  io.require(f.entries.size() == f.count * book_entry_wire_bytes);
}

template <class Io>
void fields(Io& io, ring_ack_frame& f) {
  io.number(f.received_count);
}

template <class Io>
void fields(Io& io, deaths_frame& f) {
  io.number(f.count);
  io.tail(f.ranks);
  io.require(f.count >= 1 && f.count <= deaths_per_frame);
  io.require(f.ranks.size() == f.count * sizeof(std::uint32_t));
}

template <class Io>
void fields(Io&, leaving_frame&) {}

template <std::size_t Type>
result<bootstrap_frame> decode_as(byte_reader& in, std::uint8_t type) {
  if constexpr (Type < std::variant_size_v<bootstrap_frame>) {
    if (type != Type + 1) return decode_as<Type + 1>(in, type);
    std::variant_alternative_t<Type, bootstrap_frame> frame;
    field_reader io(in);
    fields(io, frame);
    if (!io.complete()) return fail(errc::malformed);
    return bootstrap_frame{frame};
  } else {
    return fail(errc::malformed);
  }
}

}  // namespace

std::uint16_t encode_bootstrap_frame(const bootstrap_frame& frame, bootstrap_frame_span out) {
  byte_writer body(out.subspan<bootstrap_header_bytes>());
  std::visit(
      [&](auto copy) {
        field_writer io(body);
        fields(io, copy);
      },
      frame);
  const auto length = static_cast<std::uint16_t>(bootstrap_header_bytes + body.written_bytes());
  byte_writer header(out.first<bootstrap_header_bytes>());
  header.bytes(bootstrap_magic);
  header.integer(bootstrap_format);
  header.integer(static_cast<std::uint8_t>(frame.index() + 1));
  header.integer(length);
  return length;
}

frame_origin origin_of(std::span<const std::byte> bytes) {
  if (bytes.size() <= bootstrap_magic.size()) return frame_origin::stranger;
  if (!std::equal(bootstrap_magic.begin(), bootstrap_magic.end(), bytes.begin()))
    return frame_origin::stranger;
  return bytes[bootstrap_magic.size()] == std::byte{bootstrap_format} ? frame_origin::ours
                                                                      : frame_origin::other_format;
}

result<bootstrap_frame> decode_bootstrap_frame(std::span<const std::byte> bytes) {
  if (origin_of(bytes) != frame_origin::ours) return fail(errc::malformed);
  if (bytes.size() > lane_message_bytes_max) return fail(errc::malformed);
  byte_reader in(bytes.subspan(bootstrap_magic.size() + 1));
  std::uint8_t type = 0;
  std::uint16_t length = 0;
  in.integer(type);
  in.integer(length);
  if (!in.good() || length != bytes.size()) return fail(errc::malformed);
  return decode_as<0>(in, type);
}

book_entry entry_at(const book_page_frame& page, std::size_t index) {
  byte_reader in(page.entries.subspan(index * book_entry_wire_bytes, book_entry_wire_bytes));
  book_entry entry;
  in.bytes(entry.address.host);
  in.integer(entry.address.port);
  in.integer(entry.place.data_center);
  in.integer(entry.place.zone);
  in.integer(entry.place.rack);
  in.integer(entry.place.host);
  return entry;
}

void write_entry(const book_entry& entry, std::span<std::byte, book_entry_wire_bytes> out) {
  byte_writer writer(out);
  writer.bytes(entry.address.host);
  writer.integer(entry.address.port);
  writer.integer(entry.place.data_center);
  writer.integer(entry.place.zone);
  writer.integer(entry.place.rack);
  writer.integer(entry.place.host);
}

rank rank_at(const deaths_frame& frame, std::size_t index) {
  byte_reader in(frame.ranks.subspan(index * sizeof(std::uint32_t), sizeof(std::uint32_t)));
  rank r;
  in.integer(r.value);
  return r;
}

void write_rank(rank r, std::span<std::byte, 4> out) {
  byte_writer writer(out);
  writer.integer(r.value);
}

options_page_frame options_page_of(std::span<const must_agree_option> options, std::uint16_t first,
                                   bootstrap_frame_span out) {
  constexpr std::size_t room_bytes = lane_message_bytes_max - bootstrap_header_bytes - 6;
  options_page_frame page{.first = first, .total = static_cast<std::uint16_t>(options.size())};
  byte_writer writer(out.first<room_bytes>());
  for (std::size_t i = first; i < options.size(); ++i) {
    const auto name = std::string_view(options[i].name).substr(0, option_name_bytes_max);
    const auto value = std::string_view(options[i].value).substr(0, option_value_bytes_max);
    if (writer.written_bytes() + 2 + name.size() + value.size() > room_bytes) break;
    writer.integer(static_cast<std::uint8_t>(name.size()));
    writer.bytes(as_bytes(name));
    writer.integer(static_cast<std::uint8_t>(value.size()));
    writer.bytes(as_bytes(value));
    ++page.count;
  }
  page.text = out.first(writer.written_bytes());
  return page;
}

bool options_reader::next_text(std::string_view& out) {
  if (rest_.empty()) return false;
  const auto length = std::to_integer<std::size_t>(rest_[0]);
  if (length >= rest_.size()) return false;
  out = as_text(rest_.subspan(1, length));
  rest_ = rest_.subspan(1 + length);
  return true;
}

bool options_reader::next(std::string_view& name, std::string_view& value) {
  if (left_ == 0 || !next_text(name) || !next_text(value)) return false;
  --left_;
  return true;
}

std::uint64_t digest_of(std::span<const must_agree_option> options) {
  std::uint64_t digest = 0xcbf2'9ce4'8422'2325ull;
  const auto add = [&digest](std::string_view text) {
    // The length goes in as well: ("ab", "c") and ("a", "bc") are different lists.
    const std::uint64_t length = text.size();
    for (int i = 0; i < 8; ++i)
      digest = (digest ^ (length >> (8 * i) & 0xff)) * 0x100'0000'01b3ull;
    for (const char c : text)
      digest = (digest ^ static_cast<unsigned char>(c)) * 0x100'0000'01b3ull;
  };
  for (const auto& option : options) {
    add(option.name);
    add(option.value);
  }
  return digest;
}

}  // namespace troupe::net
