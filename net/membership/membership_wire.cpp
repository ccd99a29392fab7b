#include "net/membership/membership_wire.hpp"

#include <array>

#include "net/wire/byte_codec.hpp"

namespace troupe::net {

namespace {

constexpr std::array<std::byte, 4> magic{std::byte{'T'}, std::byte{'R'}, std::byte{'P'},
                                         std::byte{'M'}};

// Each frame lists its fields once; these two write them and read them.

class field_writer {
 public:
  explicit field_writer(std::vector<std::byte>& out) : out_(out) {}

  template <class Integer>
  void number(Integer& value) {
    const auto bits = static_cast<std::uint64_t>(value);
    for (std::size_t i = 0; i < sizeof(Integer); ++i)
      out_.push_back(static_cast<std::byte>(bits >> (8 * i)));
  }
  void flag(bool& value) {
    std::uint8_t raw = value ? 1 : 0;
    number(raw);
  }
  void code(errc& value) {
    auto raw = static_cast<std::uint16_t>(value);
    number(raw);
  }
  template <class Item>
  std::uint32_t count(std::vector<Item>& list) {
    auto length = static_cast<std::uint32_t>(list.size());
    TROUPE_ASSERT(length <= membership_list_count_max);
    number(length);
    return length;
  }
  void require(bool holds) { TROUPE_ASSERT(holds); }

 private:
  std::vector<std::byte>& out_;
};

class field_reader {
 public:
  explicit field_reader(byte_reader& in) : in_(in) {}

  template <class Integer>
  void number(Integer& value) {
    value = in_.get<Integer>();
  }
  void flag(bool& value) {
    const auto raw = in_.get<std::uint8_t>();
    require(raw <= 1);
    value = raw == 1;
  }
  void code(errc& value) {
    value = static_cast<errc>(in_.get<std::uint16_t>());
    require(to_string(value) != "unknown");
  }
  /// Makes room for what the frame says, as far as the frame can hold it.
  template <class Item>
  std::uint32_t count(std::vector<Item>& list) {
    const auto length = in_.get<std::uint32_t>();
    const bool fits = length <= membership_list_count_max && length <= in_.left() / 4;
    require(fits);
    list.resize(fits ? length : 0);
    return fits ? length : 0;
  }
  void require(bool holds) { valid_ = valid_ && holds; }

  bool complete() const { return valid_ && in_.complete(); }

