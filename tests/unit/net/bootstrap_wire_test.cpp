#define BOOST_TEST_MODULE bootstrap_wire
#include "net/bootstrap/bootstrap_wire.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/random.hpp"

using namespace troupe;
using namespace troupe::net;

namespace {

using bytes = std::vector<std::byte>;

// "01 02*3" is 01 02 02 02; spaces are for the reader.
bytes from_hex(std::string_view text) {
  bytes out;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == ' ') {
      ++i;
      continue;
    }
    if (text[i] == '*') {
      const auto count = std::stoul(std::string(text.substr(i + 1, 2)));
      out.insert(out.end(), count - 1, out.back());
      i += 3;
      continue;
    }
    out.push_back(static_cast<std::byte>(std::stoul(std::string(text.substr(i, 2)), nullptr, 16)));
    i += 2;
  }
  return out;
}

bytes encoded(const bootstrap_frame& frame) {
  std::array<std::byte, lane_message_bytes_max> out{};
  const auto length = encode_bootstrap_frame(frame, out);
  return {out.begin(), out.begin() + length};
}

template <class T>
std::array<std::byte, 32> filled(T value) {
  std::array<std::byte, 32> out{};
  out.fill(static_cast<std::byte>(value));
  return out;
}

lane_address loopback() {
  lane_address a;
  a.host[10] = a.host[11] = std::byte{0xff};
  a.host[12] = std::byte{127};
  a.host[15] = std::byte{1};
  a.port = 4711;
  return a;
}

struct golden {
  bootstrap_frame frame;
  std::string_view hex;
};

// Spans of the frames point at these.
const bytes option_text = from_hex("01 61 02 62 63");
const bytes one_entry =
    from_hex("00*10 ff ff 7f 00 00 01 67 12 0a 00 00 00 0b 00 00 00 0c 00 00 00 09 00 00 00");
const bytes two_ranks = from_hex("01 00 00 00 02 01 00 00");

std::vector<golden> all_frames() {
  return {
      {hello_frame{.protocol_version = 1,
                   .purpose = connection_purpose::ring,
                   .lane = 3,
                   .lane_count = 4,
                   .dialer = rank{5},
                   .acceptor = rank{6},
                   .job = 0x1122334455667788,
                   .link_generation = 7,
                   .link_instance = 0x99,
                   .dialer_nonce = filled(0xaa)},
       "54525042 01 01 4900 0100 02 03 04 05000000 06000000 8877665544332211 07000000 "
       "9900000000000000 aa*32"},
      {challenge_frame{.acceptor = rank{1}, .acceptor_nonce = filled(0xbb)},
       "54525042 01 02 2c00 01000000 bb*32"},
      {proof_frame{filled(0xcc)}, "54525042 01 03 2800 cc*32"},
      {verdict_frame{.status = handshake_status::stale_link, .detail = 9, .mac = filled(0xdd)},
       "54525042 01 04 3100 07 0900000000000000 dd*32"},
      {refusal_frame{handshake_status::bad_proof}, "54525042 01 05 0900 21"},
      {register_frame{.self = rank{3},
                      .world_size = 16,
                      .role = rendezvous_role::leader,
                      .host_id = 2,
                      .instance = 5,
                      .digest = 6,
                      .patience_microseconds = 7,
                      .address = loopback()},
       "54525042 01 06 3f00 03000000 10000000 01 02000000 0500000000000000 0600000000000000 "
       "0700000000000000 00*10 ffff7f000001 6712"},
      {redirect_frame{rank{4}, loopback()}, "54525042 01 07 1e00 04000000 00*10 ffff7f000001 6712"},
      {retry_frame{}, "54525042 01 08 0800"},
      {options_wanted_frame{2}, "54525042 01 09 0a00 0200"},
      {options_page_frame{.first = 0, .total = 1, .count = 1, .text = option_text},
       "54525042 01 0a 1300 0000 0100 0100 01 61 02 6263"},
      {assigned_frame{rank{4}, loopback()}, "54525042 01 0b 1e00 04000000 00*10 ffff7f000001 6712"},
      {group_complete_frame{}, "54525042 01 0c 0800"},
      {group_missing_frame{"7-9"}, "54525042 01 0d 0b00 372d39"},
      {failed_frame{.code = errc::timed_out, .native = -1, .peer = rank{3}, .text = "no"},
       "54525042 01 0e 1400 0500 ffffffff 03000000 6e6f"},
      {ring_open_frame{}, "54525042 01 0f 0800"},
      {book_page_frame{.block = 1, .count = 1, .entries = one_entry},
       "54525042 01 10 3000 01000000 0100 00*10 ffff7f000001 6712 0a000000 0b000000 0c000000 "
       "09000000"},
      {ring_ack_frame{4}, "54525042 01 11 0c00 04000000"},
      {deaths_frame{.count = 2, .ranks = two_ranks}, "54525042 01 12 1200 0200 01000000 02010000"},
      {leaving_frame{}, "54525042 01 13 0800"},
  };
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_frame_has_its_golden_bytes) {
  const auto frames = all_frames();
  BOOST_TEST(frames.size() == std::variant_size_v<bootstrap_frame>);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    BOOST_TEST(frames[i].frame.index() == i);
    BOOST_TEST((encoded(frames[i].frame) == from_hex(frames[i].hex)), frames[i].hex);
  }
}

