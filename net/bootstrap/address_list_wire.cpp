#include "net/bootstrap/address_list_wire.hpp"

#include <algorithm>
#include <array>

#include "net/bootstrap/bootstrap_wire.hpp"
#include "net/bootstrap/detail/byte_cursor.hpp"

namespace troupe::net {

namespace {

constexpr std::array<std::byte, 4> magic{std::byte{'T'}, std::byte{'R'}, std::byte{'P'},
                                         std::byte{'A'}};
constexpr std::uint8_t version = 1;
constexpr std::uint8_t wants_book_flag = 1;
constexpr std::size_t header_bytes = 12;
constexpr std::size_t entry_bytes = 4 + book_entry_wire_bytes;

}  // namespace

std::vector<std::byte> encode(const address_list& list) {
  const auto count = std::min<std::size_t>(list.entries.size(), address_list_count_max);
  std::vector<std::byte> out(header_bytes + count * entry_bytes);
  detail::byte_writer writer(out);
  writer.bytes(magic);
  writer.integer(version);
  writer.integer(list.wants_book ? wants_book_flag : std::uint8_t{0});
  writer.integer(std::uint16_t{0});
  writer.integer(static_cast<std::uint32_t>(count));
  for (std::size_t i = 0; i < count; ++i) {
    writer.integer(list.entries[i].who.value);
    std::array<std::byte, book_entry_wire_bytes> where{};
    write_entry(list.entries[i].where, where);
    writer.bytes(where);
  }
  return out;
}

bool is_address_list(std::span<const std::byte> bytes) {
  return bytes.size() >= header_bytes && std::equal(magic.begin(), magic.end(), bytes.begin());
}

result<address_list> decode_address_list(std::span<const std::byte> bytes) {
  if (!is_address_list(bytes)) return fail(errc::malformed);
  detail::byte_reader in(bytes.subspan(magic.size()));
  std::uint8_t from = 0, flags = 0;
  std::uint16_t reserved = 0;
  std::uint32_t count = 0;
  in.integer(from);
  in.integer(flags);
  in.integer(reserved);
  in.integer(count);
  if (from != version) return fail(errc::version_mismatch);
  const bool fits = count <= address_list_count_max &&
                    bytes.size() == header_bytes + std::size_t{count} * entry_bytes;
  if (flags > wants_book_flag || reserved != 0 || !fits) return fail(errc::malformed);
  address_list out{.wants_book = flags != 0, .entries = {}};
  out.entries.resize(count);
  for (auto& one : out.entries) {
    in.integer(one.who.value);
    one.where = entry_at({.block = 0, .count = 1, .entries = in.take(book_entry_wire_bytes)}, 0);
  }
  return out;
}

}  // namespace troupe::net