 private:
  byte_reader& in_;
  bool valid_ = true;
};

template <class Io>
void fields(Io& io, ballot& b) {
  io.number(b.round);
  io.number(b.leader.value);
}

template <class Io>
void fields(Io& io, member_list& list) {
  io.count(list);
  for (auto& one : list)
    io.number(one.value);
  for (std::size_t i = 1; i < list.size(); ++i)
    io.require(list[i - 1] < list[i]);
}

template <class Io>
void fields(Io& io, operation_progress& progress) {
  io.number(progress.completed_through);
  io.number(progress.called_through);
  io.code(progress.failed);
}

template <class Io>
void fields(Io& io, epoch_record& record) {
  io.number(record.number.value);
  fields(io, record.members);
  io.count(record.processes);
  for (auto& process : record.processes)
    io.number(process);
  io.require(record.processes.size() == record.members.size());
  fields(io, record.guests);
  fields(io, record.unproven);
  fields(io, record.doubted);
  io.count(record.admitted);
  for (auto& one : record.admitted) {
    io.number(one.token);
    io.number(one.member.value);
  }
  io.number(record.next_member.value);
  fields(io, record.decided);
  for (const auto guest : record.guests)
    io.require(contains(record.members, guest));
  io.require(!record.members.empty() && record.members.back() < record.next_member);
}

template <class Io>
void fields(Io&, prepare_frame&) {}

template <class Io>
void fields(Io&, accept_frame&) {}

template <class Io>
void fields(Io& io, report_frame& f) {
  fields(io, f.progress);
  fields(io, f.accepted_in);
  io.flag(f.entered);
  bool has = f.accepted.has_value();
  io.flag(has);
  if (has && !f.accepted) f.accepted.emplace();
  if (has) fields(io, *f.accepted);
  io.require(has || (f.accepted_in.round == 0 && !f.entered));
}

template <class Io>
void fields(Io& io, propose_frame& f) {
  fields(io, f.next);
}

template <class Io>
void fields(Io& io, commit_frame& f) {
  fields(io, f.next);
}

template <class Io>
void fields(Io& io, alarm_frame& f) {
  io.count(f.accusations);
  for (auto& one : f.accusations) {
    io.number(one.accused.value);
    io.number(one.by.value);
  }
  for (std::size_t i = 1; i < f.accusations.size(); ++i)
    io.require(f.accusations[i - 1] < f.accusations[i]);
  fields(io, f.dead);
  io.count(f.tokens);
  for (auto& token : f.tokens)
    io.number(token);
  io.flag(f.decision_wanted);
}

template <class Io>
void fields(Io& io, left_frame& f) {
  io.code(f.why);
}

template <class Io>
void fields(Io& io, join_frame& f) {
  io.number(f.token);
}

template <class Io>
void header_fields(Io& io, membership_frame& f) {
  io.number(f.communicator.value);
  io.number(f.epoch.value);
  io.number(f.sender.value);
  fields(io, f.in);
}

template <std::size_t Type>
bool read_body(std::size_t type, field_reader& in, membership_body& body) {
  if constexpr (Type < std::variant_size_v<membership_body>) {
    if (type != Type) return read_body<Type + 1>(type, in, body);
    fields(in, body.emplace<Type>());
    return true;
  }
  return false;
}

}  // namespace

void encode(const membership_frame& frame, std::vector<std::byte>& out) {
  out.assign(magic.begin(), magic.end());
  field_writer io(out);
  std::uint8_t version = membership_version;
  auto type = static_cast<std::uint8_t>(frame.body.index() + 1);
  std::uint16_t reserved = 0;
  std::uint32_t length = 0;
  io.number(version);
  io.number(type);
  io.number(reserved);
  io.number(length);
  membership_frame copy = frame;  // the field lists read and write, so they want no const
  header_fields(io, copy);
  std::visit([&](auto& body) { fields(io, body); }, copy.body);
  for (std::size_t i = 0; i < 4; ++i)
    out[8 + i] = static_cast<std::byte>(out.size() >> (8 * i));
}

result<communicator_id> communicator_of(std::span<const std::byte> bytes) {
  if (bytes.size() < membership_header_bytes) return fail(errc::malformed);
  byte_reader reader(bytes);
  const auto front = reader.get_bytes(magic.size());
  if (!std::equal(front.begin(), front.end(), magic.begin())) return fail(errc::malformed);
  if (reader.get<std::uint8_t>() != membership_version) return fail(errc::version_mismatch);
  reader.get_bytes(7);  // type, zero and length
  return communicator_id{reader.get<std::uint32_t>()};
}

result<membership_frame> decode_membership(std::span<const std::byte> bytes) {
  if (bytes.size() < membership_header_bytes) return fail(errc::malformed);
  byte_reader reader(bytes);
  const auto front = reader.get_bytes(magic.size());
  if (!std::equal(front.begin(), front.end(), magic.begin())) return fail(errc::malformed);
  if (reader.get<std::uint8_t>() != membership_version) return fail(errc::version_mismatch);
  const std::size_t type = reader.get<std::uint8_t>();
  if (reader.get<std::uint16_t>() != 0) return fail(errc::malformed);
  if (reader.get<std::uint32_t>() != bytes.size()) return fail(errc::malformed);
  membership_frame frame;
  field_reader io(reader);
  header_fields(io, frame);
  if (type == 0 || !read_body<0>(type - 1, io, frame.body)) return fail(errc::malformed);
  if (!io.complete()) return fail(errc::malformed);
  return frame;
}

}  // namespace troupe::net
