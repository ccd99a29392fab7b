#include "runtime/cli/pickle_writer.hpp"

#include <bit>
#include <utility>

namespace troupe::cli {
namespace {

// Opcodes, by the names they have in pickletools.
constexpr char op_proto = '\x80', op_stop = '.', op_mark = '(', op_empty_dict = '}';
constexpr char op_setitems = 'u', op_empty_list = ']', op_appends = 'e', op_tuple2 = '\x86';
constexpr char op_binunicode = 'X', op_long1 = '\x8a', op_binfloat = 'G';
constexpr char op_newtrue = '\x88', op_newfalse = '\x89', op_none = 'N';

constexpr char protocol = 2;

void append_little_endian(std::string& out, std::uint64_t number, unsigned byte_count) {
  for (unsigned i = 0; i < byte_count; ++i)
    out += static_cast<char>(number >> (8 * i) & 0xff);
}

}  // namespace

pickle_writer::pickle_writer() : bytes_{op_proto, protocol} {}

void pickle_writer::begin_dict() {
  bytes_ += op_empty_dict;
  bytes_ += op_mark;
}

void pickle_writer::end_dict() {
  bytes_ += op_setitems;
}

void pickle_writer::begin_list() {
  bytes_ += op_empty_list;
  bytes_ += op_mark;
}

void pickle_writer::end_list() {
  bytes_ += op_appends;
}

void pickle_writer::end_pair() {
  bytes_ += op_tuple2;
}

void pickle_writer::value(std::string_view text) {
  bytes_ += op_binunicode;
  append_little_endian(bytes_, text.size(), 4);
  bytes_ += text;
}

void pickle_writer::value(std::int64_t number) {
  // Eight bytes of two's complement hold every number there is here.
  bytes_ += op_long1;
  bytes_ += '\x08';
  append_little_endian(bytes_, static_cast<std::uint64_t>(number), 8);
}

void pickle_writer::value(double number) {
  bytes_ += op_binfloat;
  const auto bits = std::bit_cast<std::uint64_t>(number);
  for (int shift = 56; shift >= 0; shift -= 8)
    bytes_ += static_cast<char>(bits >> shift & 0xff);
}

void pickle_writer::value(bool truth) {
  bytes_ += truth ? op_newtrue : op_newfalse;
}

void pickle_writer::none() {
  bytes_ += op_none;
}

std::string pickle_writer::take() {
  bytes_ += op_stop;
  return std::move(bytes_);
}

}  // namespace troupe::cli
