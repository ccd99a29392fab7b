#define BOOST_TEST_MODULE bootstrap_address_list
#include "net/bootstrap/address_list_wire.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::net;

namespace {

address_list some_list() {
  address_list out{.wants_book = true, .entries = {}};
  for (std::uint32_t r : {3u, first_newcomer | 7u}) {
    book_entry entry{.address = {}, .place = {.data_center = 1, .host = r * 5}};
    entry.address.host[15] = static_cast<std::byte>(r);
    entry.address.port = static_cast<std::uint16_t>(4000 + r % 100);
    out.entries.push_back({rank{r}, entry});
  }
  return out;
}

errc error_of(const std::vector<std::byte>& bytes) {
  const auto decoded = decode_address_list(bytes);
  return decoded ? errc::ok : decoded.error().code;
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_is_encoded_comes_back) {
  const auto list = some_list();
  const auto bytes = encode(list);
  BOOST_TEST(bytes.size() == 12u + 2 * 38);
  BOOST_TEST((decode_address_list(bytes).value() == list));
  BOOST_TEST((decode_address_list(encode({})).value() == address_list{}));
}

BOOST_AUTO_TEST_CASE(lists_that_are_too_short_too_long_or_odd_are_malformed) {
  auto bytes = encode(some_list());
  auto short_one = bytes;
  short_one.pop_back();
  BOOST_TEST((error_of(short_one) == errc::malformed));
  auto long_one = bytes;
  long_one.push_back({});
  BOOST_TEST((error_of(long_one) == errc::malformed));
  auto odd = bytes;
  odd[5] = std::byte{2};
  BOOST_TEST((error_of(odd) == errc::malformed));
  odd = bytes;
  odd[11] = std::byte{0xff};
  BOOST_TEST((error_of(odd) == errc::malformed));
  odd = bytes;
  odd[4] = std::byte{9};
  BOOST_TEST((error_of(odd) == errc::version_mismatch));
  odd = bytes;
  odd[0] = std::byte{'X'};
  BOOST_TEST(!is_address_list(odd));
  BOOST_TEST((error_of({}) == errc::malformed));
}

BOOST_AUTO_TEST_CASE(a_book_knows_newcomers_apart_from_the_world) {
  address_book book;
  book.resize(2);
  const rank late{first_newcomer | 9u};
  BOOST_TEST(!book.contains(late));
  BOOST_TEST(book.at(late).address.port == 0u);
  book_entry entry;
  entry.address.port = 77;
  book.set(late, entry);
  BOOST_TEST(book.contains(late));
  BOOST_TEST(book.at(late).address.port == 77u);
  BOOST_TEST(book.size() == 2u);
}