BOOST_AUTO_TEST_CASE(golden_bytes_decode_to_what_encodes_to_them) {
  for (const auto& [frame, hex] : all_frames()) {
    const auto wire = from_hex(hex);
    const auto decoded = decode_bootstrap_frame(wire);
    BOOST_REQUIRE_MESSAGE(decoded.has_value(), hex);
    BOOST_TEST(decoded->index() == frame.index());
    BOOST_TEST((encoded(*decoded) == wire), hex);
  }
}

BOOST_AUTO_TEST_CASE(a_frame_that_is_cut_or_extended_is_malformed) {
  for (const auto& [frame, hex] : all_frames()) {
    auto wire = from_hex(hex);
    for (std::size_t length = 0; length < wire.size(); ++length)
      BOOST_TEST(!decode_bootstrap_frame(std::span(wire).first(length)).has_value(), hex);
    wire.push_back(std::byte{0});
    BOOST_TEST(!decode_bootstrap_frame(wire).has_value(), hex);
  }
}

BOOST_AUTO_TEST_CASE(a_frame_of_fixed_size_stays_malformed_when_its_length_is_made_to_fit) {
  for (const auto& [frame, hex] : all_frames()) {
    const auto whole = from_hex(hex);
    const bool has_tail = std::holds_alternative<group_missing_frame>(frame) ||
                          std::holds_alternative<failed_frame>(frame) ||
                          std::holds_alternative<options_page_frame>(frame);
    for (std::size_t length = bootstrap_header_bytes; length < whole.size(); ++length) {
      bytes wire(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
      wire[6] = static_cast<std::byte>(length);
      if (!has_tail) BOOST_TEST(!decode_bootstrap_frame(wire).has_value(), hex);
    }
  }
}

BOOST_AUTO_TEST_CASE(values_outside_their_lists_are_malformed) {
  const auto spoilt = [](const bootstrap_frame& frame, std::size_t at, int value) {
    auto wire = encoded(frame);
    wire[at] = static_cast<std::byte>(value);
    return !decode_bootstrap_frame(wire).has_value();
  };
  BOOST_TEST(spoilt(hello_frame{}, 10, 0));  // purpose
  BOOST_TEST(spoilt(hello_frame{}, 10, 5));
  BOOST_TEST(spoilt(verdict_frame{}, 8, 9));  // status
  BOOST_TEST(spoilt(verdict_frame{}, 8, 33));
  BOOST_TEST(spoilt(refusal_frame{}, 8, 0));
  BOOST_TEST(spoilt(register_frame{}, 16, 2));  // role
  BOOST_TEST(spoilt(failed_frame{.code = errc::aborted}, 8, 0));
  BOOST_TEST(spoilt(failed_frame{.code = errc::aborted}, 8, 255));
  BOOST_TEST(spoilt(book_page_frame{.count = 1, .entries = one_entry}, 12, 0));  // count
  BOOST_TEST(spoilt(book_page_frame{.count = 1, .entries = one_entry}, 12, 2));
  BOOST_TEST(spoilt(deaths_frame{.count = 2, .ranks = two_ranks}, 8, 1));
  BOOST_TEST(spoilt(retry_frame{}, 5, 0));  // type
  BOOST_TEST(spoilt(retry_frame{}, 5, 20));
}

BOOST_AUTO_TEST_CASE(the_first_bytes_tell_strangers_other_formats_and_ours_apart) {
  auto wire = encoded(retry_frame{});
  BOOST_TEST((origin_of(wire) == frame_origin::ours));
  wire[4] = std::byte{2};
  BOOST_TEST((origin_of(wire) == frame_origin::other_format));
  BOOST_TEST(!decode_bootstrap_frame(wire).has_value());
  wire[0] = std::byte{'G'};
  BOOST_TEST((origin_of(wire) == frame_origin::stranger));
  BOOST_TEST((origin_of({}) == frame_origin::stranger));
  BOOST_TEST((origin_of(std::span(wire).first(4)) == frame_origin::stranger));
}

BOOST_AUTO_TEST_CASE(noise_behind_a_good_header_never_does_harm) {
  random_stream random(1);
  for (int i = 0; i < 200'000; ++i) {
    bytes wire(bootstrap_header_bytes + random.below(100));
    for (auto& b : wire)
      b = static_cast<std::byte>(random.next());
    std::copy(bootstrap_magic.begin(), bootstrap_magic.end(), wire.begin());
    wire[4] = std::byte{bootstrap_format};
    wire[5] = static_cast<std::byte>(random.below(21));
    wire[6] = static_cast<std::byte>(wire.size());
    wire[7] = std::byte{0};
    const auto decoded = decode_bootstrap_frame(wire);
    if (decoded) BOOST_REQUIRE((encoded(*decoded) == wire));
  }
}

BOOST_AUTO_TEST_CASE(an_entry_of_the_book_has_its_golden_bytes) {
  const book_entry entry{loopback(), {.data_center = 10, .zone = 11, .rack = 12, .host = 9}};
  bytes written(book_entry_wire_bytes);
  write_entry(entry, std::span(written).first<book_entry_wire_bytes>());
  BOOST_TEST((written == one_entry));
  BOOST_TEST((entry_at({.block = 0, .count = 1, .entries = one_entry}, 0) == entry));
}

BOOST_AUTO_TEST_CASE(a_full_page_fits_into_a_message) {
  const bytes entries(page_entry_count * book_entry_wire_bytes);
  const book_page_frame page{.block = 0xffffffff, .count = page_entry_count, .entries = entries};
  BOOST_TEST(encoded(page).size() == 1000u);
  const bytes ranks(deaths_per_frame * 4);
  BOOST_TEST(encoded(deaths_frame{.count = deaths_per_frame, .ranks = ranks}).size() <=
             lane_message_bytes_max);
}

BOOST_AUTO_TEST_CASE(a_text_over_its_limit_is_cut_to_it) {
  const std::string text(5000, 'x');
  const auto wire = encoded(failed_frame{.code = errc::aborted, .text = text});
  const auto decoded = decode_bootstrap_frame(wire);
  BOOST_REQUIRE(decoded.has_value());
  BOOST_TEST(std::get<failed_frame>(*decoded).text.size() == failure_text_bytes_max);
}

BOOST_AUTO_TEST_CASE(options_come_back_in_order_over_as_many_pages_as_they_need) {
  std::vector<must_agree_option> options;
  for (int i = 0; i < 100; ++i)
    options.push_back({"section.option" + std::to_string(i), std::string(std::size_t(i), 'v')});
  std::vector<must_agree_option> seen;
  int page_count = 0;
  while (seen.size() < options.size()) {
    std::array<std::byte, lane_message_bytes_max> text{};
    const auto page = options_page_of(options, static_cast<std::uint16_t>(seen.size()), text);
    const auto wire = encoded(page);
    const auto decoded = decode_bootstrap_frame(wire);
    BOOST_REQUIRE(decoded.has_value());
    const auto& back = std::get<options_page_frame>(*decoded);
    BOOST_TEST(back.total == options.size());
    BOOST_REQUIRE(back.count > 0);
    options_reader reader(back);
    std::string_view name;
    std::string_view value;
    while (reader.next(name, value))
      seen.push_back({std::string(name), std::string(value)});
    BOOST_TEST(reader.complete());
    ++page_count;
  }
  BOOST_TEST((seen == options));
  BOOST_TEST(page_count > 5);
}

BOOST_AUTO_TEST_CASE(options_that_lie_about_their_length_end_the_page) {
  const auto text = from_hex("05 61 62");
  options_reader reader(options_page_frame{.total = 1, .count = 1, .text = text});
  std::string_view name;
  std::string_view value;
  BOOST_TEST(!reader.next(name, value));
  BOOST_TEST(!reader.complete());
}

BOOST_AUTO_TEST_CASE(the_digest_sees_where_one_text_ends) {
  using list = std::vector<must_agree_option>;
  BOOST_TEST(digest_of(list{{"ab", "c"}}) != digest_of(list{{"a", "bc"}}));
  BOOST_TEST(digest_of(list{{"a", "1"}, {"b", "2"}}) != digest_of(list{{"b", "2"}, {"a", "1"}}));
  BOOST_TEST(digest_of(list{{"a", "1"}}) == digest_of(list{{"a", "1"}}));
  BOOST_TEST(digest_of(list{}) != digest_of(list{{"", ""}}));
}
